import type { Stretch } from '../../processors/cvd/covered-time.ts'
import type { Flow, Micros } from '../../schemas/records.ts'
import { partsOf, type TradeVenueRow } from '../../schemas/venues.ts'
import { Row, type Database } from './database.ts'
import {
  bucketsRead,
  bucketsTable,
  fivesRead,
  fivesTable,
  hoursTable,
  storedRange,
  tablesRead,
  venueSql,
  type FlowPositions,
  type TablesRead,
} from './flow.ts'
import {
  begunOf,
  candlesOfPast,
  isTold,
  pastParams,
  sourceRangeOf,
  sourceSql,
  toldBehind,
  untilSql,
  type Past,
} from './past.ts'
import { joinedRange, ofTrades, sourceOf, type Source, type SourceRange } from './held-past.ts'
import { bucketSql, bucketsOf, ceilTo, floorTo, intervals, type Range } from './range.ts'
import { iso, microsSql, timeParam } from './time.ts'

/** One venue's flow in one bucket, or before the first bucket (`time` null). Base units. */
export interface FlowRow {
  readonly venue: string
  readonly time: Micros | null
  readonly buy: number
  readonly sell: number
  /** Some of its trades came later; of hours and five minutes only what came hours later: gaps tell the rest. */
  readonly backfilled: boolean
  readonly made: SourceRange
}

/** What is read as hours, as five minutes, and everything else. */
const fromStart = {
  hours: `hour < ${timeParam('hours')}`,
  fives: fivesRead,
  buckets: `bucket < ${timeParam('to')} AND ${bucketsRead}`,
}
/** The same from an anchor on. It and the first trades that count may lie within an hour: what there is of that is read as buckets too. */
const fromAnchor = {
  hours: `hour >= ${timeParam('whole')} AND hour < ${timeParam('hours')}`,
  fives: `start >= ${timeParam('whole')} AND ${fivesRead}`,
  buckets: `bucket >= ${timeParam('anchor')} AND bucket < ${timeParam('to')} AND (bucket < ${timeParam('whole')} OR ${bucketsRead})`,
}

/** Of a candle that says what takers bought. */
const candle = `assumeNotNull(taker_buy) AS bought, volume - bought AS sold, ${sourceSql} AS past ${candlesOfPast}
  AND taker_buy IS NOT NULL`
const isEarly = `at < ${timeParam('from')}`
/**
 * What candles add. The running total is that of all trades in the log: a trade whose hour is told by a candle counts before
 * the range, wherever it lies, and so, taken off, does each candle of the range and behind it. From an anchor on all is as it is told.
 */
const past = {
  fromStart: {
    early: `(${isEarly} OR ${microsSql('at')} < ${untilSql})`,
    told: '1',
    candles: `SELECT venue, placed.2 AS time_us, 0 AS part, placed.1 * bought AS buy, placed.1 * sold AS sell, past
      FROM (SELECT ${venueSql} AS venue, arrayJoin([(1, ${bucketSql('start')}), (-1, -1)]) AS placed, ${candle}
        AND start >= ${timeParam('from')}) WHERE placed.2 < {end:Int64}`,
  },
  fromAnchor: {
    early: isEarly,
    told: `${microsSql('at')} >= ${untilSql}`,
    candles: `SELECT venue, if(start < ${timeParam('from')}, -1, ${bucketSql('start')}) AS time_us, 0 AS part, bought AS buy,
      sold AS sell, past FROM (SELECT ${venueSql} AS venue, start, ${candle}
        AND start >= ${timeParam('anchor')} AND ${microsSql('start')} < {end:Int64})`,
  },
}

/** Trades behind the range whose hour is told by a candle. */
const behindSql = `SELECT ${venueSql} AS venue, -1 AS time_us, part, buy, sell, 0 AS past FROM ${bucketsTable} WHERE asset = {asset:String}
  AND bucket >= ${timeParam('to')} AND bucket < ${timeParam('untold')} AND ${microsSql('bucket')} < ${untilSql}`

