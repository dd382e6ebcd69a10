import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import type { Range } from './range.ts'
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
  /** Trade records; a venue may merge several fills into one. */
  readonly trades: number
  readonly backfilled: boolean
  readonly newest: Micros
}

/** Which of a range's candles to give when there are more than `limit`. */
export type Side = 'oldest' | 'newest'

/**
 * Candles are put together from 10 s buckets: the open is that of the earliest bucket part by venue time, the close that
 * of the latest. Of equal times the lower id opens and the higher one closes.
 */
function candlesSql(side: Side): string {
  return `SELECT intDiv(${microsSql('bucket')}, {width:Int64}) * {width:Int64} AS time_us,
  argMin(open, (open_time, first_id)) AS o, max(high) AS h, min(low) AS l, argMax(close, (close_time, last_id)) AS c,
  sumKahan(buy) AS buy_sum, sumKahan(sell) AS sell_sum, sum(buy_count + sell_count) AS trades_sum,
  countIf(part != 0) AS late_parts, ${microsSql('max(close_time)')} AS newest_us
  FROM flow_10s WHERE asset = {asset:String} AND ({venue:String} = 'all' OR venue = {venue:String})
  AND bucket >= ${timeParam('from')} AND bucket < ${timeParam('to')}
  GROUP BY time_us ORDER BY time_us ${side === 'oldest' ? 'ASC' : 'DESC'} LIMIT {limit:UInt32}`
}

/** Candles of a range, oldest first; buckets without a trade have none. `venue`: one of the four, or `all`. */
export async function readCandles(
  database: Database,
  query: Range & { asset: string; venue: string; width: Micros; limit: number },
  side: Side,
): Promise<CandleRow[]> {
  const rows = await database.query(candlesSql(side), { ...query })
  const candles = rows.map((raw) => candleOf(new Row(raw)))
  return side === 'oldest' ? candles : candles.toReversed()
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
    newest: row.number('newest_us'),
  }
}

const boundsSql = `SELECT venue, instrument, ${microsSql('min(open_time)')} AS first_us, ${microsSql('max(close_time)')} AS newest_us
  FROM flow_10s WHERE asset = {asset:String} GROUP BY venue, instrument`

/** Time of the first and newest trade of each of an asset's instruments. */
export async function readBounds(
  database: Database,
  asset: string,
): Promise<{ venue: string; instrument: string; first: Micros; newest: Micros }[]> {
  const rows = await database.query(boundsSql, { asset })
  return rows.map((raw) => {
    const row = new Row(raw)
    const times = { first: row.number('first_us'), newest: row.number('newest_us') }
    return { venue: row.text('venue'), instrument: row.text('instrument'), ...times }
  })
}
