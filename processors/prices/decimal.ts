/** Decimal digits that every double keeps: a text of so many comes back as it was. */
const DIGITS = 15

/**
 * A price that was computed from decimals, without what binary arithmetic added: 84059.29999999999, the middle of
 * 84059.29 and 84059.31, is 84059.3. What a venue wrote with up to 15 digits stays as it is, and order is kept.
 */
export function asDecimal(value: number): number {
  return isDecimal(value) ? value : Number(value.toPrecision(DIGITS))
}

/** Parts of one in prices that need no more decimals than most have. */
const UNITS = 1e8
const UNITS_MAX = 1e15

/**
 * Whether it is surely the nearest double to a decimal of up to 15 digits, which then comes back as it is: a whole number
 * below 2^53 divided by a power of ten up to 10^22 is rounded once, as the reading of a text is. A tenth of the cost of one.
 */
function isDecimal(value: number): boolean {
  const units = Math.round(value * UNITS)
  return units > 0 && units < UNITS_MAX && units / UNITS === value
}

/** Parts of one that a ratio is told in: figures that nearly cancel each other leave more than the last digits wrong. */
const RATIO_UNITS = 1e12

/** A ratio or percentage that was computed from decimals, to twelve decimals. */
export function asRatio(value: number): number {
  const units = Math.round(value * RATIO_UNITS)
  return Math.abs(units) < UNITS_MAX ? units / RATIO_UNITS + 0 : asDecimal(value)
}

/** Change from one figure to another, percent: 100 to 101 is 1, and not a rounding beyond it. */
export function percentChange(from: number, to: number): number {
  return asRatio((to / from - 1) * 100)
}

/** Arithmetic mean of decimals; NaN: of none. */
export function decimalMean(values: readonly number[]): number {
  return asDecimal(values.reduce((sum, value) => sum + value, 0) / values.length)
}

/** A number as people write it: 0.00000016 rather than 1.6e-7. */
export function decimalText(value: number): string {
  const text = String(value)
  return text.includes('e-') ? value.toFixed(Math.min(DECIMALS_MAX, decimalsOf(value))) : text
}

/** `a - b` with the decimals that the two have: 84104.3388952 less 84041.1 is 63.2388952. */
export function decimalDifference(a: number, b: number): number {
  if (isDecimal(a) && isDecimal(b)) return (Math.round(a * UNITS) - Math.round(b * UNITS)) / UNITS
  const decimals = Math.max(decimalsOf(a), decimalsOf(b))
  return decimals > DECIMALS_MAX ? a - b : Number((a - b).toFixed(decimals))
}

/** As many as `toFixed` takes. */
const DECIMALS_MAX = 100

function decimalsOf(value: number): number {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const fraction = mantissa.split('.')[1] ?? ''
  return Math.max(0, fraction.length - Number(exponent))
}
