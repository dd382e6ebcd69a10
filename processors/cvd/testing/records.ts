import { emptyFields } from '../../../schemas/codec.ts'
import type {
  Cvd,
  Flow,
  FlowFive,
  FlowHour,
  Gap,
  Mark,
  Message,
  Micros,
  Signal,
  Trade,
  VenueState,
} from '../../../schemas/records.ts'
import type { Output, Processor } from '../../kernel/processor.ts'
import { versionOf } from '../../kernel/version.ts'
import { cvd } from '../cvd.ts'
import type { CvdState } from '../state.ts'

/** What the tests of this folder begin with: records with sensible fields, and the core fed with them. */

export const SECOND: Micros = 1_000_000
/** A round time of this era, on a bound of every period's buckets. */
export const T0: Micros = 1_786_060_800 * SECOND

/** Numbers below 2^31 that look random and are the same in every run. */
export function hash(n: number): number {
  const mixed = Math.imul(n ^ (n >>> 16), 0x45d9f3b)
  return Math.imul(mixed ^ (mixed >>> 13), 0x45d9f3b) >>> 1
}

/** A buy of 1 BTC at 100 on Binance at T0 with the id 1, but for what is given. */
export function trade(fields: Partial<Trade> = {}): Message<'trade'> {
  const base = { price: 100, size: 1, time: T0, first_id: 1, ...fields }
  const value: Trade = {
    instrument: 'binance:perp:BTCUSDT',
    asset: 'btc',
    last_id: base.first_id,
    count: 1,
    sequence: null,
    quote: base.price * base.size,
    size_factor: 1,
    price_factor: 1,
    taker: 'buy',
    received: base.time,
    origin: 'stream',
    gap_id: null,
    ...base,
  }
  return { type: 'trade', value }
}

/** Of a feed whose clock is right, as its venues say. */
export function mark(time: Micros, changes: Mark['changes'] = []): Message<'mark'> {
  const value: Mark = { writer: 'feeds', run: T0, time, venues: [], changes, venue_time: time, positions: [] }
  return { type: 'mark', value }
}

/** The same, of a feed that says how it has venues. */
export function markOf(time: Micros, states: Readonly<Record<string, VenueState['state']>>): Message<'mark'> {
  const { value } = mark(time)
  const venues = Object.entries(states).map(([venue, state]) => ({ venue, state, sockets: 1, since: T0 }))
  return { type: 'mark', value: { ...value, venues } }
}

/** A trade so long ago that every period up to T0 is covered, and none has it in its sums. */
export function longAgo(fields: Partial<Trade> = {}): Message<'trade'> {
  return trade({ first_id: 0, time: T0 - 8 * 86_400 * SECOND, ...fields })
}

/** Trades of Binance between `from` and `to` are missing. */
export function gap(fields: Partial<Gap> & Pick<Gap, 'from_time' | 'to_time'>): Message<'gap'> {
  const value: Gap = {
    ...emptyFields('gap'),
    instrument: 'binance:perp:BTCUSDT',
    asset: 'btc',
    gap_id: fields.from_time,
    state: 'unfillable',
    reason: 'too_old',
    feed: 'feeds',
    time: fields.to_time,
    ...fields,
  }
  return { type: 'gap', value }
}

/** What the log itself lost before it was read. */
export function logGap(from_time: Micros, to_time: Micros): Message<'log_gap'> {
  const place = { reader: 'cvd', topic: 'market.trades', partition: 0, position: 2, next: 9, shift: 0, missing: 7 }
  return { type: 'log_gap', value: { ...place, reason: 'retention', from_time, to_time, time: to_time } }
}

/** The core by itself, one state: feeds messages at offsets 0, 1, 2 and so on. */
export class CvdTestDriver {
  readonly core: Processor<CvdState> = cvd
  state = cvd.empty()
  #offset = 0
  #partitionTime = 0
  readonly emitted: Output[] = []

  /** Folds messages as one batch. */
  batch(...messages: readonly Message[]): this {
    for (const message of messages) {
      if (message?.type === 'mark') this.#partitionTime = Math.max(this.#partitionTime, message.value.time)
      const offset = this.#offset++
      const context = { partition: 0, v: versionOf(1, offset), partitionTime: this.#partitionTime }
      this.core.apply(this.state, { topic: 'market.trades', offset, time: 0, message }, context, this.#emit)
    }
    this.core.flush?.(this.state, this.#emit)
    return this
  }

  /** Goes on from what was saved, as after a restart. `parts` are the saved ones so far. */
  restart(parts: Map<string, Buffer>): this {
    this.save(parts)
    this.state = this.core.load(parts)
    return this
  }

  save(parts: Map<string, Buffer>): void {
    for (const [key, part] of this.core.save(this.state)) {
      if (part === null) parts.delete(key)
      else parts.set(key, part)
    }
  }

  /** The last row of each key. */
  get rows(): Flow[] {
    const last = new Map<string, Flow>()
    for (const { key, message } of this.emitted) if (message?.type === 'flow') last.set(key, message.value)
    return [...last.values()]
  }

  get row(): Flow | undefined {
    return this.rows[0]
  }

  /** The last record of each hour. */
  get hours(): FlowHour[] {
    const last = new Map<string, FlowHour>()
    for (const { key, message } of this.emitted) if (message?.type === 'flow_hour') last.set(key, message.value)
    return [...last.values()]
  }

  /** The last record of each five minutes. */
  get fives(): FlowFive[] {
    const last = new Map<string, FlowFive>()
    for (const { key, message } of this.emitted) if (message?.type === 'flow_five') last.set(key, message.value)
    return [...last.values()]
  }

  /** The last record of each asset. */
  get cvds(): Cvd[] {
    const last = new Map<string, Cvd>()
    for (const { key, message } of this.emitted) if (message?.type === 'cvd') last.set(key, message.value)
    return [...last.values()]
  }

  get signals(): Signal[] {
    return this.emitted.flatMap(({ message }) => (message?.type === 'signal' ? [message.value] : []))
  }

  get refused(): CvdState['refused'] {
    return this.state.refused
  }

  readonly #emit = (output: Output): void => {
    this.emitted.push(output)
  }
}
