import type { Micros, Trigger } from '../../schemas/records.ts'
import { ownersId } from '../alerts/parts.ts'
import { keepNewest } from '../kernel/newest.ts'
import type { Delivery } from './delivery.ts'
import { digestOf } from './channels/channels.ts'
import { BURST_MAX, BURST_TIME, HOLDING_SWEEP, RATES_MAX } from './limits.ts'
import { quietEnd, readDeliveryTerms } from './quiet-hours.ts'

/** A trigger that waits to be told with others: as which digest, and until when. */
export interface Hold {
  readonly digest: string
  readonly due: Micros
}

interface Group extends Hold {
  count: number
}

/**
 * Which triggers wait for a digest: those of quiet hours until they end, of the minute where too many wait already,
 * and those beyond so many a minute to one destination until the minute is over. Follows from the triggers and their times alone; what waits is in
 * `webhooks.pending`, so that only the count of a minute that is under way is lost with a process.
 */
export class Holding {
  /** By destination: the minute that is under way. Oldest first. */
  readonly #rates = new Map<string, { readonly since: Micros; count: number }>()
  /** By destination and end: what still takes further triggers. */
  readonly #groups = new Map<string, Group>()
  /** By trigger: what an earlier owner has told of it, and perhaps written nothing else of. */
  readonly #promised = new Map<string, Hold>()
  #sweptAt: Micros = 0

  /** Undefined: it is told at once. `isFull`: so many of its destination wait that quiet hours hold no longer than the minute. */
  hold(trigger: Trigger, now: Micros, isFull: boolean): Hold | undefined {
    const { test, receiver, alert_id: alertId, trigger_id: id } = trigger
    if (test) return undefined
    const { most, isUsual } = digestOf(receiver)
    const { quiet_hours: quiet, digest = isUsual } = readDeliveryTerms(trigger.delivery)
    const key = destinationKey({ receiver, alertId })
    const promised = this.#promised.get(id)
    if (promised !== undefined) return this.#join(`${key}|${promised.due}`, promised, most)
    const end = quiet === undefined ? undefined : quietEnd(quiet, now)
    if (end !== undefined) {
      const due = isFull ? Math.min(end, now - (now % BURST_TIME) + BURST_TIME) : end
      return this.#join(`${key}|${due}`, { digest: `${id}_digest`, due }, most)
    }
    if (!digest || most === 1) return undefined
    const rate = this.#rates.get(key)
    if (rate === undefined || now < rate.since || now >= rate.since + BURST_TIME) {
      this.told({ receiver, alertId }, now)
      return undefined
    }
    if (rate.count >= BURST_MAX) {
      const due = rate.since + BURST_TIME
      return this.#join(`${key}|${due}`, { digest: `${id}_digest`, due }, most)
    }
    rate.count += 1
    return undefined
  }

  /** A minute of a destination begins, with one message. */
  told(to: Pick<Delivery, 'receiver' | 'alertId'>, now: Micros): void {
    const key = destinationKey(to)
    this.#rates.delete(key)
    this.#rates.set(key, { since: now, count: 1 })
    keepNewest(this.#rates, RATES_MAX)
  }

  /** One that waited when an earlier owner wrote of it: others join it. */
  restore({ digest, due, attempts, ...to }: Delivery): void {
    if (digest !== null && attempts === 0) this.#join(`${destinationKey(to)}|${due}`, { digest, due }, Infinity)
  }

  /** It was told that a trigger waits so. */
  promise(trigger: string, hold: Hold): void {
    this.#promised.set(trigger, hold)
  }

  /** Forgets what takes no more. */
  forget(now: Micros): void {
    if (now < this.#sweptAt + HOLDING_SWEEP) return
    this.#sweptAt = now
    for (const held of [this.#groups, this.#promised])
      for (const [key, { due }] of held) if (due <= now) held.delete(key)
    for (const [key, { since }] of this.#rates) if (since + BURST_TIME <= now) this.#rates.delete(key)
  }

  #join(key: string, fresh: Hold, most: number): Hold {
    const known = this.#groups.get(key)
    if (known !== undefined && known.count < most) {
      known.count += 1
      return known
    }
    const group = { ...fresh, count: 1 }
    this.#groups.set(key, group)
    return group
  }
}

/** What one digest may be told to: of what is signed with an alert’s own secret that alert alone, all its parts. */
export function destinationKey({ receiver, alertId }: Pick<Delivery, 'receiver' | 'alertId'>): string {
  return digestOf(receiver).isByAlert ? `${receiver}|${ownersId(alertId)}` : receiver
}
