import { asDecimal, asRatio, decimalDifference } from '../prices/decimal.ts'
import { annualised } from './formula.ts'

const HOURS_A_YEAR = 8_760

/** One venue's perpetual against one spot price, in the field names of the answer. */
interface Basis {
  /** Perpetual minus spot, USD. */
  readonly basis_usd: number
  /** The same, percent of the spot price. */
  readonly basis_pct: number
  /** By the year: a perpetual converges at each funding. */
  readonly basis_annualized_pct: number
  /** Equal prices count as contango. */
  readonly direction: 'contango' | 'backwardation'
}

/** `spot` is above zero; both prices are of one base unit. */
export function basis(perp: number, spot: number, intervalHours: number): Basis {
  const basis_usd = decimalDifference(perp, spot)
  const basis_pct = asDecimal((basis_usd / spot) * 100)
  return {
    basis_usd,
    basis_pct,
    basis_annualized_pct: asDecimal(basis_pct * (HOURS_A_YEAR / intervalHours)),
    direction: basis_usd >= 0 ? 'contango' : 'backwardation',
  }
}

/** What a venue's perpetual gives to whoever holds spot and is short of it. */
export interface Carry {
  readonly exchange: string
  readonly basis_pct: number
  readonly basis_annualized_pct: number
  /** Running rate, fraction per interval; positive: longs pay shorts. */
  readonly funding_rate: number
  /** The same by the year, percent. */
  readonly funding_annualized_pct: number
  readonly interval_hours: number
  /** When that rate is paid, ISO 8601. */
  readonly next_funding_time: string
}

interface CarryTrade extends Omit<Carry, 'basis_annualized_pct' | 'funding_annualized_pct'> {
  /** The funding that its short side is paid, by the year. The basis is earned once at the most, and is not in it. */
  readonly annualized_yield_pct: number
  /** `long_spot_short_<venue>_perp` */
  readonly strategy: string
}

/** The venue with the highest basis by the year, also when none is positive; of equal ones the first. Null without one. */
export function bestCarryTrade(carries: readonly Carry[]): CarryTrade | null {
  const [best] = carries.toSorted((a, b) => b.basis_annualized_pct - a.basis_annualized_pct)
  if (best === undefined) return null
  const { basis_annualized_pct: _, funding_annualized_pct: annualized_yield_pct, exchange, ...rest } = best
  return { exchange, annualized_yield_pct, strategy: `long_spot_short_${exchange}_perp`, ...rest }
}

/** One venue's running rate: a fraction per interval. */
export interface ExchangeRate {
  readonly exchange: string
  readonly rate: number
  readonly interval_hours: number
}

/** Where to be long and where to be short, in the field names of the answer. */
interface BestArb {
  readonly long_exchange: string
  readonly short_exchange: string
  /** Raw rate of the short exchange minus that of the long one, fractions of their own intervals. */
  readonly rate_spread: number
  /** Difference of the annualised rates, percent; never negative. */
  readonly annualized_spread_pct: number
  /** `long_<venue>_short_<venue>` */
  readonly direction: string
}

/**
 * Long where funding is lowest, short where it is highest, compared by the year, since intervals differ. Of equal rates
 * the first is the lower. Null below two venues.
 */
export function bestArb(exchanges: readonly ExchangeRate[]): BestArb | null {
  const [long, ...others] = exchanges.toSorted((a, b) => perYear(a) - perYear(b))
  const short = others.at(-1)
  if (long === undefined || short === undefined) return null
  return {
    long_exchange: long.exchange,
    short_exchange: short.exchange,
    rate_spread: decimalDifference(short.rate, long.rate),
    annualized_spread_pct: asRatio((perYear(short) - perYear(long)) * 100),
    direction: `long_${long.exchange}_short_${short.exchange}`,
  }
}

function perYear({ rate, interval_hours: hours }: ExchangeRate): number {
  return annualised(rate, hours)
}
