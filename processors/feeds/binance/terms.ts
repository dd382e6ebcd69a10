import { productOf } from '../decimal.ts'
import { isAmount, isSigned, refusedField } from '../fact-fields.ts'
import { isCount, isRecord, isSymbol } from '../fields.ts'
import type { FactRow, TermsFact } from '../source.ts'
import { isUsdtMarket } from './listed.ts'

const DAY_HOURS = 24
/** `interestRate` is that of 8 hours, whatever the interval of the market. */
const INTERESTS_PER_DAY = '3'
/** Caps of large markets are this part of the maintenance margin rate of their first tier. */
const CAP_OF_MARGIN = 0.75
/** From here on caps are flat (2 %, 3 %) and say nothing about margin. */
const FLAT_CAP = 0.02
/** Leverages that the venue offers; the highest one needs twice the maintenance margin. */
const LEVERAGES = [125, 100, 75, 50, 40, 30, 25, 20, 10, 5]
const RATE_DECIMALS = 10

/** A row of `fundingInfo`: interval, cap and floor. Markets without a row have the venue's usual 8 h. */
export function readFundingInfo(row: unknown): FactRow | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol'])) return refusedField
  const { symbol, adjustedFundingRateCap: cap, adjustedFundingRateFloor: floor, fundingIntervalHours: hours } = row
  if (!isCount(hours) || hours === 0 || hours > DAY_HOURS || !isSigned(cap) || !isSigned(floor)) return refusedField
  if (Number(cap) <= Number(floor)) return refusedField
  if (!isUsdtMarket(symbol)) return undefined
  const terms = { intervalHours: hours, cap: Number(cap), floor: Number(floor) }
  return { kind: 'terms', symbol, ...terms, ...marginOf(Number(cap)) }
}

/**
 * Margin tiers need a key here, so the first one is inferred from the cap and taken for all positions: an approximation
 * that holds for the large markets (BTC 0.4 %, SOL 0.5 %, DOGE 0.65 %) and small positions.
 */
function marginOf(cap: number): Pick<TermsFact, 'maxLeverage' | 'tiers'> {
  if (!(cap > 0 && cap < FLAT_CAP)) return {}
  const rate = Number((cap / CAP_OF_MARGIN).toFixed(RATE_DECIMALS))
  const tiers = [{ upTo: null, rate, deduction: 0 }]
  const maxLeverage = LEVERAGES.find((leverage) => leverage * 2 * rate <= 1)
  return maxLeverage === undefined ? { tiers } : { tiers, maxLeverage }
}

/** The interest term that a row of `premiumIndex` tells: "0.00010000" is 0.03 % a day. */
export function readInterest(row: unknown): FactRow | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol'])) return refusedField
  const { symbol, interestRate } = row
  // Dated futures have an empty one.
  if (!isUsdtMarket(symbol) || interestRate === undefined || interestRate === '') return undefined
  if (!isAmount(interestRate)) return refusedField
  return { kind: 'terms', symbol, interestDaily: productOf(interestRate, INTERESTS_PER_DAY) }
}
