import { partitionOf } from '../../schemas/catalogue.ts'
import type { Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { end, intervalFrom, limitOf, start, symbol } from './parameters.ts'
import type { View } from '../request/reply.ts'
import { dataRoute, type Output, type Route } from '../request/route.ts'
import {
  array,
  boolean,
  instant,
  keyed,
  number,
  object,
  oneOf,
  text,
  type Schema,
  nullable,
} from '../request/schema.ts'
import type { Services } from '../services.ts'
import { readPartitionTime } from '../views/partition-times.ts'
import {
  bucketsOf,
  ceilTo,
  CLOSES_AFTER,
  floorTo,
  intervals,
  nextPage,
  type IntervalName,
  type Range,
} from '../views/range.ts'
import { iso } from '../views/time.ts'
import { heardOn, partitionTime } from '../views/world.ts'
import { factSources, readFirst, readNewest, type Reading, type Series } from '../views/readings.ts'
import {
  assetContext,
  noData,
  notListed,
  replyAbout,
  type AssetContext,
  agedBy,
  dataErrors,
  paged,
  stamped,
  warmingUp,
} from './answers.ts'
import { keepingWanted, warming } from './data.ts'
import { askedRange, rangeKey, rangeOf, type Asked } from './history.ts'

/** How long it is remembered when the first reading of an asset was, milliseconds. */
const FIRST_TTL_MS = 60_000

const DAY: Micros = 86_400_000_000
/** Marks come every second from each venue: a query looks at 8 million of them at most. */
export const MARKS_SPAN: Micros = 31 * DAY
/** Of what comes a few times a minute, or less often. */
export const SERIES_SPAN: Micros = 3660 * DAY

/** What one bucket tells. */
interface BucketFigures {
  /** Over all venues. */
  readonly total: object
  /** By venue. */
  readonly exchanges: Readonly<Record<string, object>>
  /** Venues that said something in it. */
  readonly heard: ReadonlySet<string>
}

/** What is asked of a source: buckets of a width from ClickHouse and from memory, of one asset. */
interface SeriesQuery extends Range {
  readonly width: Micros
  /** Newest partition time. */
  readonly now: Micros
}

/** Where the figures of a history come from. */
export interface SeriesSource {
  /** When the first of them was; undefined: there are none. */
  first(services: Services, context: AssetContext): Promise<Micros | undefined>
  /** The newest of them in memory; 0: none. */
  newest(context: AssetContext): Micros
  /** The figures of each bucket, by its start. */
  read(services: Services, context: AssetContext, query: SeriesQuery): Promise<(time: Micros) => BucketFigures>
}

/** A history by buckets, of which the route, its answer and its paging follow. */
interface SeriesRow {
  readonly path: string
  readonly name: string
  readonly description: string
  readonly priceUsdc: number
  readonly ttlMs: number
  /** Where its facts are in the log. */
  readonly topic: TopicName
  readonly venues: readonly string[]
  /** Gathered for wanted assets only: an answer keeps its asset wanted. */
  readonly wanted: boolean
  /** The narrowest bucket. */
  readonly shortest: IntervalName
  /** Most time that a page tells of: as many facts as one query should look at. */
  readonly spanMax: Micros
  /** Most buckets of a page, whatever `limit` says; left out: as many as are asked for. */
  readonly rowsMax?: number
  /** Silence for longer makes an answer stale; in words too. */
  readonly stale: { readonly after: Micros; readonly description: string }
  /** Fields of a bucket, and of one venue in it. */
  readonly total: Readonly<Record<string, Schema>>
  readonly venue: Readonly<Record<string, Schema>>
  readonly source: SeriesSource
}

const coverage = object('What of the time asked for there is', {
  from: instant('Start of the first bucket'),
  to: instant('Up to here there are figures'),
  complete: boolean('Every closed bucket that was asked for is there and complete'),
  share: number('How many of them are, 0 to 1', { minimum: 0, maximum: 1 }),
})

/** A route that answers a history by buckets. */
export function seriesRoute(row: SeriesRow): Route {
  return dataRoute({
    path: row.path,
    name: row.name,
    description: row.description,
    priceUsdc: row.priceUsdc,
    ttlMs: row.ttlMs,
    input: { symbol, interval: intervalFrom(row.shortest), start, end, limit: limitOf(200) },
    outputs: { 200: outputOf(row), ...(row.wanted ? { 202: warmingUp } : {}) },
    errors: dataErrors,
    async prepare(call) {
      const { input, services } = call
      const key = { symbol: input.symbol, rest: rangeKey(input) }
      const run = await replyAbout(call, key, (context) => seriesView(services, context, { row, asked: input }))
      if (!row.wanted) return run
      const { asset } = assetContext(services, input.symbol)
      return (await warming(call, input.symbol)) ?? keepingWanted(call, asset, run)
    },
  })
}

function outputOf({ description, total, venues, venue, stale }: SeriesRow): Output {
  return {
    description,
    type: 'application/json',
    schema: object(description, {
      symbol: text('Base asset'),
      interval: oneOf(Object.keys(intervals), 'Width of a bucket'),
      points: array(
        object('One bucket', {
          time: instant('Start of the bucket'),
          ...total,
          exchanges: keyed(venues, object('One venue', venue), 'The same by venue'),
          complete: boolean('The bucket is over, and every venue that lists the asset was heard in it'),
        }),
        'A point for every bucket since the first that there is, oldest first',
      ),
      ...paged,
      coverage,
      ...agedBy(stale.description),
      ...stamped,
    }),
  }
}

async function seriesView(
  services: Services,
  context: AssetContext,
  { row, asked }: { row: SeriesRow; asked: Asked },
): Promise<View> {
  const { asset, world, catalogue } = context
  const { source, topic } = row
  const now = partitionTime(world, topic, asset, services.partitions)
  if (now === undefined) throw noData(`word from any venue on ${context.symbol}`)
  const listing = row.venues.filter((venue) => catalogue.venuesOf(asset, 'perp').has(venue))
  const [since = null, told = 0] = await Promise.all([
    source.first(services, context),
    readPartitionTime(services.database, topic, partitionOf(asset, services.partitions)),
  ])
  if (since === null && listing.length === 0) throw notListed(`No venue lists a perpetual of ${context.symbol}`)
  const width = intervals[asked.interval]
  const most = Math.min(row.rowsMax ?? Infinity, Math.max(1, Math.floor(row.spanMax / width)))
  const page = { ...asked, limit: Math.min(asked.limit, most) }
  const range = rangeOf({ now, since }, page)
  const figuresAt = await source.read(services, context, { ...range, width, now })
  const points = bucketsOf(range, width).map((time) => {
    const { total, exchanges, heard } = figuresAt(time)
    const isOver = time + width + CLOSES_AFTER <= Math.min(now, told)
    return { time: iso(time), ...total, exchanges, complete: isOver && listing.every((venue) => heard.has(venue)) }
  })
  const whole = points.filter(({ complete }) => complete).length
  const body = {
    symbol: context.symbol,
    interval: asked.interval,
    points,
    next: nextPage(asked.start, range, rangeOf({ now, since }, { ...page, limit: Infinity })),
    coverage: coverageOf(askedRange(range, page), { range, width, now, whole }),
  }
  const asOf = Math.max(source.newest(context), ...row.venues.map((venue) => heardOn(world, topic, venue)))
  return { body, asOf, freshUntil: asOf + row.stale.after }
}

/** `asked`: what the caller meant, of which the first bucket that begins in it is the first; `whole`: complete buckets of it. */
function coverageOf(
  asked: Range,
  { range, width, now, whole }: { range: Range; width: Micros; now: Micros; whole: number },
): object {
  const closedTo = Math.min(asked.to, floorTo(now - CLOSES_AFTER, width))
  const closed = (closedTo - ceilTo(asked.from, width)) / width
  const share = closed > 0 ? Math.min(1, whole / closed) : 0
  const to = Math.min(range.to, now)
  return { from: iso(Math.min(range.from, to)), to: iso(to), complete: share === 1, share }
}

/** What a venue said last in a bucket, a list of values for each series; undefined: nothing. */
export type Values = readonly (readonly number[] | undefined)[]

interface ReadingsRow {
  readonly venues: readonly string[]
  /** The first tells how far back the history goes. */
  readonly series: readonly [Series, ...Series[]]
  /** The figures of one venue. */
  readonly venueOf: (values: Values) => object
  /** The figures of all venues, in their order. */
  readonly totalOf: (values: readonly Values[]) => object
  /** Whether a venue was heard in a bucket; else: where it said all of the series. */
  readonly isHeard?: (values: Values) => boolean
}

/** Of a venue in a bucket: where its figure is from. */
export const sourceField: Readonly<Record<'source', Schema>> = {
  source: nullable(
    oneOf(factSources, 'live: told when it was so; venue_history: told by the venue of its past; null: not heard'),
  ),
}

/** Histories of what venues say again and again: a bucket tells the newest that each has said in it. */
export function readingsOf({ venues, series, venueOf, totalOf, isHeard = hasEveryValue }: ReadingsRow): SeriesSource {
  const [main] = series
  return {
    first: (services, context) => firstOf(services, context, main),
    newest: ({ present, asset }) => Math.max(0, ...main.held(present, asset).map(({ time }) => time)),
    async read({ database }, { present, asset }, { from, to, width }) {
      const all = await Promise.all(
        series.map((one) => readNewest(database, one, { asset, from, to, width, held: one.held(present, asset) })),
      )
      const readBy = (venue: string, time: Micros): (Reading | undefined)[] =>
        series.map((one, index) => all[index]?.get(time)?.get(one.venue ?? venue))
      return (time) => {
        const read = venues.map((venue) => readBy(venue, time))
        const values = read.map((readings): Values => readings.map((reading) => reading?.values))
        const shown = (index: number): object => ({
          ...venueOf(values[index] ?? []),
          source: read[index]?.[0]?.source ?? null,
        })
        return {
          total: totalOf(values),
          exchanges: Object.fromEntries(venues.map((venue, index) => [venue, shown(index)])),
          heard: new Set(venues.filter((_, index) => isHeard(values[index] ?? []))),
        }
      }
    },
  }
}

function hasEveryValue(values: Values): boolean {
  return values.every((value) => value !== undefined)
}

/** The first reading that there is, be it one that only memory has. */
export async function firstOf(
  { cache, database }: Services,
  { present, asset }: AssetContext,
  series: Series,
): Promise<Micros | undefined> {
  const load = (): Promise<Micros | undefined> => readFirst(database, series, asset)
  const { value } = await cache.get(`first|${series.view}|${asset}`, FIRST_TTL_MS, load)
  const first = Math.min(value ?? Infinity, ...series.held(present, asset).map(({ time }) => time))
  return Number.isFinite(first) ? first : undefined
}
