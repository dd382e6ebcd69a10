import { heldAgainst } from '../../processors/present/state.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Present } from '../present/present.ts'
import { Row, type Database } from './database.ts'
import { fundingOf } from './funding.ts'
import { interestedOf, markedOf, ratiosOf } from './perpetuals.ts'
import { bucketSql, floorTo, type Range } from './range.ts'
import { heldAgainstAt } from './prices.ts'
import { microsSql, timeParam } from './time.ts'

/**
 * Where a figure is from: told as it was so (`live`), or told by the venue when its past was read back (`venue_history`),
 * which stands where nothing is live.
 */
export const factSources = ['live', 'venue_history'] as const
export type FactSource = (typeof factSources)[number]

/** What venues say again and again of an asset, each time with its own venue time. */
export interface Series {
  /** Of ClickHouse; its rows are in the table of that name with `_log`. */
  readonly view: string
  /** What that table is sorted by behind asset and instrument; left out: time alone. */
  readonly sortedBy?: string
  /** What a reading has, in this order. */
  readonly columns: readonly string[]
  /** The values have the least and the greatest of the first column in the bucket behind them. */
  readonly bounds?: true
  /** Which rows it is, in SQL. */
  readonly where: string
  /** Whose readings stand for every venue; undefined: each venue's own. */
  readonly venue?: string
  /** What a row's source is, in SQL. */
  readonly source: string
  /** The newest readings, as memory has them. */
  held(present: Present, asset: string): Reading[]
}

/** Open interest of perpetuals, base units of one side. */
export const openInterests: Series = {
  view: 'open_interest',
  columns: ['open_interest'],
  where: 'true',
  source: 'source',
  held: (present, asset) =>
    interestedOf(fundingOf(present, asset)).map(({ exchange, open_interest, asOf }) =>
      live(exchange, asOf, open_interest),
    ),
}

/** Mark prices of perpetuals, quote units. */
export const marks: Series = {
  view: 'mark_prices',
  columns: ['mark'],
  where: 'mark IS NOT NULL',
  source: 'source',
  held: (present, asset) =>
    markedOf(fundingOf(present, asset)).map(({ exchange, mark, mark_time }) => live(exchange, mark_time, mark)),
}

/** Mark prices with the lowest and the highest of a bucket. */
export const marksWithBounds: Series = { ...marks, bounds: true }

/** Mark prices with the venue's own index at each, 0 where it is not said. */
export const marksAndIndexes: Series = {
  ...marks,
  columns: ['mark', 'ifNull(index_price, 0)'],
  held: (present, asset) =>
    markedOf(fundingOf(present, asset)).map(({ exchange, mark, index, mark_time }) =>
      live(exchange, mark_time, mark, index ?? 0),
    ),
}

/** Positions of top traders: long share, short share, the one over the other. */
export const topTraders: Series = {
  view: 'long_short_ratios',
  sortedBy: 'cohort, basis, time',
  columns: ['long_ratio', 'short_ratio', 'ls_ratio'],
  where: "cohort = 'top_traders' AND basis = 'positions'",
  source: 'source',
  held: (present, asset) =>
    ratiosOf(present, asset).map(({ exchange, time, long_ratio, short_ratio, ls_ratio }) =>
      live(exchange, time, long_ratio, short_ratio, ls_ratio),
    ),
}

/** The spot market that perpetuals are held against, quote units. */
export const spotPrices: Series = {
  view: 'tickers',
  columns: ['price'],
  where: `startsWith(instrument, '${heldAgainst.venue}:spot:') AND quote = '${heldAgainst.quote}'`,
  venue: heldAgainst.venue,
  source: "'live'",
  held(present, asset) {
    const ticker = heldAgainstAt(present, asset, Infinity)
    return ticker === undefined ? [] : [live(ticker.venue, ticker.time, ticker.quotePrice)]
  },
}

function live(venue: string, time: Micros, ...values: readonly number[]): Reading {
  return { venue, time, values, source: 'live' }
}

/** What a venue said at a time, in the order of its series' columns. */
export interface Reading {
  readonly venue: string
  readonly time: Micros
  readonly values: readonly number[]
  readonly source: FactSource
}

function newestSql({ view, columns, where, source, bounds }: Series): string {
  const order = `(${source} = 'live', time)`
  const list = columns.map((name) => `assumeNotNull(${name})`)
  const further = bounds === undefined ? [] : [`min(${list[0]})`, `max(${list[0]})`]
  return `SELECT venue, arrayConcat(argMax([${list.join()}], ${order}), [${further.join()}]) AS newest,
  ${bucketSql('time')} AS bucket_us, ${microsSql(`argMax(time, ${order})`)} AS at_us, max(${source} = 'live') AS is_live
  FROM ${view} WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')} AND ${where}
  GROUP BY venue, bucket_us`
}

/** When a table begins and ends, which its parts tell without being read; of no rows both are the epoch. */
const boundsSql = ({ view }: Series): string =>
  `SELECT ${microsSql('min(time)')} AS from_us, ${microsSql('max(time)')} AS to_us FROM ${view}_log`

