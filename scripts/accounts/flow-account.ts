import type { Message } from '../../schemas/records.ts'
import { decimalOfSum } from './decimal.ts'
import { always, nothing, plus, type Totals, type Window } from './totals.ts'

interface Bucket {
  readonly instrument: string
  readonly start: number
  readonly buy: number
  readonly sell: number
  readonly count: number
  readonly v: number
  /** Highest version that the key ever had. */
  readonly highest: number
}

/** Folds `derived.flow`: the last record of a key stands, as a reader of the compacted topic finds it. */
export class FlowAccount {
  readonly #buckets = new Map<string, Bucket>()
  add(key: string, message: Message): void {
    if (message.type !== 'flow') return
    const { instrument, bucket, buy, sell, buy_count, sell_count, v } = message.value
    const highest = Math.max(this.#buckets.get(key)?.highest ?? v, v)
    this.#buckets.set(key, { instrument, start: bucket, buy, sell, count: buy_count + sell_count, v, highest })
  }

  /**
   * Keys whose last record is not the newest version of theirs. A new owner writes again what followed its snapshot, so
   * versions may fall for a moment; one that stays low was written by an owner that should have been shut out.
   */
  get stale(): number {
    return [...this.#buckets.values()].filter(({ v, highest }) => v < highest).length
  }

  /** Sum of an instrument's buckets; `places` are those of its sizes, by which each bucket is exact. */
  totals(placesOf: (instrument: string) => number, window: Window = always): Map<string, Totals> {
    const sums = new Map<string, Totals>()
    for (const { instrument, start, buy, sell, count } of this.#buckets.values()) {
      if (start < window.from || start >= window.to) continue
      const places = placesOf(instrument)
      const one = { count, buy: decimalOfSum(buy, places), sell: decimalOfSum(sell, places) }
      sums.set(instrument, plus(sums.get(instrument) ?? nothing, one))
    }
    return sums
  }
}
