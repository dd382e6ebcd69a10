import type { Flow, Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import {
  bucketsRead,
  bucketsTable,
  fivesRead,
  fivesTable,
  hoursTable,
  storedRange,
  tablesRead,
  type FlowPositions,
  type TablesRead,
} from './flow.ts'
import {
  begunOf,
  candlesOfPast,
  isTold,
  pastParams,
  sourceSql,
  sourceRangeOf,
  toldBehind,
  untilSql,
  type Past,
} from './past.ts'
import { joinedRange, ofTrades, type SourceRange } from './held-past.ts'
import { bucketSql, floorTo, type Range } from './range.ts'
import { microsSql, timeParam } from './time.ts'

/** One candle; prices in quote units, volumes in base units. */
export interface CandleRow {
  readonly time: Micros
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly buy: number
  readonly sell: number
  /** Trade records, or a venue's own count; a venue may merge several fills into one. */
  readonly trades: number
  /** Some of its trades came later; of hours and five minutes only what came hours later: gaps tell the rest. */
  readonly backfilled: boolean
  readonly made: SourceRange
}

/** Which of a range's candles to give when there are more than `limit`. */
export type Side = 'oldest' | 'newest'

export interface CandleQuery extends Range {
  readonly asset: string
  readonly instruments: readonly string[]
  readonly width: Micros
  readonly limit: number
  readonly positions: FlowPositions
  /** Of the instruments that have one. */
  readonly past: readonly Past[]
}

const columns = `part, buy, sell, buy_count + sell_count AS records, open, high, low, close, open_time, close_time,
  first_id, last_id, 0 AS past`
const of = 'asset = {asset:String} AND instrument IN {instruments:Array(String)}'
const hoursSql = `SELECT hour AS at, ${columns} FROM ${hoursTable}
  WHERE ${of} AND hour >= ${timeParam('from')} AND hour < ${timeParam('hours')}`
const fivesSql = `SELECT start AS at, ${columns} FROM ${fivesTable}
  WHERE ${of} AND start >= ${timeParam('from')} AND ${fivesRead}`
const bucketsSql = `SELECT bucket AS at, ${columns} FROM ${bucketsTable}
  WHERE ${of} AND bucket >= ${timeParam('from')} AND bucket < ${timeParam('to')} AND ${bucketsRead}`
const pastSql = `SELECT start AS at, 0 AS part, ifNull(taker_buy, 0) AS buy, volume - buy AS sell, ifNull(trades, 0) AS records,
  open, high, low, close, start AS open_time, addMicroseconds(start, seconds * 1000000 - 1) AS close_time, 0 AS first_id, 0 AS last_id,
  ${sourceSql} AS past ${candlesOfPast} AND volume > 0 AND start >= ${timeParam('from')} AND start < ${timeParam('end')}`
const sinceTrades = (time: string): string => ` AND ${microsSql(time)} >= ${untilSql}`

/** The rows that candles are put together from, by table. */
function rowsSql({ hours, fives, buckets }: TablesRead, hasPast: boolean): string[] {
  const told = (sql: string, time: string): string => (hasPast ? sql + sinceTrades(time) : sql)
  return [
    ...(hours ? [told(hoursSql, 'hour')] : []),
    ...(fives ? [told(fivesSql, 'start')] : []),
    ...(buckets ? [told(bucketsSql, 'bucket')] : []),
    ...(hasPast ? [pastSql] : []),
  ]
}

/** A time and an id as one number, by which rows are compared faster than by a pair. */
const placeSql = (time: string, id: string): string => `bitShiftLeft(toUInt128(${microsSql(time)}), 64) + ${id}`

/**
 * Candles are put together from whole hours, five minutes and 10 s buckets: the open is that of the earliest part by venue time, the
 * close that of the latest. Of equal times the lower id opens and the higher one closes.
 */
function candlesSql(side: Side, rows: readonly string[]): string {
  return `SELECT ${bucketSql('at')} AS time_us,
  argMin(open, ${placeSql('open_time', 'first_id')}) AS o, max(high) AS h, min(low) AS l,
  argMax(close, ${placeSql('close_time', 'last_id')}) AS c,
  sumKahan(buy) AS buy_sum, sumKahan(sell) AS sell_sum, sum(records) AS trades_sum,
  countIf(part != 0) AS late_parts, min(past) AS past_least, max(past) AS past_most
  FROM (${rows.join(' UNION ALL ')})
  GROUP BY time_us ORDER BY time_us ${side === 'oldest' ? 'ASC' : 'DESC'} LIMIT {limit:UInt32}`
}

/** Candles of a range, oldest first; buckets without a trade have none. */
export async function readCandles(database: Database, query: CandleQuery, side: Side): Promise<CandleRow[]> {
  const { asset, instruments, width, limit, positions } = query
  const past = toldBehind(query.past, query.from)
  const bounds = storedRange(positions, query, { width, before: false, begun: begunOf(past) })
  const about = past.length === 0 ? {} : { ...pastParams(past, width), end: query.to }
  const params = { asset, instruments, width, limit, ...bounds, ...about }
  const sql = rowsSql(tablesRead(bounds, query.from), past.length > 0)
  const rows = sql.length === 0 ? [] : await database.query(candlesSql(side, sql), params)
  const stored = rows.map((raw) => candleOf(new Row(raw)))
  const candles = joined(side === 'oldest' ? stored : stored.toReversed(), heldCandles(query))
  return side === 'oldest' ? candles.slice(0, limit) : candles.slice(-limit)
}

/** Candles of the rows in memory, oldest first. */
function heldCandles({ from, to, width, instruments, positions, past }: CandleQuery): CandleRow[] {
  const isMine = ({ instrument, bucket }: Flow): boolean =>
    bucket >= from && bucket < to && instruments.includes(instrument) && isTold(past, instrument, bucket)
  const byTime = Map.groupBy(positions.held.filter(isMine), ({ bucket }) => floorTo(bucket, width))
  return [...byTime].toSorted(([a], [b]) => a - b).map(([time, rows]) => candleOfRows(time, rows))
}

function candleOfRows(time: Micros, rows: readonly Flow[]): CandleRow {
  const opens = rows.toSorted((a, b) => a.open_time - b.open_time || a.first_id - b.first_id)
  const closes = rows.toSorted((a, b) => a.close_time - b.close_time || a.last_id - b.last_id)
  const sum = (value: (row: Flow) => number): number => rows.reduce((total, row) => total + value(row), 0)
  return {
    time,
    open: opens[0]?.open ?? NaN,
    high: rows.reduce((highest, { high }) => Math.max(highest, high), -Infinity),
    low: rows.reduce((lowest, { low }) => Math.min(lowest, low), Infinity),
    close: closes.at(-1)?.close ?? NaN,
    buy: sum(({ buy }) => buy),
    sell: sum(({ sell }) => sell),
    trades: sum((row) => row.buy_count + row.sell_count),
    backfilled: rows.some(({ part }) => part !== 0),
    made: ofTrades,
  }
}

/** Both in order; what is in memory lies behind all that is stored, so that they share one candle at most. */
function joined(stored: readonly CandleRow[], held: readonly CandleRow[]): CandleRow[] {
  const [last, first] = [stored.at(-1), held[0]]
  if (last === undefined || first === undefined || last.time !== first.time) return [...stored, ...held]
  const one = {
    time: last.time,
    open: last.open,
    high: Math.max(last.high, first.high),
    low: Math.min(last.low, first.low),
    close: first.close,
    buy: last.buy + first.buy,
    sell: last.sell + first.sell,
    trades: last.trades + first.trades,
    backfilled: last.backfilled || first.backfilled,
    made: joinedRange(last.made, first.made),
  }
  return [...stored.slice(0, -1), one, ...held.slice(1)]
}

function candleOf(row: Row): CandleRow {
  return {
    time: row.number('time_us'),
    open: row.number('o'),
    high: row.number('h'),
    low: row.number('l'),
    close: row.number('c'),
    buy: row.number('buy_sum'),
    sell: row.number('sell_sum'),
    trades: row.number('trades_sum'),
    backfilled: row.number('late_parts') > 0,
    made: sourceRangeOf(row),
  }
}
