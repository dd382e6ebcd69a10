import type { Audit, Candle, Flow, Mark, Message, Micros } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import type { Output } from '../../kernel/processor.ts'
import { versionOf } from '../../kernel/version.ts'
import { audit } from '../audit.ts'
import { MINUTE } from '../state.ts'

/** What the tests of this folder begin with: records with sensible fields, and the core fed with them. */

export const SECOND: Micros = 1_000_000
/** A whole minute of this era. */
export const T0: Micros = 1_786_060_800 * SECOND

/** The final row of 1 BTC bought and 1 sold on Binance in the first bucket of T0's minute, but for what is given. */
export function flow(fields: Partial<Flow> = {}): Message<'flow'> {
  const value: Flow = {
    asset: 'btc',
    instrument: 'binance:perp:BTCUSDT',
    bucket: T0,
    part: 0,
    buy: 1,
    sell: 1,
    buy_quote: 100,
    sell_quote: 100,
    buy_count: 1,
    sell_count: 1,
    open: 100,
    high: 100,
    low: 100,
    close: 100,
    open_time: T0,
    close_time: T0,
    first_id: 1,
    last_id: 2,
    final: true,
    v: 1,
    ...fields,
  }
  return { type: 'flow', value }
}

/** The candle that says the same of T0's minute, but for what is given. */
export function candle(fields: Partial<Candle> = {}): Message<'candle'> {
  const value: Candle = {
    instrument: 'binance:perp:BTCUSDT',
    asset: 'btc',
    minute: T0,
    open: 100,
    high: 100,
    low: 100,
    close: 100,
    volume: 2,
    taker_buy: 1,
    trades: 2,
    received: T0 + MINUTE + 5 * SECOND,
    ...fields,
  }
  return { type: 'candle', value }
}

/** Of either log, by a clock that is right. */
export function mark(time: Micros): Message<'mark'> {
  const value: Mark = { writer: 'cvd', run: 0, time, venues: [], changes: [], venue_time: time, positions: [] }
  return { type: 'mark', value }
}

/** The core by itself, one state; each topic has its own offsets, from 0. */
export class AuditTestDriver {
  state = audit.empty()
  readonly emitted: Output[] = []
  readonly #saved = new Map<string, Buffer>()
  readonly #offsets = new Map<TopicName, number>()

  flow(...messages: readonly Message<'flow' | 'mark'>[]): this {
    return this.#feed('derived.flow', messages)
  }

  candles(...messages: readonly Message<'candle' | 'mark'>[]): this {
    return this.#feed('market.candles', messages)
  }

  /** Goes on from what was saved, as after a restart. */
  restart(): this {
    for (const [key, part] of audit.save(this.state)) {
      if (part === null) this.#saved.delete(key)
      else this.#saved.set(key, part)
    }
    this.state = audit.load(this.#saved)
    return this
  }

  get audits(): Audit[] {
    return this.emitted.flatMap(({ message }) => (message?.type === 'audit' ? [message.value] : []))
  }

  get marks(): Micros[] {
    return this.emitted.flatMap(({ message }) => (message?.type === 'mark' ? [message.value.time] : []))
  }

  get counts(): Readonly<Record<string, number>> {
    return audit.counts?.(this.state) ?? {}
  }

  #feed(topic: TopicName, messages: readonly Message[]): this {
    for (const message of messages) {
      const offset = this.#offsets.get(topic) ?? 0
      this.#offsets.set(topic, offset + 1)
      const context = { partition: 0, v: versionOf(1, offset), partitionTime: 0 }
      audit.apply(this.state, { topic, offset, time: 0, message }, context, (output) => this.emitted.push(output))
    }
    return this
  }
}
