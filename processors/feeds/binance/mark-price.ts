import { isSigned, priceOf, refusedField } from '../fact-fields.ts'
import { isCount, isRecord, isSymbol, microsOf } from '../fields.ts'
import type { DerivativeFact, FactRow } from '../source.ts'
import { isUsdtMarket } from './listed.ts'

/**
 * An element of `!markPrice@arr@1s`: `p` mark, `i` index, `r` the running rate for the settlement at `T` (not the last
 * settled one), `E` when. Frames before 2020 have no index. `ap`, `P` and `st` are not used.
 */
export function readMarkPrice({ s, p, i, r, T, E }: Record<string, unknown>): FactRow | undefined {
  return derivative(s, p, i, r, T, E)
}

/** A row of `premiumIndex`: the same under other names; `lastFundingRate` is the running rate too. */
export function readPremiumIndex(row: unknown): FactRow | undefined {
  if (!isRecord(row)) return refusedField
  const { symbol, markPrice, indexPrice, lastFundingRate, nextFundingTime, time } = row
  return derivative(symbol, markPrice, indexPrice, lastFundingRate, nextFundingTime, time)
}

/** Undefined: not one of our markets. */
function derivative(
  symbol: unknown,
  mark: unknown,
  index: unknown,
  rate: unknown,
  next: unknown,
  ms: unknown,
): FactRow | undefined {
  const time = isCount(ms) ? microsOf(ms) : undefined
  if (!isSymbol(symbol) || time === undefined) return refusedField
  if (!isUsdtMarket(symbol)) return undefined
  const prices = { mark: priceOf(mark), index: priceOf(index) }
  const running = rateOf(rate, next)
  if (running === undefined || prices.mark === undefined || prices.index === undefined) return refusedField
  if (prices.mark === null && prices.index === null) return refusedField
  return {
    kind: 'derivative',
    symbol,
    mark: { mark: prices.mark, index: prices.index, time },
    ...(running !== null && { rate: { ...running, time } }),
  }
}

type Running = Omit<NonNullable<DerivativeFact['rate']>, 'time'>

/** Null: the market has none, as dated futures (`r` is empty, `T` 0). */
function rateOf(rate: unknown, next: unknown): Running | null | undefined {
  if (rate === undefined || rate === '') return null
  const settlement = next === 0 ? null : isCount(next) ? microsOf(next) : undefined
  return isSigned(rate) && settlement !== undefined ? { rate, next: settlement } : undefined
}
