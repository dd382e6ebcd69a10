import { interestRuleOf, type FundingVenue } from '../../schemas/venues.ts'
import { asRatio } from '../prices/decimal.ts'

/** How far the rate may be pulled from the average premium towards the interest, fraction. */
const DAMPER = 0.0005
/** Interest of most perpetuals, fraction per day: 0.01 % each 8 h. */
const INTEREST_DAILY = 0.0003

/** What the venues' formulas need of a contract; null: the venue does not say. */
export interface FundingTerms {
  readonly intervalHours: number
  /** Highest and lowest rate of an interval, fractions. */
  readonly cap: number | null
  readonly floor: number | null
  /** Fraction per day. */
  readonly interestDaily: number | null
}

/**
 * The rate of an interval, a fraction, that an average premium gives by the venue's own formula.
 *
 * - Binance: `F = [P + clamp(I - P, -0.05 %, 0.05 %)] / (8 / N)` with I of 8 h, whatever the interval N.
 * - Bybit, OKX: `F = P + clamp(I - P, -0.05 %, 0.05 %)` with I of N hours, not divided.
 *
 * To twelve decimals, so that a bound is the bound; then no more than the cap and no less than the floor.
 */
export function fundingRate(venue: FundingVenue, premium: number, terms: FundingTerms): number {
  const rate =
    interestRuleOf(venue) === 'of_8h'
      ? damped(premium, interestOf(terms.interestDaily, 8)) / (8 / terms.intervalHours)
      : damped(premium, interestOf(terms.interestDaily, terms.intervalHours))
  return Math.max(terms.floor ?? -Infinity, Math.min(terms.cap ?? Infinity, asRatio(rate)))
}

/** `P + clamp(I - P, -d, d)`, written so that within the damper it is the interest itself, not a rounding away from it. */
function damped(premium: number, interest: number): number {
  return Math.max(premium - DAMPER, Math.min(premium + DAMPER, interest))
}

/**
 * Interest of some hours, a fraction: the rate of an interval in which perpetual and index agree. `interestDaily` is null
 * where the venue does not say. To twelve decimals, since 0.0003 / 3 as doubles is not the 0.0001 that the venues mean.
 */
export function interestOf(interestDaily: number | null, hours: number): number {
  return asRatio(((interestDaily ?? INTEREST_DAILY) * hours) / 24)
}

const HOURS_A_DAY = 24
const DAYS_A_YEAR = 365

/** A rate per interval as a fraction a year, without compounding; `intervalHours` is the instrument's own. */
export function annualised(rate: number, intervalHours: number): number {
  return rate * (HOURS_A_DAY / intervalHours) * DAYS_A_YEAR
}
