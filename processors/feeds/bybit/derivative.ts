import type { Micros } from '../../../schemas/records.ts'
import { factEvent, factRows, isAmount, isSigned, priceOf, refusedField } from '../fact-fields.ts'
import { badBody, badField, countOf, isCount, isRecord, isSymbol, microsOf } from '../fields.ts'
import type { DerivativeFact, FactRow } from '../source.ts'
import type { FrameEvent, RestAnswer } from '../venue.ts'
import { listOf, refusal } from './backfill.ts'
import { timeOf } from './spot.ts'

/** A message of `tickers.<symbol>`: a snapshot, then deltas with what has changed. Nothing of ours in it: no event. */
export function readDerivativeMessage({ data, ts }: Record<string, unknown>): FrameEvent[] {
  const time = isCount(ts) ? microsOf(ts) : undefined
  if (time === undefined) return [badField]
  const row = readDerivative(data, time)
  return row === undefined ? [] : [factEvent(row)]
}

/** `tickers?category=linear`: the whole market with funding, mark, index and open interest, of the answer's time. */
export function parseDerivatives(body: unknown): RestAnswer<FactRow> {
  const list = listOf(body)
  if (list === undefined) return refusal(body) ?? badBody('a result with a list')
  const time = timeOf(body)
  if (time === undefined) return badBody('a time')
  return factRows(list, (row) => (isDated(row) ? undefined : readDerivative(row, time)))
}

/** Futures that end stand among the perpetuals; theirs is "deliveryTime": "0" or missing. */
function isDated(row: unknown): boolean {
  return isRecord(row) && row['deliveryTime'] !== undefined && row['deliveryTime'] !== '0'
}

/** Each group as far as it is said; undefined: none of them. */
function readDerivative(row: unknown, time: Micros): FactRow | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol'])) return refusedField
  const groups = [rateOf(row, time), markOf(row, time), openInterestOf(row, time)]
  if (groups.includes(undefined)) return refusedField
  const said: DerivativeFact = Object.assign({ kind: 'derivative' as const, symbol: row['symbol'] }, ...groups)
  return Object.keys(said).length > 2 ? said : undefined
}

/** What a row says of one group: nothing is an empty one, undefined a value that is none. */
type Group<Name extends 'rate' | 'mark' | 'openInterest'> = Pick<DerivativeFact, Name> | undefined

/** "fundingRate" runs for "nextFundingTime"; a delta names only the one that has changed. */
function rateOf({ fundingRate, nextFundingTime }: Record<string, unknown>, time: Micros): Group<'rate'> {
  if (fundingRate === undefined || fundingRate === '') return {}
  if (!isSigned(fundingRate)) return undefined
  if (nextFundingTime === undefined || nextFundingTime === '' || nextFundingTime === '0')
    return { rate: { rate: fundingRate, next: null, time } }
  const next = microsOf(countOf(nextFundingTime) ?? 0)
  return next === undefined ? undefined : { rate: { rate: fundingRate, next, time } }
}

function markOf({ markPrice, indexPrice }: Record<string, unknown>, time: Micros): Group<'mark'> {
  const mark = priceOf(markPrice)
  const index = priceOf(indexPrice)
  if (mark === undefined || index === undefined) return undefined
  return mark === null && index === null ? {} : { mark: { mark, index, time } }
}

/** "openInterest" counts both sides; "singleOpenInterest", since June 2026, one. */
function openInterestOf(row: Record<string, unknown>, time: Micros): Group<'openInterest'> {
  const { singleOpenInterest: single, openInterest: both } = row
  if (single !== undefined && single !== '')
    return isAmount(single) ? { openInterest: { size: single, time } } : undefined
  if (both === undefined || both === '') return {}
  return isAmount(both) ? { openInterest: { size: halved(both), time } } : undefined
}

/** Half of a decimal, exactly: five times it with the point one place to the left. */
export function halved(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.split('.')
  const decimals = fraction.length + 1
  const digits = String(BigInt(whole + fraction) * 5n).padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
