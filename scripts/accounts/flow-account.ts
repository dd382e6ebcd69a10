import type { Flow, Message, Micros } from '../../schemas/records.ts'
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

const HOUR_MICROS: Micros = 3_600_000_000
const FIVE_MICROS: Micros = 300_000_000

/** Folds `derived.flow`: the last record of a key stands, as a reader of the compacted topic finds it. */
export class FlowAccount {
  readonly #buckets = new Map<string, Bucket>()
  readonly #hours = new Map<string, Bucket>()
  readonly #fives = new Map<string, Bucket>()
  /** Rises with every record. */
  version = 0

  add(key: string, message: Message): void {
    if (message.type === 'flow') this.#put(this.#buckets, key, message.value, message.value.bucket)
    else if (message.type === 'flow_hour') this.#put(this.#hours, key, message.value, message.value.hour)
    else if (message.type === 'flow_five')
      this.#put(this.#fives, key, { ...message.value, final: true }, message.value.start)
  }

  #put(rows: Map<string, Bucket>, key: string, row: Omit<Flow, 'bucket'>, start: Micros): void {
    const { instrument, buy, sell, buy_quote: buyQuote, sell_quote: sellQuote, low, high, final, v } = row
    const count = row.buy_count + row.sell_count
    const highest = Math.max(rows.get(key)?.highest ?? v, v)
    this.version += 1
    rows.set(key, { instrument, start, buy, sell, buyQuote, sellQuote, low, high, count, final, v, highest })
  }

  /**
   * Keys whose last record is not the newest version of theirs. A new owner writes again what followed its snapshot, so
   * versions may fall for a moment; one that stays low was written by an owner that should have been shut out.
   */
  get stale(): number {
    const rows = [this.#buckets, this.#hours, this.#fives].flatMap((one) => [...one.values()])
    return rows.filter(({ v, highest }) => v < highest).length
  }

  /**
   * Hours and five minutes that do not hold what their closed buckets hold, or that are not there; the newest five minutes of
   * an instrument may not have closed.
   */
  get sumsOff(): number {
    const closed = [...this.#buckets.values()].filter(({ final }) => final)
    const newest = new Map<string, number>()
    for (const { instrument, start } of closed)
      newest.set(instrument, Math.max(newest.get(instrument) ?? 0, start - (start % FIVE_MICROS)))
    const isOver = ({ instrument, start }: Bucket): boolean => start < (newest.get(instrument) ?? 0)
    const fives = [...this.#fives.values()].filter(isOver)
    return differing(this.#hours.values(), closed, HOUR_MICROS) + differing(fives, closed.filter(isOver), FIVE_MICROS)
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

type Sums = Pick<Bucket, 'buy' | 'sell' | 'count'>

const none: Sums = { buy: 0, sell: 0, count: 0 }

/** How many times of a width do not hold what their closed buckets hold. */
function differing(told: Iterable<Bucket>, closed: readonly Bucket[], width: Micros): number {
  const [sums, held] = [sumsBy(told, width), sumsBy(closed, width)]
  const names = new Set([...sums.keys(), ...held.keys()])
  return [...names].filter((name) => !areSame(sums.get(name) ?? none, held.get(name) ?? none)).length
}

function sumsBy(rows: Iterable<Bucket>, width: Micros): Map<string, Sums> {
  const sums = new Map<string, Sums>()
  for (const { instrument, start, buy, sell, count } of rows) {
    const time = `${instrument} ${Math.floor(start / width)}`
    const sum = sums.get(time) ?? none
    sums.set(time, { buy: sum.buy + buy, sell: sum.sell + sell, count: sum.count + count })
  }
  return sums
}

/** The same sizes: a sum adds them up in another order than its buckets, so that volumes may differ by what doubles round. */
function areSame(sum: Sums, closed: Sums): boolean {
  const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= sum.count * Number.EPSILON * Math.max(a, b)
  return sum.count === closed.count && isNear(sum.buy, closed.buy) && isNear(sum.sell, closed.sell)
}
