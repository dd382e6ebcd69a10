import { HOUR_MS, isSigned, priceOf, refusedField } from '../fact-fields.ts'
import { isCount, isRecord, isSymbol, microsOf } from '../fields.ts'
import type { FactRow } from '../source.ts'
import type { RestAnswer, RestCall } from '../venue.ts'
import { rowsOf } from './answers.ts'
import { isUsdtMarket } from './listed.ts'

/** "Default 100; max 1000." */
const PAGE_SIZE = 1000
/**
 * No weight, but 500 calls in 5 minutes per address, together with `fundingInfo`. At this cost the weight's own budget
 * (10,200 in 5 minutes) cannot pay for more than 485.
 */
export const FUNDING_COST = 21

/**
 * Settled rates of the whole market from a time on, ascending; one call has those of a settlement of 1,000 markets. More
 * follow page by page, from the last row's time on: its neighbours of the same millisecond come twice rather than never.
 */
export function settlementsSince(ms: number): RestCall {
  return { path: `/fapi/v1/fundingRate?startTime=${ms}&limit=${PAGE_SIZE}`, cost: FUNDING_COST }
}

export function parseSettlements(body: unknown): RestAnswer<FactRow> {
  const answer = rowsOf(body, readSettlement)
  if (answer.kind !== 'rows' || !Array.isArray(body) || body.length < PAGE_SIZE) return answer
  const first = timeOf(body[0])
  const last = timeOf(body.at(-1))
  if (first === undefined || last === undefined) return answer
  // A page of one time alone would be its own successor.
  return { ...answer, next: settlementsSince(last > first ? last : last + 1) }
}

function timeOf(row: unknown): number | undefined {
  const ms = isRecord(row) ? row['fundingTime'] : undefined
  return isCount(ms) ? ms : undefined
}

/** Rows before 2023 have no `markPrice`. Times are some milliseconds after the full hour. */
function readSettlement(row: unknown): FactRow | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol'])) return refusedField
  const { symbol, fundingRate: rate, fundingTime, markPrice } = row
  const time = isCount(fundingTime) ? microsOf(fundingTime) : undefined
  const mark = priceOf(markPrice)
  if (time === undefined || !isSigned(rate) || mark === undefined) return refusedField
  return isUsdtMarket(symbol) ? { kind: 'settlement', symbol, rate, mark, time } : undefined
}

/** Windows of the two readers: what may be missed while we are away, and what answers show of the past. */
export const RECENT_MS = 2 * HOUR_MS
/** 100 settlements at 8 hours, and one more. */
export const PAST_MS = 101 * 8 * HOUR_MS
