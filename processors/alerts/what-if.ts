import { emptyFields } from '../../schemas/codec.ts'
import type { Message, Micros, NewAlert, Trigger } from '../../schemas/records.ts'
import { LATENESS } from '../cvd/state.ts'
import { alerts } from './alerts.ts'
import { FIGURES_EVERY } from './evaluate.ts'
import type { Input, StoredAlert } from './kinds/kind.ts'
import { alertKinds, type AlertTerms } from './kinds/kinds.ts'
import { ringOf } from './parts.ts'
import type { Past } from './past.ts'
import { nobody } from './record.ts'
import { InputFigures, Series } from './series.ts'
import { addSeries, AHEAD_MAX, COOLDOWN, fresh, NEVER, sightOf, type AlertsState } from './state.ts'

const SECOND: Micros = 1_000_000
const HOUR: Micros = 3_600 * SECOND

/** What the alert that is tried out waits for. */
export interface WhatIfTerms {
  readonly terms: AlertTerms
  readonly asset: string
  readonly symbol: string
  /** Names of series whose values are told beside. */
  readonly looksAt?: readonly string[]
  /** What its series saw before it began. */
  readonly past?: Past
}

/** A record of `alerts.inputs` that may ring it, with its place in the log. */
export interface InputRecord {
  readonly partition: number
  readonly offset: number
  readonly message: Input
  /** Who told it, of a past that lies before the log; undefined: it is of the log. */
  readonly source?: string
  /** It says what the record before it said: nothing, unless time has made the alert ready since. */
  readonly changesNothing?: boolean
}

/** A time at which it rang, and who told what rang it; undefined: the log. */
export interface Ring extends Omit<Trigger, 'record'> {
  /** Null: time alone rang it. */
  readonly record: string | null
  readonly source: string | undefined
}

/**
 * How an alert would have rung over a stretch of history, decided by the core that decides about live ones: it is created
 * at the stretch's start and never expires. A crossing rings once and ends; to tell how often it is met, it is created
 * again a minute after, which is when a level could ring again. What nobody told of is not known: a series that has no past
 * begins with the first record of its input.
 *
 * Feed records in the order of the log. Time passes with them, by marks of whole seconds, and between them wherever a mark a
 * second, as the log has, would change something.
 */
export class WhatIf {
  readonly #terms: WhatIfTerms
  readonly #from: Micros
  readonly #told = new Set<string>()
  readonly #state: AlertsState = alerts.empty()
  readonly #rang: Ring[] = []
  #created = 0
  #again: Micros | undefined
  /** Up to when it may become ready by time alone; what changes nothing is left out behind it. */
  #readyBy = 0
  #source: string | undefined
  readonly #isMoved: boolean
  #hasBegun: boolean
  /** The alert is not as it was when figures moved by time last: it looks at them when they do next, whatever they are. */
  #hasChanged = true

