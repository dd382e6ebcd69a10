import { wasSubscribed, type Covered, type Stretch } from '../../processors/cvd/covered-time.ts'
import type { Micros } from '../../schemas/records.ts'
import { ApiError } from '../request/errors.ts'
import type { Services } from '../services.ts'
import { coveredOf, missingOf, type Missing, type Unsubscribed } from '../views/covered.ts'
import type { Traded } from '../views/flow.ts'
import { toldOver } from '../views/held-past.ts'
import { coverageOf } from '../views/gaps.ts'
import { pointsOf, readFlow, type FlowRow } from '../views/history.ts'
import { readPast, sinceOf, withPast, type Past } from '../views/past.ts'
import {
  bucketRange,
  floorTo,
  intervals,
  nextPage,
  wholenessOf,
  type IntervalName,
  type Range,
} from '../views/range.ts'
import { isoOrNull } from '../views/time.ts'
import { ageOf, isHole, viewVenues } from '../views/venues.ts'
import type { View } from '../request/reply.ts'
import type { TradeContext } from './data.ts'

/** Milliseconds, as the request has them. */
export interface Asked {
  readonly interval: IntervalName
  readonly start: number | undefined
  readonly end: number | undefined
  readonly limit: number
}

interface AskedFlow extends Asked {
  /** From when the running total counts. */
  readonly since: number | undefined
}

/** Reads and builds the answer of `/cvd/history/:symbol`. */
export async function readHistory(services: Services, context: TradeContext, asked: AskedFlow): Promise<View> {
  const anchor = anchorOf(context, asked)
  const { asset, positions } = context
  const width = intervals[asked.interval]
  const past = await readPast(services, context, width, 'takers')
  const range = rangeOf(toldOf(context, { past, anchor }), asked)
  const [rows, missing] = await Promise.all([
    readFlow(services.database, { asset, positions, ...range, width, anchor, past }),
    missingOf(services, context, range),
  ])
  return historyView(context, asked, { rows, missing, anchor, past })
}

interface Facts {
  readonly rows: readonly FlowRow[]
  readonly missing: Missing
  readonly anchor: Micros | undefined
  /** Of the instruments whose candles say what takers bought. */
  readonly past: readonly Past[]
}

/** The answer that follows from the rows. */
function historyView(context: TradeContext, asked: Asked, { rows, missing, anchor, past }: Facts): View {
  const { symbol, now, since, traded } = context
  const { gaps, unsubscribed } = missing
  const width = intervals[asked.interval]
  const told = toldOf(context, { past, anchor })
  const range = rangeOf(told, asked)
  const venues = viewVenues({ ...context, partitionTime: now, newest: newestByVenue(traded), gaps })
  const holes = gaps.filter(isHole)
  const instruments = coveredOf(withPast(traded, past), { holes, unsubscribed })
  const isHeard = heardOf({ traded, past, unsubscribed })
  const known = { since: allToldSince(context, instruments), now, gaps, instruments }
  const points = pointsOf(rows, range, { width, counted: context.counted, isHeard }).map(
    ({ time, backfilled, point }) => ({
      ...point,
      ...wholenessOf({ time, width, backfilled }, known),
    }),
  )
  const allHeard = venues.every(({ listed, status }) => !listed || status === 'live' || status === 'gap')
  const coverage = coverageOf({
    asked: askedRange(range, asked),
    instruments,
    now,
    holes,
    allHeard,
    toldOver: (hole) => toldOver(context.present, context.asset, hole),
  })
  const next = nextPage(asked.start, range, rangeOf(told, { ...asked, limit: Infinity }))
  const body = {
    symbol,
    interval: asked.interval,
    points,
    since: isoOrNull(anchor === undefined ? since : told.since),
    next,
    coverage,
  }
  return { body, ...ageOf(venues) }
}

/** The start of the bucket that the request's `since` lies in, of the newest at most. */
function anchorOf({ now }: TradeContext, { since, interval }: AskedFlow): Micros | undefined {
  return since === undefined ? undefined : floorTo(Math.min(since * 1000, now), intervals[interval])
}

/** What there is to tell: from the first candle or trade on, and nothing of the time before the anchor. */
function toldOf(
  { now, since }: TradeContext,
  { past, anchor = 0 }: { readonly past: readonly Past[]; readonly anchor: Micros | undefined },
): Pick<TradeContext, 'now' | 'since'> {
  const first = sinceOf(since, past)
  return { now, since: first === null ? null : Math.max(first, anchor) }
}

/** From when on every instrument is told, by its past or its trades; at the latest from the first trade of any. */
function allToldSince({ now, since }: TradeContext, instruments: readonly Covered[]): Micros {
  return since === null ? now : Math.min(since, Math.max(...instruments.map((instrument) => instrument.since)))
}

interface HeardFacts {
  readonly traded: readonly Traded[]
  readonly past: readonly Past[]
  readonly unsubscribed: readonly Unsubscribed[]
}

/** Whether a venue's trades count at some time of a bucket: from its past or its first trade on, while somebody is subscribed. */
function heardOf({ traded, past, unsubscribed }: HeardFacts): (venue: string, bucket: Stretch) => boolean {
  const until = new Map(past.map((one) => [one.instrument, one.until]))
  const instruments = traded.map(({ venue, instrument, first }) => ({
    venue,
    since: until.get(instrument) ?? first,
    unsubscribed: unsubscribed.filter((stretch) => stretch.instrument === instrument),
  }))
  return (venue, bucket) => instruments.some((one) => one.venue === venue && wasSubscribed(one, bucket))
}

/** The buckets to tell. Without a trade in the log there is only the open one. */
export function rangeOf({ now, since }: Pick<TradeContext, 'now' | 'since'>, asked: Asked): Range {
  return bucketRange({
    start: asked.start === undefined ? undefined : asked.start * 1000,
    end: asked.end === undefined ? undefined : asked.end * 1000,
    limit: asked.limit,
    width: intervals[asked.interval],
    now,
    since: since ?? now,
  })
}

/** What the caller meant: its own start where it named one, else as far back as `limit` buckets reach. */
export function askedRange({ from, to }: Range, { start, interval, limit }: Asked): Range {
  return { from: start === undefined ? Math.min(from, to - limit * intervals[interval]) : start * 1000, to }
}

/** All parameters, as a cache key's part. Throws `invalid_range` where the start is not before the end. */
export function rangeKey(input: Pick<Asked, 'start' | 'end'>): readonly unknown[] {
  const { start, end } = input
  if (start !== undefined && end !== undefined && start >= end)
    throw new ApiError('invalid_range', 'start must be before end.', { field: 'start' })
  return Object.entries(input).flatMap(([name, value]) => (name === 'symbol' ? [] : [value]))
}

export function newestByVenue(rows: readonly Pick<Traded, 'venue' | 'newest'>[]): Map<string, Micros> {
  const newest = new Map<string, Micros>()
  for (const row of rows) newest.set(row.venue, Math.max(newest.get(row.venue) ?? 0, row.newest))
  return newest
}
