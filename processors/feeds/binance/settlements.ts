import { HOUR_MS, isSigned, priceOf, refusedField } from '../fact-fields.ts'
import { isCount, isRecord, isSymbol, microsOf } from '../fields.ts'
import type { FactRow, Poll } from '../source.ts'
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

/** 36 to 39 days, for 100 settlements at 8 hours, in windows of which each is a back-read of some ten pages. */
const WINDOW_MS = 3 * 24 * HOUR_MS
export const WINDOWS = 13

type Calls = Pick<Poll, 'call' | 'parse'>

/** Settled rates of the whole market, of so long until now. */
export function settlementsOf(ms: number): Calls {
  return {
    call: (_whole, now) => pageFrom(now - ms),
    parse: (_whole, body) => parseSettlements(body),
  }
}

/** The same of the window that began `back` windows ago; the newest one is still open. */
export function settlementsOfWindow(back: number): Calls {
  const startOf = (now: number): number => (Math.floor(now / WINDOW_MS) - back) * WINDOW_MS
  const endOf = (now: number): number | undefined => (back === 0 ? undefined : startOf(now) + WINDOW_MS - 1)
  return {
    call: (_whole, now) => pageFrom(startOf(now), endOf(now)),
    parse: (_whole, body, now) => parseSettlements(body, endOf(now)),
  }
}

/** Ascending from a time on, both bounds inclusive. */
function pageFrom(start: number, end?: number): RestCall {
  const until = end === undefined ? '' : `&endTime=${end}`
  return { path: `/fapi/v1/fundingRate?startTime=${start}${until}&limit=${PAGE_SIZE}`, cost: FUNDING_COST }
}

/**
 * More follow page by page, from the last row's time on: its neighbours of the same millisecond come twice rather than
 * never.
 */
function parseSettlements(body: unknown, end?: number): RestAnswer<FactRow> {
  const answer = rowsOf(body, readSettlement)
  if (answer.kind !== 'rows' || !Array.isArray(body) || body.length < PAGE_SIZE) return answer
  const first = timeOf(body[0])
  const last = timeOf(body.at(-1))
  if (first === undefined || last === undefined) return answer
  // A page of one time alone would be its own successor.
  return { ...answer, next: pageFrom(last > first ? last : last + 1, end) }
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
