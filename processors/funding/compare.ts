import { asDecimal, decimalDifference } from '../prices/decimal.ts'
import { annualised } from './annualise.ts'

/** One venue's running rate: a fraction per interval. */
export interface ExchangeRate {
  readonly exchange: string
  readonly rate: number
  readonly intervalHours: number
}

/** Where to be long and where to be short, in the field names of the answer. */
export interface BestArb {
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
    annualized_spread_pct: asDecimal((perYear(short) - perYear(long)) * 100),
    direction: `long_${long.exchange}_short_${short.exchange}`,
  }
}

function perYear({ rate, intervalHours }: ExchangeRate): number {
  return annualised(rate, intervalHours)
}
