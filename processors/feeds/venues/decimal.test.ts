import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dividedByFactor, productOf, timesFactor } from './decimal.ts'

/** A decimal text as an exact fraction. */
function fraction(text: string): [numerator: bigint, denominator: bigint] {
  const [mantissa = '', power = '0'] = text.split('e')
  const [whole = '', decimals = ''] = mantissa.split('.')
  const exponent = Number(power) - decimals.length
  const digits = BigInt(whole + decimals)
  return exponent < 0 ? [digits, 10n ** BigInt(-exponent)] : [digits * 10n ** BigInt(exponent), 1n]
}

/** A positive double as an exact fraction. */
function exactly(value: number): [bigint, bigint] {
  const bits = BigInt.asUintN(64, new BigInt64Array(new Float64Array([value]).buffer)[0] ?? 0n)
  const exponent = Number((bits >> 52n) & 2047n)
  const mantissa = (bits & ((1n << 52n) - 1n)) + (exponent === 0 ? 0n : 1n << 52n)
  const power = Math.max(exponent, 1) - 1075
  return power < 0 ? [mantissa, 1n << BigInt(-power)] : [mantissa << BigInt(power), 1n]
}

/** The double beside `value`, up or down. */
function beside(value: number, step: 1n | -1n): number {
  const bits = new BigInt64Array(new Float64Array([value]).buffer)
  bits[0] = (bits[0] ?? 0n) + step
  return new Float64Array(bits.buffer)[0] ?? NaN
}

/** How far a double is from a fraction, over a common denominator. */
function distance(value: number, [numerator, denominator]: [bigint, bigint]): [bigint, bigint] {
  const [n, d] = exactly(value)
  const difference = n * denominator - numerator * d
  return [difference < 0n ? -difference : difference, d * denominator]
}

function expectNearest(value: number, exact: [bigint, bigint]): void {
  const [own, unit] = distance(value, exact)
  for (const other of [beside(value, 1n), beside(value, -1n)]) {
    const [theirs, theirUnit] = distance(other, exact)
    expect(own * theirUnit <= theirs * unit).toBe(true)
  }
}

const decimal = fc
  .tuple(fc.bigInt({ min: 1n, max: 999_999_999_999_999n }), fc.integer({ min: 0, max: 18 }), fc.boolean())
  .map(([digits, places, padded]) => {
    const text = digits.toString().padStart(places + 1, '0')
    const whole = text.slice(0, text.length - places)
    return places === 0 ? whole : `${whole}.${text.slice(text.length - places)}${padded && places < 16 ? '00' : ''}`
  })

const power = fc.integer({ min: -12, max: 12 }).map((exponent) => Number(`1e${exponent}`))
const factor = fc.oneof(power, fc.constantFrom(0.05, 2.5, 3, 7, 12.5, 0.003, 1_250_000, 0.1 + 0.2))

describe('decimal scaling', () => {
  it.each([
    ['0.07', 0.1, 0.007],
    ['3', 0.01, 0.03],
    ['16', 0.001, 0.016],
    ['0.0123456', 1000, 12.3456],
    ['1234567890123456789.123', 1, 1234567890123456800],
    ['57', 10_000_000, 570_000_000],
    ['1.1', 1.1, 1.21],
    ['0.000000000000000001', 1e-7, 1e-25],
  ])('%s x %d is %d', (text, by, result) => {
    expect(timesFactor(by)(text)).toBe(result)
  })

  it.each([
    ['0.0123400', 1000, 0.00001234],
    ['12.3456', 1000, 0.0123456],
    ['9.9', 1_000_000, 0.0000099],
    ['1', 3, 1 / 3],
    ['10', 2.5, 4],
  ])('%s / %d is %d', (text, by, result) => {
    expect(dividedByFactor(by)(text)).toBe(result)
  })

  it('multiplies to the double nearest to the exact product', () => {
    fc.assert(
      fc.property(decimal, factor, (text, by) => {
        const [n, d] = fraction(text)
        const [fn, fd] = fraction(String(by))
        expectNearest(timesFactor(by)(text), [n * fn, d * fd])
      }),
    )
  })

  it('divides to the double nearest to the exact quotient', () => {
    fc.assert(
      fc.property(decimal, factor, (text, by) => {
        const [n, d] = fraction(text)
        const [fn, fd] = fraction(String(by))
        expectNearest(dividedByFactor(by)(text), [n * fd, d * fn])
      }),
    )
  })

  it('by one gives what the engine reads', () => {
    fc.assert(
      fc.property(decimal, (text) => {
        expect(timesFactor(1)(text)).toBe(Number(text))
        expect(dividedByFactor(1)(text)).toBe(Number(text))
      }),
    )
  })

  it('multiplies a contract value by its multiplier exactly', () => {
    expect(productOf('0.1', '3')).toBe(0.3)
    expect(productOf('0.001', '10')).toBe(0.01)
    expect(productOf('10000000', '1')).toBe(10_000_000)
  })
})
