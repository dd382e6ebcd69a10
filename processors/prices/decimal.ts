/** Decimal digits that every double keeps: a text of so many comes back as it was. */
const DIGITS = 15

/**
 * A price that was computed from decimals, without what binary arithmetic added: 84059.29999999999, the middle of
 * 84059.29 and 84059.31, is 84059.3. What a venue wrote with up to 15 digits stays as it is, and order is kept.
 */
export function asDecimal(value: number): number {
  return Number(value.toPrecision(DIGITS))
}

/** A number as people write it: 0.00000016 rather than 1.6e-7. */
export function decimalText(value: number): string {
  const text = String(value)
  return text.includes('e-') ? value.toFixed(Math.min(DECIMALS_MAX, decimalsOf(value))) : text
}

/** `a - b` with the decimals that the two have: 84104.3388952 less 84041.1 is 63.2388952. */
export function decimalDifference(a: number, b: number): number {
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
