import type { Micros } from '../../../../schemas/records.ts'
import type { FactRow } from '../events.ts'
import { HOUR_MS, isAmount, isSigned, refusedField } from '../fact-fields.ts'
import { countOf, isDecimal, isRecord, isSymbol, microsOf } from '../fields.ts'
import type { ReadRow } from './messages.ts'

/** Digits behind the point that count of a daily interest rate. */
const INTEREST_DECIMALS = 12

type Row = Record<string, unknown>

/**
 * Rows of swaps only: `funding-rate?instId=ANY` has futures without an end among them. Some old and shortened answers do
 * not say the type, but the name does.
 */
function ofSwap(read: (row: Row, symbol: string) => readonly FactRow[]): ReadRow {
  return (row) => {
    if (!isRecord(row) || !isSymbol(row['instId'])) return [refusedField]
    const { instId, instType = instId.endsWith('-SWAP') ? 'SWAP' : 'other' } = row
    return instType === 'SWAP' ? read(row, row['instId']) : []
  }
}

/**
 * `funding-rate`: "fundingRate" runs for "fundingTime", the settlement to come; "nextFundingTime" is the one after it.
 * "premium" is the index of this moment, not a minute's close: those are of `premium-history`.
 */
export const readFunding = ofSwap((row, symbol) => {
  const rate = row['fundingRate']
  const next = timeOf(row['fundingTime'])
  const time = timeOf(row['ts'])
  if (!isSigned(rate) || next === undefined || time === undefined) return [refusedField]
  return [{ kind: 'derivative', symbol, rate: { rate, next, time } }, ...readSettled(symbol, row)]
})

/** "settState settled: settFundingRate is that of the previous settlement", at "prevFundingTime" where that is told. */
function readSettled(symbol: string, row: Row): readonly FactRow[] {
  const { settState, settFundingRate: rate, prevFundingTime } = row
  if (settState !== 'settled' || prevFundingTime === undefined || prevFundingTime === '') return []
  const time = timeOf(prevFundingTime)
  if (!isSigned(rate) || time === undefined) return [refusedField]
  return [{ kind: 'settlement', symbol, rate, mark: null, time }]
}

/** The terms in `funding-rate`: interval, cap, floor, interest. */
export const readTerms = ofSwap((row, symbol) => {
  const next = timeOf(row['fundingTime'])
  const after = timeOf(row['nextFundingTime'])
  if (next === undefined || after === undefined || after <= next) return [refusedField]
  const intervalHours = (after - next) / 1_000 / HOUR_MS
  const cap = limitOf(row['maxFundingRate'])
  const floor = limitOf(row['minFundingRate'])
  if (cap === undefined || floor === undefined) return [refusedField]
  const limits = { ...(cap === null ? {} : { cap }), ...(floor === null ? {} : { floor }) }
  return [{ kind: 'terms', symbol, intervalHours, ...limits, interestDaily: interestOf(row, intervalHours) }]
})

function limitOf(value: unknown): number | null | undefined {
  if (value === undefined || value === '') return null
  return isSigned(value) ? Number(value) : undefined
}

/** "interestRate" is for one interval; where it is empty, 0.03 % a day by the formula with one, none by the other. */
function interestOf({ interestRate, formulaType }: Row, intervalHours: number): number {
  if (isSigned(interestRate)) return Number(((Number(interestRate) * 24) / intervalHours).toFixed(INTEREST_DECIMALS))
  return formulaType === 'noRate' ? 0 : 0.0003
}

/**
 * Highest leverage, of the list of markets. The tiers of margin (`position-tiers`) count contracts: their notionals
 * would move with the price, so they are no terms.
 */
export const readLeverage = ofSwap((row, symbol) => {
  if (row['settleCcy'] !== 'USDT') return []
  return isDecimal(row['lever']) ? [{ kind: 'terms', symbol, maxLeverage: Number(row['lever']) }] : [refusedField]
})

/** `mark-price`. */
export const readMark = ofSwap((row, symbol) => {
  const mark = row['markPx']
  const time = timeOf(row['ts'])
  if (!isDecimal(mark) || time === undefined) return [refusedField]
  return [{ kind: 'derivative', symbol, mark: { mark, index: null, time } }]
})

/** `index-tickers`: the index BTC-USDT is that of the swap BTC-USDT-SWAP. */
export function readIndex(row: unknown): readonly FactRow[] {
  if (!isRecord(row)) return [refusedField]
  const { instId, idxPx: index } = row
  const time = timeOf(row['ts'])
  if (!isSymbol(instId) || !isDecimal(index) || time === undefined) return [refusedField]
  return [{ kind: 'derivative', symbol: `${instId}-SWAP`, mark: { mark: null, index, time } }]
}

/** `open-interest`: "oi" counts contracts, as the sizes of trades do; "oiCcy" the same in coins. */
export const readOpenInterest = ofSwap((row, symbol) => {
  const size = row['oi']
  const time = timeOf(row['ts'])
  if (!isAmount(size) || time === undefined) return [refusedField]
  return [{ kind: 'derivative', symbol, openInterest: { size, time } }]
})

export function timeOf(text: unknown): Micros | undefined {
  return microsOf(countOf(text) ?? 0)
}

/**
 * An instrument's part of a message of `liquidation-orders`: "recent liquidation orders, not the total". A message may
 * come again after subscribing; rows have no id, so what they say is one, with a number for those that say the same.
 */
export function readLiquidations(row: unknown): readonly FactRow[] {
  if (!isRecord(row) || !isSymbol(row['instId']) || !Array.isArray(row['details'])) return [refusedField]
  const { instId, details } = row
  const counts = new Map<string, number>()
  return details.map((detail: unknown) => readDetail(instId, detail, counts))
}

/** `side` is the order's: selling closes a long; `posSide` may be "net". `sz` counts contracts. */
function readDetail(symbol: string, detail: unknown, counts: Map<string, number>): FactRow {
  if (!isRecord(detail)) return refusedField
  const { side: order, bkPx: price, sz: size, ts } = detail
  const time = timeOf(ts)
  if (time === undefined || !isDecimal(price) || !isDecimal(size) || (order !== 'sell' && order !== 'buy'))
    return refusedField
  const said = `${time / 1_000}-${order}-${price}-${size}`
  const nth = (counts.get(said) ?? 0) + 1
  counts.set(said, nth)
  const side = order === 'sell' ? 'long' : 'short'
  return {
    kind: 'liquidation',
    symbol,
    id: `${said}-${nth}`,
    side,
    size,
    price,
    priceKind: 'bankruptcy',
    completeness: 'sampled',
    time,
  }
}
