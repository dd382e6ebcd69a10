import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import type { FactSource } from './readings.ts'
import { microsSql, timeParam } from './time.ts'

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
