import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql } from './time.ts'

/** How a venue's top traders are positioned: shares that add up to 1, and the one over the other. */
export interface RatioRow {
  readonly venue: string
  readonly long: number
  readonly short: number
  readonly ratio: number
  /** Start of the venue's period. */
  readonly time: Micros
}

const ratiosSql = `SELECT venue, long_ratio, short_ratio, ls_ratio, ${microsSql('time')} AS time_us FROM latest_ratios
  WHERE asset = {asset:String} AND toString(cohort) = 'top_traders' AND toString(basis) = 'positions'`

/** The newest position ratio of each venue's top traders. */
export async function readRatios(database: Database, asset: string): Promise<RatioRow[]> {
  const rows = await database.query(ratiosSql, { asset })
  return rows.map((raw) => {
    const row = new Row(raw)
    return {
      venue: row.text('venue'),
      long: row.number('long_ratio'),
      short: row.number('short_ratio'),
      ratio: row.number('ls_ratio'),
      time: row.number('time_us'),
    }
  })
}