  constructor(terms: WhatIfTerms, from: Micros) {
    this.#terms = terms
    this.#from = from
    this.#tick(from)
    const { asset, looksAt = [], past } = terms
    const names = new Set([...looksAt, ...(alertKinds.of(terms.terms).series?.(terms.terms) ?? [])])
    for (const name of names) addSeries(this.#state, asset, new Series(name, fresh(NEVER))).watchers += 1
    for (const [name, saved] of past?.series ?? []) this.#state.series.get(asset)?.get(name)?.warm(saved)
    this.#hasBegun = past !== undefined && past.series.length > 0
    this.#create()
    this.#isMoved = this.#movesAt < Infinity || (alertKinds.of(terms.terms).holds?.(terms.terms) ?? 0) > 0
  }

  /** Every time it rang, in order. */
  get rang(): readonly Ring[] {
    return this.#rang
  }

  /** The values of `looksAt` now, in its order. */
  get figures(): readonly (number | undefined)[] {
    const { asset, looksAt = [] } = this.#terms
    const { series } = sightOf(this.#state, asset)
    return looksAt.map((name) => series.get(name)?.at(this.#state.time))
  }

  /**
   * Lets time pass up to a record of a time, by `most` steps at most; whether it has. Only where time alone moves its figures
   * or ends what has to hold, and not before the first record that it knows of: nothing is known of that time.
   */
  pass(until: Micros, most = Infinity): boolean {
    if (!this.#isMoved || !this.#hasBegun) return true
    for (let steps = 0; steps < most; steps += 1) {
      if (until <= this.#state.time + SECOND || until <= this.#next) return true
      this.#tick(this.#next)
    }
    return false
  }

  /** The next second at which time alone may do something. */
  get #next(): Micros {
    const { time, timers } = this.#state
    const moves = this.#hasChanged ? time : this.#movesAt
    const bound = Math.max(stepOf(time) + 1, Math.ceil(moves / FIGURES_EVERY)) * FIGURES_EVERY
    const due = Math.ceil(Math.min(timers.next, this.#again ?? Infinity) / SECOND) * SECOND
    return Math.max(time + SECOND, Math.min(bound, due))
  }

  get #movesAt(): Micros {
    return Math.min(...this.#series.map((one) => one.movesAt(this.#state.time)))
  }

  get #series(): readonly Series[] {
    return [...(this.#state.series.get(this.#terms.asset)?.values() ?? [])]
  }

  get #alert(): StoredAlert | undefined {
    return this.#state.alerts.get(`what-if-${this.#created}`)
  }

  /** Whether it was looked at. */
  feed({ message, partition, offset, source, changesNothing = false }: InputRecord): boolean {
    const told = toldAt(message)
    const time = told - (told % SECOND)
    if (changesNothing && !this.#isReady(time)) return false
    this.pass(time)
    this.#source = source
    this.#hasBegun = true
    this.#hear(message)
    if (time > this.#state.time) this.#tick(time)
    this.#apply(message, partition, offset)
    return true
  }

  /** The first record of an input tells of the time since those before it would have come. */
  #hear(message: Input): void {
    const teller = message.type === 'metric' ? message.value.core : message.type
    if (this.#told.has(teller)) return
    this.#told.add(teller)
    const { input, time } = new InputFigures(message)
    const begin = fresh(Math.max(this.#from, time - FIGURES_EVERY))
    for (const series of this.#series) if (series.input === input) series.warm(begin)
  }

  /** Whether, since what it saw last, the time has come at which it can ring again. */
  #isReady(time: Micros): boolean {
    if (this.#state.time > this.#readyBy + SECOND) return false
    return time >= this.#readyBy - SECOND
  }

  #tick(time: Micros): void {
    this.#apply({
      type: 'mark',
      value: { ...emptyFields('mark'), writer: 'what-if', run: 0, time },
    })
    if (this.#again === undefined || time < this.#again) return
    this.#again = undefined
    this.#create()
  }

  #create(): void {
    this.#created += 1
    const { asset, symbol, terms } = this.#terms
    const id = `what-if-${this.#created}`
    const fields = alertKinds.of(terms).write(terms)
    const alert: NewAlert = { ...fields, symbol, ...nobody, expires_in_hours: AHEAD_MAX / HOUR }
    const command = { request_id: id, action: 'create', asset, alert_id: id, alert } as const
    this.#apply({ type: 'command', value: { ...emptyFields('command'), ...command, created: this.#state.time } })
  }

  #apply(message: Message, partition = 0, offset = 0): void {
    const [alert, step] = [this.#alert, stepOf(this.#state.time)]
    const entry = { topic: 'alerts.inputs', offset, time: 0, message } as const
    alerts.apply(this.#state, entry, { partition, v: offset, partitionTime: this.#state.time }, (output) => {
      if (output.message?.type !== 'trigger' || ringOf(output.message.value.trigger_id) !== undefined) return
      const { record, ...trigger } = output.message.value
      this.#ring({ ...trigger, record: message.type === 'mark' ? null : record, source: this.#source })
    })
    if (this.#alert !== alert) this.#hasChanged = true
    else if (stepOf(this.#state.time) > step) this.#hasChanged = false
  }

  #ring(ring: Ring): void {
    this.#rang.push(ring)
    const { terms } = this.#terms
    this.#readyBy = Math.max(this.#state.time, ring.time) + COOLDOWN
    const { ringsOnce, isTriedAgain = false } = alertKinds.of(terms)
    if (isTriedAgain && ringsOnce(terms)) this.#again = Math.max(this.#state.time, ring.time) + COOLDOWN
  }
}

/** What a bucket of trades comes to is told behind its end: time has gone on by then. */
function toldAt({ type, value }: Input): Micros {
  return type === 'metric' && value.core === 'cvd' ? value.time + LATENESS : value.time
}

function stepOf(time: Micros): number {
  return Math.floor(time / FIGURES_EVERY)
}
