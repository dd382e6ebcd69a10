import type { MarginTerms } from '../../processors/liquidations/leverage.ts'
import { USUAL_MARGIN } from '../../processors/liquidations/leverage.ts'
import { fundingVenues, type FundingVenue } from '../../schemas/venues.ts'
import { Row, type Database } from './database.ts'

const termsSql = `SELECT venue, argMax(ifNull(max_leverage, 0), received) AS leverage,
  argMax(if(empty(margin_tiers), ${USUAL_MARGIN}, margin_tiers[1].rate), received) AS margin
  FROM contract_terms WHERE asset = {asset:String} GROUP BY venue`

/** The newest terms of an asset's perpetuals, by venue. */
export async function readTerms(database: Database, asset: string): Promise<Map<FundingVenue, MarginTerms>> {
  const terms = new Map<FundingVenue, MarginTerms>()
  for (const raw of await database.query(termsSql, { asset })) {
    const row = new Row(raw)
    const venue = fundingVenues.find((name) => name === row.text('venue'))
    if (venue === undefined) continue
    terms.set(venue, { maxLeverage: row.number('leverage') || null, margin: row.number('margin') })
  }
  return terms
}
