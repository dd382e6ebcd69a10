import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql } from './time.ts'

const firstSql = `SELECT count() AS buckets, ${microsSql('min(open_time)')} AS first_us
  FROM flow_10s WHERE asset = {asset:String}`

/** Time of an asset's first trade in the log; null: none. */
export async function readFirstTrade(database: Database, asset: string): Promise<Micros | null> {
  const rows = await database.query(firstSql, { asset })
  const row = new Row(rows[0])
  return row.number('buckets') === 0 ? null : row.number('first_us')
}
