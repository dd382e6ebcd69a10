import type { Command } from '../../../schemas/alerts.ts'
import { recordId } from '../../../schemas/record-id.ts'
import type { CompositePrice, Message, Micros } from '../../../schemas/records.ts'

const HOUR: Micros = 3_600_000_000
const SECOND: Micros = 1_000_000
const COOLDOWN = 60 * SECOND
/** Lows and highs of a record may be this old; those of a late one this much older than the silence that it tells of. */
const LOOK_BACK = 11 * SECOND
const LATE_LOOK_BACK = 90 * SECOND
/** Longer without a price is a silence; two that begin within this time are one. */
const SILENT = 15 * SECOND
const JOINED = 300 * SECOND

/** A trigger as the rules demand it. */
export interface Demanded {
  readonly triggerId: string
  readonly alertId: string
  readonly count: number
  /** Id of the record that causes it. */
  readonly record: string
}

interface PlainAlert {
  readonly id: string
  readonly asset: string
  readonly rises: boolean
  readonly crosses: boolean
  readonly target: number
  readonly created: Micros
  expires: Micros
  state: 'active' | 'triggered' | 'over'
  /** Crossings: the price has been on or before the target. Levels that rang: it has been back. */
  back: boolean
  /** What is from before it does not count: its creation, and from then on what happened to it last. */
  since: Micros
  rang: Micros
  count: number
}

/**
 * The rules of price alerts once more, as plainly as they can be written and with nothing of the processor's code: every
 * record is held against every alert of its asset. One for each partition of `alerts.inputs`.
 */
export class PlainAlerts {
  readonly #partition: number
  readonly #alerts = new Map<string, PlainAlert>()
  readonly #requests = new Set<string>()
  readonly #quiet = new Map<string, Quiet>()
  /** Partition time: the largest mark so far. They are processors' marks; which of the feeds' they may follow: `times.ts`. */
  #time: Micros = 0

  constructor(partition: number) {
    this.#partition = partition
  }

  /** What one record of the log demands. */
  take(message: Message, offset: number): Demanded[] {
    if (message.type === 'command') this.#follow(message.value)
    else if (message.type === 'mark') this.#tick(message.value.time)
    else if (message.type === 'composite_price') {
      const record = recordId({ topic: 'alerts.inputs', partition: this.#partition, offset })
      return this.#price(message.value, record)
    }
    return []
  }

  #follow(command: Command): void {
    if (this.#requests.has(command.request_id)) return
    this.#requests.add(command.request_id)
    const now = this.#time === 0 ? command.created : this.#time
    if (command.action === 'create') this.#create(command, now)
    const alert = this.#alerts.get(command.alert_id)
    if (alert === undefined || alert.state === 'over') return
    if (command.action === 'cancel') alert.state = 'over'
    if (command.action === 'extend' && alert.state === 'active') alert.expires += (command.add_hours ?? 0) * HOUR
  }

  #create({ alert_id: id, asset, alert }: Command, now: Micros): void {
    if (alert === null || alert.target_price === null || this.#alerts.has(id)) return
    this.#alerts.set(id, {
      id,
      asset,
      rises: alert.condition.endsWith('above'),
      crosses: alert.condition.startsWith('crosses'),
      target: alert.target_price,
      created: now,
      expires: now + alert.expires_in_hours * HOUR,
      state: 'active',
      back: false,
      since: now,
      rang: 0,
      count: 0,
    })
  }

  #tick(time: Micros): void {
    if (time <= this.#time) return
    this.#time = time
    for (const alert of this.#alerts.values()) {
      if (alert.state !== 'over' && time >= alert.expires) alert.state = 'over'
      if (isCooling(alert) && time >= alert.rang + COOLDOWN) this.#arm(alert, alert.rang + COOLDOWN)
    }
  }

  #price(price: CompositePrice, record: string): Demanded[] {
    const quiet = this.#quiet.get(price.asset) ?? { last: undefined, from: undefined }
    this.#quiet.set(price.asset, quiet)
    const from = price.late ? lateFrom(quiet, price.time) : price.time - LOOK_BACK
    note(quiet, price)
    const rung = [...this.#alerts.values()].filter(
      (alert) => alert.asset === price.asset && this.#meets(alert, price, from),
    )
    return rung.map(({ id, count }) => ({ triggerId: `${id}_${count}`, alertId: id, count, record }))
  }

  /** Lets an alert take one price in, whose low and high may be as old as `from`; whether it rings. */
  #meets(alert: PlainAlert, { price, low, high, time, late }: CompositePrice, from: Micros): boolean {
    if (alert.state === 'over' || time < alert.since || time >= alert.expires) return false
    const isWhole = from >= alert.since
    if (late && !isWhole) return false
    const beyond = (value: number): number => (alert.rises ? value - alert.target : alert.target - value)
    const far = beyond(!isWhole ? price : alert.rises ? high : low)
    const near = beyond(!isWhole ? price : alert.rises ? low : high)
    // Of low and high within one record the order is not known: what becomes ready by it goes by its last price.
    const last = late ? undefined : beyond(price)
    if (alert.state === 'triggered') {
      if (!alert.crosses && !alert.back && near <= 0) this.#return(alert, time)
      return false
    }
    if (alert.crosses && !alert.back) {
      if (near > 0) return false
      if (last !== undefined && last > 0) return this.#ring(alert, time, false)
      alert.back = true
      alert.since = time
      return false
    }
    return far > 0 && this.#ring(alert, time, last !== undefined && last <= 0)
  }

  #ring(alert: PlainAlert, time: Micros, isBack: boolean): true {
    alert.count += 1
    alert.state = alert.crosses ? 'over' : 'triggered'
    alert.rang = Math.max(this.#time, time)
    alert.back = isBack
    alert.since = time
    return true
  }

  #return(alert: PlainAlert, time: Micros): void {
    alert.back = true
    alert.since = time
    if (this.#time >= alert.rang + COOLDOWN) this.#arm(alert, Math.max(time, alert.rang + COOLDOWN))
  }

  #arm(alert: PlainAlert, since: Micros): void {
    alert.state = 'active'
    alert.back = false
    alert.since = since
  }
}

/** An asset's newest price, and the begin of its last silence that no late record has told of. */
interface Quiet {
  last: Micros | undefined
  from: Micros | undefined
}

/** From when the bounds of a late record may be. */
function lateFrom(quiet: Quiet, time: Micros): Micros {
  const { last, from } = quiet
  const start = last !== undefined && last < time ? silenceFrom(quiet, last) : from
  return start === undefined ? -Infinity : start - LATE_LOOK_BACK
}

function silenceFrom({ from }: Quiet, last: Micros): Micros {
  return from !== undefined && last - from < JOINED ? from : last
}

function note(quiet: Quiet, { late, time }: CompositePrice): void {
  const { last } = quiet
  if (late) quiet.from = undefined
  else if (last === undefined || time >= last) {
    if (last !== undefined && time - last > SILENT) quiet.from = silenceFrom(quiet, last)
    quiet.last = time
  }
}

function isCooling({ state, back, crosses }: PlainAlert): boolean {
  return state === 'triggered' && back && !crosses
}
