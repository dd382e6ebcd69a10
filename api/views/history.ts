import type { Flow, Micros } from '../../schemas/records.ts'
import { partsOf } from '../../schemas/venues.ts'
import { Row, type Database } from './database.ts'
import { storedRange, type FlowPlaces } from './flow.ts'
import { bucketSql, bucketsOf, ceilTo, floorTo, intervals, type Range } from './range.ts'
import { iso, timeParam } from './time.ts'
import type { TradeVenueRow } from '../../schemas/venues.ts'

/** One venue's flow in one bucket, or before the first bucket (`time` null). Base units. */
export interface FlowRow {
  readonly venue: string
  readonly time: Micros | null
  readonly buy: number
  readonly sell: number
  /** Some of its trades came later; of whole hours only what came hours later: gaps tell the rest. */
  readonly backfilled: boolean
}

/** Where whole hours are read as hours, and everything else. */
const fromStart = {
  hours: `hour < ${timeParam('hours')}`,
  buckets: `bucket >= ${timeParam('hours')} AND bucket < ${timeParam('to')}`,
}
/** The same from an anchor on, which may lie within an hour: what there is of that is read as buckets too. */
const fromAnchor = {
  hours: `hour >= ${timeParam('whole')} AND hour < ${timeParam('hours')}`,
  buckets: `bucket >= ${timeParam('anchor')} AND bucket < ${timeParam('to')}
      AND (bucket < ${timeParam('whole')} OR bucket >= ${timeParam('hours')})`,
}

function flowSql({ hours, buckets }: typeof fromStart): string {
  return `SELECT venue, if(at < ${timeParam('from')}, -1, ${bucketSql('at')}) AS time_us,
  sumKahan(buy) AS buy_sum, sumKahan(sell) AS sell_sum, countIf(part != 0) AS late_parts
  FROM (SELECT venue, hour AS at, part, buy, sell FROM flow_1h WHERE asset = {asset:String} AND ${hours}
    UNION ALL SELECT venue, bucket AS at, part, buy, sell FROM flow_10s WHERE asset = {asset:String} AND ${buckets})
  GROUP BY venue, time_us`
}

interface FlowQuery extends Range {
  readonly asset: string
  readonly width: Micros
  readonly places: FlowPlaces
  /** What lies before it does not count; undefined: all counts. */
  readonly anchor: Micros | undefined
}

/** The flow of a range by bucket and venue, with each venue's sum of what lies before it. */
export async function readFlow(
  database: Database,
  { asset, width, places, anchor, ...range }: FlowQuery,
): Promise<FlowRow[]> {
  const bounds = storedRange(places, range, { width, before: true })
  const from = anchor === undefined ? {} : { anchor, whole: ceilTo(anchor, intervals['1h']) }
  const sql = flowSql(anchor === undefined ? fromStart : fromAnchor)
  const rows = (await database.query(sql, { asset, width, ...bounds, ...from })).map((raw) => flowOf(new Row(raw)))
  const counts = ({ bucket }: Flow): boolean => bucket < range.to && bucket >= (anchor ?? 0)
  const held = places.held.filter(counts).map((row) => heldFlow(row, range, width))
  return [...Map.groupBy([...rows, ...held], ({ venue, time }) => `${venue}|${time ?? ''}`).values()].map(sumOf)
}

/** Of rows of one venue and bucket, one at least. */
function sumOf(rows: readonly FlowRow[]): FlowRow {
  const { venue = '', time = null } = rows[0] ?? {}
  const sum = (name: 'buy' | 'sell'): number => rows.reduce((total, row) => total + row[name], 0)
  return { venue, time, buy: sum('buy'), sell: sum('sell'), backfilled: rows.some(({ backfilled }) => backfilled) }
}

function flowOf(row: Row): FlowRow {
  const time = row.number('time_us')
  return {
    venue: row.text('venue'),
    time: time < 0 ? null : time,
    buy: row.number('buy_sum'),
    sell: row.number('sell_sum'),
    backfilled: row.number('late_parts') > 0,
  }
}

function heldFlow({ instrument, bucket, part, buy, sell }: Flow, { from }: Range, width: Micros): FlowRow {
  const time = bucket < from ? null : floorTo(bucket, width)
  return { venue: partsOf(instrument).venue, time, buy, sell, backfilled: part !== 0 }
}

interface VenuePoint {
  readonly delta: number
  readonly buy_volume: number
  readonly sell_volume: number
  readonly cvd: number
}

export interface Point extends VenuePoint {
  readonly time: string
  readonly exchanges: Readonly<Record<string, VenuePoint>>
}

/** A point for every bucket of the range, oldest first, with the time of each. Totals are sums in the venues' order. */
export function pointsOf(
  rows: readonly FlowRow[],
  range: Range,
  { width, counted }: { readonly width: Micros; readonly counted: readonly TradeVenueRow[] },
): { time: Micros; backfilled: boolean; point: Point }[] {
  const byKey = new Map(rows.map((row) => [`${row.venue}|${row.time ?? 'before'}`, row]))
  const running = new Map(counted.map(({ venue }) => [venue as string, deltaOf(byKey.get(`${venue}|before`))]))
  return bucketsOf(range, width).map((time) => {
    const flows = counted.map(({ venue }) => [venue, byKey.get(`${venue}|${time}`)] as const)
    const exchanges = flows.map(([venue, flow]) => {
      const cvd = (running.get(venue) ?? 0) + deltaOf(flow)
      running.set(venue, cvd)
      return [venue, { delta: deltaOf(flow), buy_volume: flow?.buy ?? 0, sell_volume: flow?.sell ?? 0, cvd }] as const
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
  }
}
