import { annualised } from '../../processors/funding/formula.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'

/** A rate per interval as percent a year. */
export function percentAYear(rate: number, intervalHours: number): number {
  return percentOf(fractionAYear(rate, intervalHours))
}

/** The same as a fraction. */
export function fractionAYear(rate: number, intervalHours: number): number {
  return asDecimal(annualised(rate, intervalHours))
}

/** A fraction as percent: the point moved by two places, as the decimal text says it, so that 0.0003 is 0.03. */
export function percentOf(fraction: number): number {
  const [digits = '', exponent = '0'] = String(fraction).split('e')
  return Number(`${digits}e${Number(exponent) + 2}`)
}
