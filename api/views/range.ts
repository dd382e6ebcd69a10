import { isCovered, type Covered } from '../../processors/cvd/covered-time.ts'
import type { Micros } from '../../schemas/records.ts'
import { iso, microsSql } from './time.ts'

const MINUTE: Micros = 60_000_000
const DAY: Micros = 1440 * MINUTE

/** Widths of the buckets that histories and candles come in, microseconds; each a multiple of the stored 10 s. */
export const intervals = {
  '1m': MINUTE,
  '3m': 3 * MINUTE,
  '5m': 5 * MINUTE,
  '15m': 15 * MINUTE,
  '30m': 30 * MINUTE,
  '1h': 60 * MINUTE,
  '2h': 120 * MINUTE,
  '4h': 240 * MINUTE,
  '8h': 480 * MINUTE,
  '12h': 720 * MINUTE,
  '1d': DAY,
  '1w': 7 * DAY,
} as const

/** Buckets of every width are counted from the first Monday of the epoch, so that weeks begin with their Monday. */
const FIRST_MONDAY: Micros = 4 * DAY

export type IntervalName = keyof typeof intervals
export const intervalNames = Object.keys(intervals) as IntervalName[]

/** A bucket is closed this long after its end: trades still come in. Source: rule 3, "a window closes 2 s behind". */
export const CLOSES_AFTER: Micros = 2_000_000

export interface RangeQuery {
  /** Microseconds; buckets whose start is not before it. */
  readonly start: Micros | undefined
  /** Microseconds; buckets whose start is before it. */
  readonly end: Micros | undefined
  readonly limit: number
  readonly width: Micros
  /** Newest partition time. */
  readonly now: Micros
  /** First trade; nothing is told of the time before. */
  readonly since: Micros
}

/** Bounds of the buckets to tell: half open, whole buckets. */
export interface Range {
  readonly from: Micros
  readonly to: Micros
}

/**
 * The buckets from the first trade to the open one that were asked for. More than `limit`: with a start the oldest of
 * them, so that a caller can page on; without one the newest.
 */
export function bucketRange({ start, end, limit, width, now, since }: RangeQuery): Range {
  const earliest = floorTo(since, width)
  const openEnd = Math.max(floorTo(now, width), earliest) + width
  const last = Math.min(end === undefined ? openEnd : ceilTo(end, width), openEnd)
  const first = Math.max(start === undefined ? earliest : ceilTo(start, width), earliest)
  if (first >= last) return { from: first, to: first }
  return start === undefined
    ? { from: Math.max(first, last - limit * width), to: last }
    : { from: first, to: Math.min(last, first + limit * width) }
}

/**
 * Where the next page begins: with a start its `start`, else its `end`; null: `page` was the last of `all`.
 */
export function nextPage(start: unknown, page: Range, all: Range): string | null {
  if (start !== undefined) return page.to < all.to ? iso(page.to) : null
  return page.from > all.from ? iso(page.from) : null
}

/** Starts of the buckets of a range. */
export function bucketsOf({ from, to }: Range, width: Micros): Micros[] {
  return Array.from({ length: Math.max(0, (to - from) / width) }, (_, index) => from + index * width)
}

/** What is known of a time without trades. */
type Hole = Readonly<Record<'from' | 'to', Micros>> & { readonly state: string }

type Bucket = Readonly<Record<'time' | 'width', Micros>>

function touches({ from, to }: Hole, { time, width }: Bucket): boolean {
  return from < time + width && to >= time
}

export type Completeness = 'complete' | 'backfilled' | 'gap'
export const completenessNames: readonly Completeness[] = ['complete', 'backfilled', 'gap']

/** What a bucket holds. `complete`: its time is over, and it has all of its trades. */
export interface Wholeness {
  readonly complete: boolean
  readonly completeness: Completeness
}

interface WholenessFacts {
  readonly since: Micros
  readonly now: Micros
  readonly gaps: readonly Hole[]
  /** Which time is told of each instrument. */
  readonly instruments: readonly Covered[]
}

/**
 * Whether a bucket holds all trades: `gap` where some are missing, nobody was subscribed in a part of it or it begins before
 * `since`, `backfilled` where some came later by REST. Never `complete` with a `gap`, be it that the trades are still
 * fetched or lost for good.
 */
export function wholenessOf(
  bucket: Bucket & { readonly backfilled: boolean },
  { since, now, gaps, instruments }: WholenessFacts,
): Wholeness {
  const touching = gaps.filter((gap) => touches(gap, bucket))
  const known = { from: bucket.time, to: Math.min(bucket.time + bucket.width, now) }
  if (bucket.time < since || touching.some((gap) => gap.state !== 'filled') || !isCovered(instruments, known))
    return { complete: false, completeness: 'gap' }
  const isOver = bucket.time + bucket.width + CLOSES_AFTER <= now
  return { complete: isOver, completeness: bucket.backfilled || touching.length > 0 ? 'backfilled' : 'complete' }
}

/** The start of the bucket of a width that a time lies in. */
export function floorTo(time: Micros, width: Micros): Micros {
  return Math.floor((time - FIRST_MONDAY) / width) * width + FIRST_MONDAY
}

/** The first start of a bucket of a width that is not before a time. */
export function ceilTo(time: Micros, width: Micros): Micros {
  return Math.ceil((time - FIRST_MONDAY) / width) * width + FIRST_MONDAY
}

/** SQL of the start of the bucket of `{width:Int64}` that a time column lies in, microseconds. */
export function bucketSql(column: string): string {
  return `intDiv(${microsSql(column)} - ${FIRST_MONDAY}, {width:Int64}) * {width:Int64} + ${FIRST_MONDAY}`
}
