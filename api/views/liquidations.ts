import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql, timeParam } from './time.ts'

/** A position that a venue closed by force. Base units, quote units; `partition` and `offset`: its place in the log. */
export interface LiquidationRow {
  readonly asset: string
  readonly venue: string
  readonly side: string
  readonly size: number
  readonly price: number
  readonly priceKind: string
  readonly value: number
  readonly completeness: string
  readonly time: Micros
  readonly partition: number
  readonly offset: number
}

/** Counts and values of two windows that end now. */
export interface LiquidationStats {
  readonly hour: { events: number; longs: number; shorts: number; usd: number }
  readonly day: { events: number; usd: number }
  /** When our feeds had the first one that is in the log; null: none. */
  readonly firstReceived: Micros | null
}

/** `any`: of all assets. Up to one mark, so that two queries tell of the same events. */
const ofAsset = `({any:UInt8} = 1 OR asset = {asset:String}) AND received <= ${timeParam('now')}`

const eventsSql = `SELECT asset, venue, toString(side) AS side, size, price, toString(price_kind) AS price_kind, value,
  toString(completeness) AS completeness, ${microsSql('time')} AS time_us, partition, offset FROM liquidations
  WHERE ${ofAsset} AND time >= ${timeParam('from')} ORDER BY time DESC, offset DESC, partition DESC
  LIMIT {limit:UInt32}`

const inHour = `time >= ${timeParam('hour')}`
const statsSql = `SELECT count() AS day_events, sumKahan(value) AS day_usd, countIf(${inHour}) AS hour_events,
  countIf(${inHour} AND side = 'long') AS hour_longs, countIf(${inHour} AND side = 'short') AS hour_shorts,
  sumKahanIf(value, ${inHour}) AS hour_usd FROM liquidations WHERE ${ofAsset} AND time >= ${timeParam('day')}`
const firstSql = `SELECT count() AS events, ${microsSql('min(received)')} AS first_us FROM liquidations`

const params = (asset: string | null): { any: number; asset: string } => ({
  any: asset === null ? 1 : 0,
  asset: asset ?? '',
})

/** The newest liquidations since `from`, of one asset or (null) of all, newest first. */
export async function readLiquidations(
  database: Database,
  asset: string | null,
  { from, now, limit }: { from: Micros; now: Micros; limit: number },
): Promise<LiquidationRow[]> {
  const rows = await database.query(eventsSql, { ...params(asset), from, now, limit })
  return rows.map((raw) => {
    const row = new Row(raw)
    return {
      asset: row.text('asset'),
      venue: row.text('venue'),
      side: row.text('side'),
      size: row.number('size'),
      price: row.number('price'),
      priceKind: row.text('price_kind'),
      value: row.number('value'),
      completeness: row.text('completeness'),
      time: row.number('time_us'),
      partition: row.number('partition'),
      offset: row.number('offset'),
    }
  })
}

/** Figures of the windows from `hour` and from `day` on, of one asset or (null) of all. */
export async function readLiquidationStats(
  database: Database,
  asset: string | null,
  windows: { hour: Micros; day: Micros; now: Micros },
): Promise<LiquidationStats> {
  const [stats, firsts] = await Promise.all([
    database.query(statsSql, { ...params(asset), ...windows }),
    database.query(firstSql, {}),
  ])
  const row = new Row(stats[0])
  const first = new Row(firsts[0])
  return {
    hour: {
      events: row.number('hour_events'),
      longs: row.number('hour_longs'),
      shorts: row.number('hour_shorts'),
      usd: row.number('hour_usd'),
    },
    day: { events: row.number('day_events'), usd: row.number('day_usd') },
    firstReceived: first.number('events') === 0 ? null : first.number('first_us'),
  }
}