interface Parts extends TablesRead {
  readonly from: 'fromStart' | 'fromAnchor'
  readonly hasPast: boolean
  /** There are trades behind the range. */
  readonly behind: boolean
}

function flowSql({ from, hasPast, behind, ...tables }: Parts): string | undefined {
  const where = { fromStart, fromAnchor }[from]
  const { early, told, candles } = hasPast ? past[from] : { early: isEarly, told: '1', candles: '' }
  const rowsOf = (name: keyof TablesRead, table: string, time: string): string[] =>
    tables[name]
      ? [
          `SELECT ${venueSql} AS venue, instrument, ${time} AS at, part, buy, sell FROM ${table} WHERE asset = {asset:String} AND ${where[name]}`,
        ]
      : []
  const rows = [
    ...rowsOf('hours', hoursTable, 'hour'),
    ...rowsOf('fives', fivesTable, 'start'),
    ...rowsOf('buckets', bucketsTable, 'bucket'),
  ]
  const trades = `SELECT venue, if(${early}, -1, ${bucketSql('at')}) AS time_us, part, buy, sell, 0 AS past
    FROM (${rows.join(' UNION ALL ')}) WHERE ${told}`
  const all = [...(rows.length > 0 ? [trades] : []), ...(hasPast ? [candles] : []), ...(behind ? [behindSql] : [])]
  if (all.length === 0) return undefined
  return `SELECT venue, time_us, sumKahan(buy) AS buy_sum, sumKahan(sell) AS sell_sum, countIf(part != 0) AS late_parts,
  min(past) AS past_least, max(past) AS past_most FROM (${all.join(' UNION ALL ')}) GROUP BY venue, time_us`
}

interface FlowQuery extends Range {
  readonly asset: string
  readonly width: Micros
  readonly positions: FlowPositions
  /** What lies before it does not count; undefined: all counts. */
  readonly anchor: Micros | undefined
  /** Of the instruments whose candles say what takers bought. */
  readonly past: readonly Past[]
}

/** The flow of a range by bucket and venue, with each venue's sum of what lies before it. */
export async function readFlow(
  database: Database,
  { asset, width, positions, anchor, past: own, ...range }: FlowQuery,
): Promise<FlowRow[]> {
  const told = toldBehind(own, anchor ?? range.from)
  const begun = begunOf(told)
  const bounds = storedRange(positions, range, { width, before: true, begun })
  const whole = anchor === undefined ? 0 : ceilTo(Math.max(anchor, begun), intervals['1h'])
  const untold = untoldTo(told, positions)
  const tables = tablesRead(bounds, whole)
  const sql = flowSql({
    ...tables,
    buckets: tables.buckets || (anchor !== undefined && anchor < Math.min(whole, bounds.to)),
    from: anchor === undefined ? 'fromStart' : 'fromAnchor',
    hasPast: told.length > 0,
    behind: anchor === undefined && bounds.to < untold,
  })
  const from = anchor === undefined ? {} : { anchor, whole }
  const about = told.length === 0 ? {} : { ...pastParams(told, width), end: range.to, untold }
  const rows = sql === undefined ? [] : await database.query(sql, { asset, width, ...bounds, ...from, ...about })
  const isOwn = ({ instrument, bucket }: Flow): boolean => isTold(own, instrument, bucket)
  const counts = (row: Flow): boolean =>
    anchor === undefined
      ? row.bucket < range.to || !isOwn(row)
      : row.bucket < range.to && row.bucket >= anchor && isOwn(row)
  const held = positions.held.filter(counts).map((row) => heldFlow(row, isOwn(row) ? range.from : Infinity, width))
  const stored = rows.map((raw) => flowOf(new Row(raw)))
  return [...Map.groupBy([...stored, ...held], ({ venue, time }) => `${venue}|${time ?? ''}`).values()].map(sumOf)
}

/** Up to where ClickHouse has trades whose hour is told by a candle. */
function untoldTo(past: readonly Past[], { storedTo }: FlowPositions): Micros {
  return Math.min(storedTo, Math.max(0, ...past.map(({ until }) => (until === Infinity ? 0 : until))))
}

