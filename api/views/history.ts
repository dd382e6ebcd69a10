import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { bucketsOf, type Range } from './range.ts'
import { iso, microsSql, timeParam } from './time.ts'
import { venueNames } from './venues.ts'

const flowTimeSql = `SELECT ${microsSql('time')} AS time_us FROM partition_times
  WHERE topic = 'derived.flow' AND partition = {partition:UInt16}`

/** The newest mark of a partition of the derived data that is in the views; undefined before the first. */
export async function readFlowTime(database: Database, partition: number): Promise<Micros | undefined> {
  const [row] = await database.query(flowTimeSql, { partition })
  return row === undefined ? undefined : new Row(row).number('time_us')
}

/** One venue's flow in one bucket, or before the first bucket (`time` null). Base units. */
export interface FlowRow {
  readonly venue: string
  readonly time: Micros | null
  readonly buy: number
  readonly sell: number
  readonly backfilled: boolean
  readonly newest: Micros
}

const flowSql = `SELECT venue,
  if(bucket < ${timeParam('from')}, -1, intDiv(${microsSql('bucket')}, {width:Int64}) * {width:Int64}) AS time_us,
  sumKahan(buy) AS buy_sum, sumKahan(sell) AS sell_sum, countIf(part != 0) AS late_parts,
  ${microsSql('max(close_time)')} AS newest_us
  FROM flow_10s WHERE asset = {asset:String} AND bucket < ${timeParam('to')} GROUP BY venue, time_us`

/** The flow of a range by bucket and venue, with each venue's sum of all that lies before it. */
export async function readFlow(database: Database, asset: string, range: Range, width: Micros): Promise<FlowRow[]> {
  const rows = await database.query(flowSql, { asset, ...range, width })
  return rows.map((raw) => {
    const row = new Row(raw)
    const time = row.number('time_us')
    return {
      venue: row.text('venue'),
      time: time < 0 ? null : time,
      buy: row.number('buy_sum'),
      sell: row.number('sell_sum'),
      backfilled: row.number('late_parts') > 0,
      newest: row.number('newest_us'),
    }
  })
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
  width: Micros,
): { time: Micros; backfilled: boolean; point: Point }[] {
  const byKey = new Map(rows.map((row) => [`${row.venue}|${row.time ?? 'before'}`, row]))
  const running = new Map(venueNames.map((venue) => [venue, deltaOf(byKey.get(`${venue}|before`))]))
  return bucketsOf(range, width).map((time) => {
    const flows = venueNames.map((venue) => [venue, byKey.get(`${venue}|${time}`)] as const)
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
