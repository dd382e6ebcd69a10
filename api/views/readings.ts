import { heldAgainst } from '../../processors/present/state.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Present } from '../present.ts'
import { Row, type Database } from './database.ts'
import { fundingOf } from './funding.ts'
import { interestedOf, markedOf } from './perpetuals.ts'
import { bucketSql, floorTo, type Range } from './range.ts'
import { ratiosOf } from './ratios.ts'
import { heldAgainstAt } from './tickers.ts'
import { microsSql, timeParam } from './time.ts'

/** What venues say again and again of an asset, each time with its own venue time. */
export interface Series {
  /** Of ClickHouse. */
  readonly view: string
  /** What a reading has, in this order. */
  readonly columns: readonly string[]
  /** Which rows it is, in SQL. */
  readonly where: string
  /** Whose readings stand for every venue; undefined: each venue's own. */
  readonly venue?: string
  /** The newest readings, as memory has them. */
  held(present: Present, asset: string): Reading[]
}

/** Open interest of perpetuals, base units of one side. */
export const openInterests: Series = {
  view: 'open_interest',
  columns: ['open_interest'],
  where: 'true',
  held: (present, asset) =>
    interestedOf(fundingOf(present, asset)).map(({ exchange, openInterest, asOf }) => ({
      venue: exchange,
      time: asOf,
      values: [openInterest],
    })),
}

/** Mark prices of perpetuals, quote units. */
export const marks: Series = {
  view: 'mark_prices',
  columns: ['mark'],
  where: 'mark IS NOT NULL',
  held: (present, asset) =>
    markedOf(fundingOf(present, asset)).map(({ exchange, mark, markTime }) => ({
      venue: exchange,
      time: markTime,
      values: [mark],
    })),
}

/** Positions of top traders: long share, short share, the one over the other. */
export const topTraders: Series = {
  view: 'long_short_ratios',
  columns: ['long_ratio', 'short_ratio', 'ls_ratio'],
  where: "cohort = 'top_traders' AND basis = 'positions'",
  held: (present, asset) =>
    ratiosOf(present, asset).map(({ venue, time, long, short, ratio }) => ({
      venue,
      time,
      values: [long, short, ratio],
    })),
}

/** The spot market that perpetuals are held against, quote units. */
export const spotPrices: Series = {
  view: 'tickers',
  columns: ['price'],
  where: `startsWith(instrument, '${heldAgainst.venue}:spot:') AND quote = '${heldAgainst.quote}'`,
  venue: heldAgainst.venue,
  held(present, asset) {
    const ticker = heldAgainstAt(present, asset, Infinity)
    return ticker === undefined ? [] : [{ venue: ticker.venue, time: ticker.time, values: [ticker.quotePrice] }]
  },
}

/** What a venue said at a time, in the order of its series' columns. */
export interface Reading {
  readonly venue: string
  readonly time: Micros
  readonly values: readonly number[]
}

function newestSql({ view, columns, where }: Series): string {
  return `SELECT venue, argMax([${columns.map((name) => `assumeNotNull(${name})`).join()}], time) AS newest,
  ${bucketSql('time')} AS bucket_us, ${microsSql('max(time)')} AS at_us
  FROM ${view} WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')} AND ${where}
  GROUP BY venue, bucket_us`
}

const firstSql = ({ view, where }: Series): string =>
  `SELECT ${microsSql('min(time)')} AS first_us FROM ${view} WHERE asset = {asset:String} AND ${where}`

/** The first reading of a series; undefined: there is none. */
export async function readFirst(database: Database, series: Series, asset: string): Promise<Micros | undefined> {
  const [row] = await database.query(firstSql(series), { asset })
  // Of no rows the minimum is the epoch.
  return (row === undefined ? 0 : new Row(row).number('first_us')) || undefined
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
    if (reading.time >= (bucket.get(reading.venue)?.time ?? 0)) bucket.set(reading.venue, reading)
  }
  return buckets
}

function readingOf(row: Row): Reading {
  return { venue: row.text('venue'), time: row.number('at_us'), values: row.numbers('newest') }
}