/** Of rows of one venue and bucket, one at least. */
function sumOf(rows: readonly FlowRow[]): FlowRow {
  const { venue = '', time = null } = rows[0] ?? {}
  const sum = (name: 'buy' | 'sell'): number => rows.reduce((total, row) => total + row[name], 0)
  const made = rows.map((row) => row.made).reduce(joinedRange, rows[0]?.made ?? ofTrades)
  return {
    venue,
    time,
    buy: sum('buy'),
    sell: sum('sell'),
    backfilled: rows.some(({ backfilled }) => backfilled),
    made,
  }
}

function flowOf(row: Row): FlowRow {
  const time = row.number('time_us')
  return {
    venue: row.text('venue'),
    time: time < 0 ? null : time,
    buy: row.number('buy_sum'),
    sell: row.number('sell_sum'),
    backfilled: row.number('late_parts') > 0,
    made: sourceRangeOf(row),
  }
}

/** `from`: what lies before it counts before the range. */
function heldFlow({ instrument, bucket, part, buy, sell }: Flow, from: Micros, width: Micros): FlowRow {
  const time = bucket < from ? null : floorTo(bucket, width)
  return { venue: partsOf(instrument).venue, time, buy, sell, backfilled: part !== 0, made: ofTrades }
}

interface VenuePoint {
  readonly delta: number
  readonly buy_volume: number
  readonly sell_volume: number
  readonly cvd: number
  /** Null: nothing is known of that time. */
  readonly source: Source | null
}

export interface Point extends VenuePoint {
  readonly time: string
  readonly exchanges: Readonly<Record<string, VenuePoint>>
}

interface PointsOf {
  readonly width: Micros
  readonly counted: readonly TradeVenueRow[]
  /** Whether a venue's trades count at some time of a bucket, were there any. */
  readonly isHeard: (venue: string, bucket: Stretch) => boolean
}

/** A point for every bucket of the range, oldest first, with the time of each. Totals are sums in the venues' order. */
export function pointsOf(
  rows: readonly FlowRow[],
  range: Range,
  { width, counted, isHeard }: PointsOf,
): { time: Micros; backfilled: boolean; point: Point }[] {
  const byKey = new Map(rows.map((row) => [`${row.venue}|${row.time ?? 'before'}`, row]))
  const running = new Map(counted.map(({ venue }) => [venue as string, deltaOf(byKey.get(`${venue}|before`))]))
  return bucketsOf(range, width).map((time) => {
    const flows = counted.map(({ venue }) => [venue, byKey.get(`${venue}|${time}`)] as const)
    const exchanges = flows.map(([venue, flow]) => {
      const cvd = (running.get(venue) ?? 0) + deltaOf(flow)
      running.set(venue, cvd)
      const quiet = isHeard(venue, { from: time, to: time + width }) ? 'trades' : null
      const source = flow === undefined ? quiet : sourceOf(flow.made)
      const volumes = { buy_volume: flow?.buy ?? 0, sell_volume: flow?.sell ?? 0 }
      return [venue, { delta: deltaOf(flow), ...volumes, cvd, source }] as const
    })
    const total = exchanges.map(([, point]) => point).reduce(add)
    const point = { time: iso(time), ...total, exchanges: Object.fromEntries(exchanges) }
    return { time, backfilled: flows.some(([, flow]) => flow?.backfilled === true), point }
  })
}

function deltaOf(flow: FlowRow | undefined): number {
  return flow === undefined ? 0 : flow.buy - flow.sell
}

function add(a: VenuePoint, b: VenuePoint): VenuePoint {
  return {
    delta: a.delta + b.delta,
    buy_volume: a.buy_volume + b.buy_volume,
    sell_volume: a.sell_volume + b.sell_volume,
    cvd: a.cvd + b.cvd,
    source: a.source === b.source || b.source === null ? a.source : a.source === null ? b.source : 'mixed',
  }
}
