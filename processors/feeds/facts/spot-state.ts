import type { Instrument, Micros, SpotTicker } from '../../../schemas/records.ts'
import { asDecimal } from '../../prices/decimal.ts'
import type { Scale } from '../venues/decimal.ts'
import type { TickerFact } from '../venues/events.ts'

/** A ticker that says nothing new is written this often, so that its age is true. Microseconds. */
const unchangedEvery: Micros = 5_000_000

export interface Scales {
  readonly price: Scale
  readonly size: Scale
}

/** What is known of one spot market: facts in, one record per interval out, no low or high lost between. */
export class SpotState {
  readonly #instrument: Instrument
  readonly #scales: Scales
  #bid: number | null = null
  #ask: number | null = null
  #last: number | undefined
  #change: number | null = null
  #volume: number | null = null
  #quoteVolume: number | null = null
  /** The newest time that the venue itself has said. */
  #saidAt: Micros = 0
  /** The newest of that and of ours, where it says none: what was on its way then is not old by it. */
  #time: Micros = 0
  #received: Micros = 0
  #low = Infinity
  #high = -Infinity
  #unwritten: 'none' | 'heard' | 'changed' = 'none'
  #writtenAt = -Infinity
  readonly #throttle = new Throttle()

  constructor(instrument: Instrument, scales: Scales) {
    this.#instrument = instrument
    this.#scales = scales
  }

  /** Middle of bid and ask, or the last price; undefined before any. */
  get price(): number | undefined {
    if (this.#bid !== null && this.#ask !== null) return asDecimal((this.#bid + this.#ask) / 2)
    return this.#last
  }

  /** `old`: the venue said something later before. `time` is already bounded by `received`. */
  take(fact: TickerFact, time: Micros, received: Micros): 'taken' | 'old' {
    if (time < this.#saidAt) return 'old'
    const before = [this.#bid, this.#ask, this.#last, this.#volume]
    this.#merge(fact)
    const after = [this.#bid, this.#ask, this.#last, this.#volume]
    const changed = after.some((value, index) => value !== before[index])
    if (fact.time !== null) this.#saidAt = time
    this.#time = Math.max(this.#time, time)
    this.#received = received
    this.#unwritten = changed || this.#unwritten === 'changed' ? 'changed' : 'heard'
    const { price } = this
    if (price !== undefined) {
      this.#low = Math.min(this.#low, price)
      this.#high = Math.max(this.#high, price)
    }
    return 'taken'
  }

  /** Whether a record is to be written at `now`, where changes are written every `interval` microseconds. */
  due(now: Micros, interval: Micros): boolean {
    if (this.#unwritten === 'none' || this.#last === undefined) return false
    if (this.#unwritten === 'changed') return this.#throttle.due(now, interval)
    return Math.abs(now - this.#writtenAt) >= Math.max(interval, unchangedEvery)
  }

  /** The record as of now; the next one's low and high begin with its price. Undefined before any last price. */
  write(now: Micros, interval: Micros, quoteUsd: number): SpotTicker | undefined {
    const { price } = this
    if (price === undefined || this.#last === undefined) return undefined
    const [low, high] = [this.#low, this.#high]
    this.#unwritten = 'none'
    this.#writtenAt = now
    this.#throttle.take(now, interval)
    this.#low = Infinity
    this.#high = -Infinity
    const { instrument, asset, quote } = this.#instrument
    return {
      instrument,
      asset,
      bid: this.#bid,
      ask: this.#ask,
      last: this.#last,
      price,
      low,
      high,
      change_24h: this.#change,
      volume_24h: this.#volume,
      quote_volume_24h: this.#quoteVolume,
      quote,
      quote_usd: quoteUsd,
      time: this.#time,
      received: this.#received,
    }
  }

  /** What is absent stands as it was; null is said: the venue has none now. */
  #merge({ bid, ask, last, change24h, volume24h, quoteVolume24h }: TickerFact): void {
    const { price, size } = this.#scales
    if (bid !== undefined) this.#bid = bid === null ? null : price(bid)
    if (ask !== undefined) this.#ask = ask === null ? null : price(ask)
    if (last !== undefined && last !== null) this.#last = price(last)
    if (change24h !== undefined) this.#change = change24h
    if (volume24h !== undefined) this.#volume = volume24h === null ? null : size(volume24h)
    if (quoteVolume24h !== undefined) this.#quoteVolume = quoteVolume24h === null ? null : Number(quoteVolume24h)
  }
}

/**
 * Lets one record out per interval. A venue that tells something once a second is never exactly a second apart: what comes
 * up to half an interval early takes its turn at once instead of waiting for it, and the next turn is as much later. Where
 * the clock was set back, turns begin anew.
 */
export class Throttle {
  /** The turn of the newest record. */
  #slot = -Infinity

  due(now: Micros, interval: Micros): boolean {
    return Math.abs(now - this.#slot) >= interval
  }

  take(now: Micros, interval: Micros): void {
    this.#slot = now < this.#slot ? now : Math.max(now - interval / 2, this.#slot + interval)
  }
}
