import type { Micros } from '../../schemas/records.ts'
import type { FundingRow } from './funding.ts'
import type { Aged } from './legs.ts'

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
  readonly rateTime: Micros
  readonly nextSettlement: Micros
  readonly mark: number
  readonly index: number
  readonly markTime: Micros
}

/** A perpetual whose mark is known. */
export interface Marked extends FundingRow, Aged {
  readonly mark: number
  readonly markTime: Micros
}

/** A perpetual whose open interest is known; base units of one side. */
interface Interested extends FundingRow, Aged {
  readonly openInterest: number
}

/** Those of the rows that say all of it, with their ages. */
export function perpetualsOf(rows: readonly FundingRow[]): Perpetual[] {
  return rows.flatMap((row) => {
    const { rate, rateTime, nextSettlement, mark, index, markTime } = row
    if (rate === null || rateTime === null || nextSettlement === null) return []
    if (mark === null || index === null || markTime === null) return []
    const freshUntil = Math.min(rateTime + FUNDING_STALE, markTime + MARK_STALE)
    const asOf = Math.max(rateTime, markTime)
    return [{ ...row, rate, rateTime, nextSettlement, mark, index, markTime, asOf, freshUntil }]
  })
}

/** Those of the rows that have a mark, aged by it. */
export function markedOf(rows: readonly FundingRow[]): Marked[] {
  return rows.flatMap((row) => {
    const { mark, markTime } = row
    if (mark === null || markTime === null) return []
    return [{ ...row, mark, markTime, asOf: markTime, freshUntil: markTime + MARK_STALE }]
  })
}

/** Those of the rows that have an open interest, aged by it. */
export function interestedOf(rows: readonly FundingRow[]): Interested[] {
  return rows.flatMap((row) => {
    const { openInterest, openInterestTime: asOf } = row
    return openInterest === null || asOf === null
      ? []
      : [{ ...row, openInterest, asOf, freshUntil: asOf + INTEREST_STALE }]
  })
}