/** By the order of the table, so that of each part one stretch is read; what stands there twice changes no first time. */
const firstSql = ({ view, where, sortedBy = 'time' }: Series): string =>
  `SELECT instrument, ${microsSql('time')} AS first_us FROM ${view}_log WHERE asset = {asset:String}
  AND instrument > {after:String} AND time < ${timeParam('before')} AND ${where} ORDER BY asset, instrument, ${sortedBy} LIMIT 1`

const MONTH: Micros = 31 * 86_400_000_000

/**
 * The first reading of a series; undefined: there is none. It is looked for in the table's first month, then in two, in
 * four: what comes behind it is never read, however much it is. `where` may name columns of the table only.
 */
export async function readFirst(database: Database, series: Series, asset: string): Promise<Micros | undefined> {
  const [raw] = await database.query(boundsSql(series), {})
  const bounds = new Row(raw)
  for (let span = MONTH; ; span *= 2) {
    const before = bounds.number('from_us') + span
    const first = await readFirstBefore(database, series, { asset, before })
    if (first !== undefined || before > bounds.number('to_us')) return first
  }
}

/** One instrument after the other, each for what is earlier than was found. */
async function readFirstBefore(
  database: Database,
  series: Series,
  { asset, before }: { readonly asset: string; readonly before: Micros },
): Promise<Micros | undefined> {
  let first: Micros | undefined
  for (let after = ''; ;) {
    const [raw] = await database.query(firstSql(series), { asset, after, before: first ?? before })
    if (raw === undefined) return first
    const row = new Row(raw)
    after = row.text('instrument')
    first = row.number('first_us')
  }
}

interface ReadingsQuery extends Range {
  readonly asset: string
  readonly width: Micros
  /** The newest readings, from memory: ClickHouse may not have them yet. */
  readonly held: readonly Reading[]
}

/** Each venue's newest reading of each bucket of a range, by the bucket's start; nothing where it said nothing. */
export async function readNewest(
  database: Database,
  series: Series,
  { held, ...query }: ReadingsQuery,
): Promise<Map<Micros, Map<string, Reading>>> {
  const stored = (await database.query(newestSql(series), { ...query })).map((raw) => readingOf(new Row(raw)))
  const buckets = new Map<Micros, Map<string, Reading>>()
  for (const reading of [...stored, ...held.filter(({ time }) => time >= query.from && time < query.to)]) {
    const start = floorTo(reading.time, query.width)
    const bucket = buckets.get(start) ?? new Map<string, Reading>()
    buckets.set(start, bucket)
    const known = bucket.get(reading.venue)
    if (known?.source !== 'live' || reading.time >= known.time) bucket.set(reading.venue, withBounds(reading, known))
  }
  return buckets
}

/** Memory’s newest word has no bounds: it widens those that are known. */
function withBounds(reading: Reading, known: Reading | undefined): Reading {
  const [last = 0, ...own] = reading.values
  const [, low, high] = known?.values ?? []
  if (own.length > 0 || low === undefined || high === undefined) return reading
  return { ...reading, values: [last, Math.min(low, last), Math.max(high, last)] }
}

function readingOf(row: Row): Reading {
  const source = row.number('is_live') === 1 ? 'live' : 'venue_history'
  return { venue: row.text('venue'), time: row.number('at_us'), values: row.numbers('newest'), source }
}

/** A settled rate, with how long after the settlement before it, if one is known. */
export interface SettlementRow {
  readonly rate: number
  readonly time: Micros
  readonly sinceLast: Micros | null
  readonly source: FactSource
}

export interface SettlementQuery {
  readonly asset: string
  readonly venue: string
  /** Half open. */
  readonly from: Micros
  readonly to: Micros
  readonly limit: number
}

/** Which rows to give when there are more than `limit`. */
type Side = 'oldest' | 'newest'

/** The row before the range is looked at too: it says how long the first one's interval was. */
function settlementsSql(side: Side): string {
  return `SELECT settled_rate, time_us, before_us, source FROM (
    SELECT settled_rate, source, time, ${microsSql('time')} AS time_us,
      lagInFrame(${microsSql('time')}, 1, 0) OVER (ORDER BY time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before_us
    FROM funding_settlements WHERE asset = {asset:String} AND venue = {venue:String})
  WHERE time >= ${timeParam('from')} AND time < ${timeParam('to')}
  ORDER BY time ${side === 'oldest' ? 'ASC' : 'DESC'} LIMIT {limit:UInt32}`
}

/** Settlements of one venue's perpetual, newest first. */
export async function readSettlements(
  database: Database,
  query: SettlementQuery,
  side: Side = 'newest',
): Promise<SettlementRow[]> {
  const rows = await database.query(settlementsSql(side), { ...query })
  const settlements = rows.map((raw): SettlementRow => {
    const row = new Row(raw)
    const [time, before] = [row.number('time_us'), row.number('before_us')]
    const source = row.text('source') === 'live' ? 'live' : 'venue_history'
    return { rate: row.number('settled_rate'), time, sinceLast: before === 0 ? null : time - before, source }
  })
  return side === 'newest' ? settlements : settlements.toReversed()
}
