/**
 * Exact decimal scaling: a venue's decimal text times or divided by a contract size or a multiplier, as the double that
 * is nearest to the exact result. So 0.07 contracts of 0.1 are 0.007, which no float multiplication gives.
 *
 * `text`: digits with at most one point, as the guards of `fields.ts` let it through.
 */
export type Scale = (text: string) => number

/** Digits kept of a quotient that does not end: more than twice what decides the nearest double. */
const QUOTIENT_DIGITS = 60

/** `text x factor`; factors are positive and finite, their shortest decimal form is what is meant. */
export function timesFactor(factor: number): Scale {
  const { digits, exponent } = decimalOf(String(factor))
  if (digits === 1n) return (text) => shifted(text, exponent)
  return (text) => {
    const value = decimalOf(text)
    return Number(`${value.digits * digits}e${value.exponent + exponent}`)
  }
}

/** `text / factor`. */
export function dividedByFactor(factor: number): Scale {
  const { digits, exponent } = decimalOf(String(factor))
  if (digits === 1n) return (text) => shifted(text, -exponent)
  return (text) => {
    const value = decimalOf(text)
    return Number(`${quotient(value.digits, digits)}e${value.exponent - exponent - QUOTIENT_DIGITS - 1}`)
  }
}

/** The product of decimal texts, as the nearest double. */
export function productOf(...texts: readonly string[]): number {
  const factors = texts.map(decimalOf)
  const digits = factors.reduce((product, factor) => product * factor.digits, 1n)
  return Number(`${digits}e${factors.reduce((sum, factor) => sum + factor.exponent, 0)}`)
}

/** Of at most so many digits every whole number is a double, and so is every power of ten up to this exponent. */
const EXACT_DIGITS = 15
const EXACT_EXPONENT = 22
const powersOfTen: readonly number[] = Array.from({ length: EXACT_EXPONENT + 1 }, (_, exponent) => 10 ** exponent)
const ZERO = 48
const POINT = 46

/**
 * `text x 10^exponent`. Where the digits and the power of ten are both doubles, one multiplication or division of them
 * rounds once, so it is the nearest double to the exact result; everything else is left to the engine's own reading.
 */
function shifted(text: string, exponent: number): number {
  if (text.length > EXACT_DIGITS + 1) return Number(`${text}e${exponent}`)
  let digits = 0
  let power = exponent
  let behindPoint = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === POINT) behindPoint = 1
    else {
      digits = digits * 10 + (code - ZERO)
      power -= behindPoint
    }
  }
  const ten = powersOfTen[Math.abs(power)]
  if (ten === undefined || digits > Number.MAX_SAFE_INTEGER) return Number(`${text}e${exponent}`)
  return power < 0 ? digits / ten : digits * ten
}

/** `value / divisor` with its point moved behind the last digit; a last digit of 1 stands for the rest that was cut off. */
function quotient(value: bigint, divisor: bigint): bigint {
  const scaled = value * 10n ** BigInt(QUOTIENT_DIGITS)
  const whole = scaled / divisor
  return whole * 10n + (whole * divisor === scaled ? 0n : 1n)
}

/** `digits x 10^exponent`, digits without trailing zeros. Accepts an exponent, as `String(1e-7)` writes one. */
function decimalOf(text: string): { digits: bigint; exponent: number } {
  const [mantissa = '', power = '0'] = text.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/0+$/, '')
  return { digits: BigInt(digits), exponent: Number(power) + whole.length - digits.length }
}
