import type { Message } from '../../schemas/records.ts'
import { addTo, type BucketsOf } from './buckets.ts'
import { decimalOfSum, always, nothing, plus, type Totals, type Window } from './totals.ts'

interface Bucket {
  readonly instrument: string
  readonly start: number
  readonly buy: number
  readonly sell: number
  readonly buyQuote: number
  readonly sellQuote: number
  readonly low: number
  readonly high: number
  readonly count: number
  readonly final: boolean
  readonly v: number
  /** Highest version that the key ever had. */
  readonly highest: number
}

const HOUR_MICROS = 3_600_000_000

/** Folds `derived.flow`: the last record of a key stands, as a reader of the compacted topic finds it. */
export class FlowAccount {
  readonly #buckets = new Map<string, Bucket>()
  readonly #hours = new Map<string, Bucket>()
  /** Rises with every record. */
  version = 0

  add(key: string, message: Message): void {
    if (message.type !== 'flow' && message.type !== 'flow_hour') return
    const { instrument, buy, sell, buy_quote: buyQuote, sell_quote: sellQuote, low, high, final, v } = message.value
    const count = message.value.buy_count + message.value.sell_count
    const rows = message.type === 'flow' ? this.#buckets : this.#hours
    const start = message.type === 'flow' ? message.value.bucket : message.value.hour
    const highest = Math.max(rows.get(key)?.highest ?? v, v)
    this.version += 1
    rows.set(key, { instrument, start, buy, sell, buyQuote, sellQuote, low, high, count, final, v, highest })
  }

  /**
   * Keys whose last record is not the newest version of theirs. A new owner writes again what followed its snapshot, so
   * versions may fall for a moment; one that stays low was written by an owner that should have been shut out.
   */
  get stale(): number {
    return [...this.#buckets.values(), ...this.#hours.values()].filter(({ v, highest }) => v < highest).length
  }

  /** Hours that do not hold what their closed buckets hold, or that are not there. */
  get hoursOff(): number {
    const hours = sumsByHour(this.#hours.values())
    const closed = sumsByHour([...this.#buckets.values()].filter(({ final }) => final))
    const names = new Set([...hours.keys(), ...closed.keys()])
    return [...names].filter((name) => !areSame(hours.get(name) ?? none, closed.get(name) ?? none)).length
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

  /** The same by bucket, its parts added up. */
  buckets(window: Window): BucketsOf {
    const buckets: BucketsOf = new Map()
    for (const { instrument, start, count, buy, sell, buyQuote, sellQuote, low, high } of this.#buckets.values())
      if (start >= window.from && start < window.to)
        addTo(buckets, instrument, start, { count, buy, sell, buyQuote, sellQuote, low, high, times: null })
    return buckets
  }
}

type HourSums = Pick<Bucket, 'buy' | 'sell' | 'count'>

const none: HourSums = { buy: 0, sell: 0, count: 0 }

function sumsByHour(rows: Iterable<Bucket>): Map<string, HourSums> {
  const sums = new Map<string, HourSums>()
  for (const { instrument, start, buy, sell, count } of rows) {
    const hour = `${instrument} ${Math.floor(start / HOUR_MICROS)}`
    const sum = sums.get(hour) ?? none
    sums.set(hour, { buy: sum.buy + buy, sell: sum.sell + sell, count: sum.count + count })
  }
  return sums
}

/** The same sizes: an hour adds them up in another order than its buckets, so that volumes may differ by what doubles round. */
function areSame(hour: HourSums, closed: HourSums): boolean {
  const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= hour.count * Number.EPSILON * Math.max(a, b)
  return hour.count === closed.count && isNear(hour.buy, closed.buy) && isNear(hour.sell, closed.sell)
}
