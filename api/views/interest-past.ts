import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql, timeParam } from './time.ts'

const HOUR: Micros = 3_600_000_000
/** A reading this long before a moment still tells of it: venues give their past by the hour. */
const REACH: Micros = HOUR + 600_000_000

/** Open interest as it was a while ago, base units of one side, by asset and venue. */
export type PastInterest = ReadonlyMap<string, number>

const beforeSql = `SELECT asset, venue, argMax(open_interest.open_interest, time) AS units, ${microsSql('max(time)')} AS at_us
  FROM open_interest WHERE time >= ${timeParam('from')} AND time < ${timeParam('to')} GROUP BY asset, venue`

export function interestKey(asset: string, venue: string): string {
  return `${asset}|${venue}`
}

/** What each venue said last before a moment, of all assets at once. */
export async function readInterestBefore(database: Database, time: Micros): Promise<PastInterest> {
  const rows = await database.query(beforeSql, { from: time - REACH, to: time })
  return new Map(
    rows.map((raw) => {
      const row = new Row(raw)
      return [interestKey(row.text('asset'), row.text('venue')), row.number('units')]
    }),
  )
}
