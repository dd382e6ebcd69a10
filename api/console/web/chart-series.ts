/** What the chart is made of: its times, the lines of the volume delta, the rows that were read. Pure. */
import type { UTCTimestamp } from 'lightweight-charts'

/** Widths of a bucket that the API has. */
export const intervals = ['1m', '3m', '5m', '15m', '30m', '1h', '2h', '4h', '8h', '12h', '1d', '1w'] as const
export type Interval = (typeof intervals)[number]

const MINUTE = 60
/** Widths in seconds. */
const units = { m: MINUTE, h: 60 * MINUTE, d: 1_440 * MINUTE, w: 10_080 * MINUTE } as const
/** The first Monday of the epoch, seconds: buckets are counted from there, as the API's. */
const FIRST_MONDAY = 4 * units.d

/** The chart library's time of an instant (ISO): seconds, of a type of its own. */
export function secondsOf(iso: string): UTCTimestamp {
  return Math.floor(Date.parse(iso) / 1000) as UTCTimestamp
}

/** The start of the bucket that an instant lies in. */
export function bucketOf(iso: string, interval: Interval): UTCTimestamp {
  const width = Number.parseInt(interval, 10) * units[interval.slice(-1) as keyof typeof units]
  return (Math.floor((secondsOf(iso) - FIRST_MONDAY) / width) * width + FIRST_MONDAY) as UTCTimestamp
}

export interface CvdPoint {
  /** Start of the bucket. */
  readonly time: string
  readonly exchanges: Readonly<
    Record<string, { readonly delta: number; readonly cvd: number; readonly source?: string | null }>
  >
}

/** The venues that points tell of, in their order; the usual ones where there is no point. */
export function venuesOf([first]: readonly CvdPoint[]): readonly string[] {
  return first === undefined ? ['binance', 'bybit', 'okx', 'coinbase'] : Object.keys(first.exchanges)
}

/** At the end of each point; a point in which the venue is not told of repeats the one before. */
export function lineOf(points: readonly CvdPoint[], venue: string): number[] {
  const first = points[0]?.exchanges[venue]
  // What was traded in the first bucket is part of what is shown: the line begins where that bucket does.
  const base = first === undefined ? 0 : first.cvd - first.delta
  let last = 0
  return points.map((point) => {
    const there = point.exchanges[venue]
    if (there !== undefined) last = there.cvd - base
    return last
  })
}

/** The sum over all venues at the end of each point. */
export function totalOf(points: readonly { readonly cvd: number; readonly delta: number }[]): number[] {
  const [first] = points
  const base = first === undefined ? 0 : first.cvd - first.delta
  return points.map(({ cvd }) => cvd - base)
}

/** Rows of a history that were read page by page, each once, and where the next older page begins. Pure. */
export class Loaded<Row extends { readonly time: string }> {
  readonly #byTime = new Map<string, Row>()
  #next: string | null | undefined

  /** The `end` of the next older page; null: there is none; undefined: nothing was read yet. */
  get next(): string | null | undefined {
    return this.#next
  }

  /** All rows, oldest first. ISO times sort as texts. */
  get rows(): Row[] {
    return [...this.#byTime.values()].sort((a, b) => (a.time < b.time ? -1 : 1))
  }

  /**
   * The newest page again: what it has stands in place of what was read before. Where it does not reach that, as of a page
   * that was hidden for long, all begins anew with it: older pages fill what would be a hole.
   */
  takeNewest(rows: readonly Row[], next: string | null): void {
    const newest = this.rows.at(-1)
    if (newest !== undefined && rows.length > 0 && rows.every(({ time }) => time > newest.time)) {
      this.#byTime.clear()
      this.#next = undefined
    }
    this.#put(rows)
    if (this.#next === undefined) this.#next = next
  }

  takeOlder(rows: readonly Row[], next: string | null): void {
    this.#put(rows)
    this.#next = next
  }

  #put(rows: readonly Row[]): void {
    for (const row of rows) this.#byTime.set(row.time, row)
  }
}

const PRICE_DIGITS_MAX = 15

/** Decimals of an axis of prices: of small ones so many that five digits tell something. */
export function priceDigits(price: number): number {
  if (price >= 0.1) return price >= 1_000 ? 1 : price >= 10 ? 2 : 4
  return price > 0 ? Math.min(PRICE_DIGITS_MAX, 4 - Math.floor(Math.log10(price))) : 8
}
