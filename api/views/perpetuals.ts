import type { LongShortRatio, Micros } from '../../schemas/records.ts'
import { partsOf, fundingVenues, type FundingVenue } from '../../schemas/venues.ts'
import { type MarginTerms, USUAL_MARGIN } from '../../processors/liquidations/leverage.ts'
import type { Present } from '../present/present.ts'
import type { FundingRow } from './funding.ts'
import type { Aged } from './legs.ts'
import { Row, type Database } from './database.ts'
import { microsSql, timeParam } from './time.ts'

/** Running rates older than this are stale. */
export const FUNDING_STALE: Micros = 120_000_000
/** Open interest older than this is stale. */
export const INTEREST_STALE: Micros = 120_000_000
/**
 * Marks older than this are stale. They reach us through `derived.funding`, which samples them, so the limit is that of
 * marks that are polled.
 */
export const MARK_STALE: Micros = 60_000_000

/** A perpetual whose running rate, mark and index are known. */
export interface Perpetual extends FundingRow, Aged {
  readonly rate: number
  readonly rate_time: Micros
  readonly next_settlement: Micros
  readonly mark: number
  readonly index: number
  readonly mark_time: Micros
}

/** A perpetual whose mark is known. */
export interface Marked extends FundingRow, Aged {
  readonly mark: number
  readonly mark_time: Micros
}

/** A perpetual whose open interest is known; base units of one side. */
interface Interested extends FundingRow, Aged {
  readonly open_interest: number
  readonly open_interest_time: Micros
}

/** Those of the rows that say all of it, with their ages. */
export function perpetualsOf(rows: readonly FundingRow[]): Perpetual[] {
  return rows.flatMap((row) => {
    const { rate, rate_time, next_settlement, mark, index, mark_time } = row
    if (rate === null || rate_time === null || next_settlement === null) return []
    if (mark === null || index === null || mark_time === null) return []
    const freshUntil = Math.min(rate_time + FUNDING_STALE, mark_time + MARK_STALE)
    const asOf = Math.max(rate_time, mark_time)
    return [{ ...row, rate, rate_time, next_settlement, mark, index, mark_time, asOf, freshUntil }]
  })
}

/** Those of the rows that have a mark, aged by it. */
export function markedOf(rows: readonly FundingRow[]): Marked[] {
  return rows.flatMap((row) => {
    const { mark, mark_time } = row
    if (mark === null || mark_time === null) return []
    return [{ ...row, mark, mark_time, asOf: mark_time, freshUntil: mark_time + MARK_STALE }]
  })
}

/** Those of the rows that have an open interest, aged by it. */
export function interestedOf(rows: readonly FundingRow[]): Interested[] {
  return rows.flatMap((row) => {
    const { open_interest, open_interest_time } = row
    if (open_interest === null || open_interest_time === null) return []
    const freshUntil = open_interest_time + INTEREST_STALE
    return [{ ...row, open_interest, open_interest_time, asOf: open_interest_time, freshUntil }]
  })
}

/** The same, with marks that are fresh at `clock`, else null; where one is, the row is as of the later of both. */
export function valuedOf(rows: readonly FundingRow[], clock: Micros): Interested[] {
  return interestedOf(rows).map((row) => {
    const isMarked = row.mark_time !== null && row.mark_time + MARK_STALE >= clock
    if (!isMarked || row.mark === null) return { ...row, mark: null }
    return { ...row, asOf: Math.max(row.asOf, row.mark_time) }
  })
}

/** How a venue's top traders are positioned. */
export interface RatioRow extends LongShortRatio {
  readonly exchange: string
}

/** The newest position ratio of each venue's top traders. */
export function ratiosOf(present: Present, asset: string): RatioRow[] {
  const rows = [...present.of(asset).ratio.values()].filter((row) => row.asset === asset)
  return rows.map((row) => ({ ...row, exchange: partsOf(row.instrument).venue }))
}

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
