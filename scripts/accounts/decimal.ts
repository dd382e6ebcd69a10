/** Exact decimals as whole numbers of 10^-18: sums of any number of trades lose nothing. */
export type Decimal = bigint

const PLACES = 18
const form = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i

/** The exact value of a decimal text, exponents included (`1e-8`). Throws on anything else or on more than 18 places. */
export function decimalOf(text: string): Decimal {
  const match = form.exec(text)
  if (match === null) throw new RangeError(`not a decimal: ${JSON.stringify(text)}`)
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const shift = PLACES - fraction.length + Number(exponent)
  const digits = BigInt(whole + fraction)
  const scaled = shift >= 0 ? digits * 10n ** BigInt(shift) : exactQuotient(digits, 10n ** BigInt(-shift), text)
  return sign === '-' ? -scaled : scaled
}

function exactQuotient(digits: bigint, divisor: bigint, text: string): bigint {
  if (digits % divisor !== 0n) throw new RangeError(`more than ${PLACES} places: ${text}`)
  return digits / divisor
}

/** `1.5`, without trailing zeros. */
export function decimalText(value: Decimal): string {
  const digits = String(value < 0n ? -value : value).padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -PLACES)}${fraction === '' ? '' : `.${fraction}`}`
}

/** Places behind the point that a number needs when it is written out. */
export function placesOf(value: number): number {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const fraction = mantissa.split('.')[1]?.length ?? 0
  return Math.max(0, fraction - Number(exponent))
}

/** A sum of doubles, each exact to `places`: rounded to them it is the exact sum again. */
export function decimalOfSum(sum: number, places: number): Decimal {
  return decimalOf(sum.toFixed(Math.min(places, PLACES)))
}
