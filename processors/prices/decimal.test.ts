import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asDecimal, asRatio, decimalDifference, decimalMean, percentChange } from './decimal.ts'

/** A price as venues write it: up to 13 digits, up to 8 of them behind the point. */
const written = fc
  .record({ digits: fc.bigInt({ min: 1n, max: 9_999_999_999_999n }), decimals: fc.nat(8) })
  .map(({ digits, decimals }) => ({ digits, decimals, value: Number(`${digits}e-${decimals}`) }))

/** The digits of a price with 8 decimals. */
const inUnits = ({ digits, decimals }: { digits: bigint; decimals: number }): bigint =>
  digits * 10n ** BigInt(8 - decimals)

describe('a ratio that was computed', () => {
  it('is the change that the decimals make, however small', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: -999, max: 50_000 }), (base, tenths) => {
        const [from, to] = [Number(`${base}e-2`), Number(`${base * (100_000 + tenths)}e-7`)]
        expect(percentChange(from, to)).toBe(Number(`${tenths}e-3`) + 0)
      }),
    )
    expect([percentChange(100, 101), percentChange(100, 100.01), percentChange(3_000, 2_970)]).toEqual([1, 0.01, -1])
    expect([percentChange(3, 3), percentChange(1e-9, 1e3)]).toEqual([0, 99_999_999_999_900])
  })

  it('has twelve decimals, or fifteen digits where it is too large for them', () => {
    expect([asRatio(-(1.05 - 0.95) / 2), asRatio(2 / 3), asRatio(-1e-14), asRatio(20_000 / 3)]).toEqual([
      -0.05, 0.666666666667, 0, 6_666.66666666667,
    ])
    expect([asRatio(NaN), asRatio(Infinity)]).toEqual([NaN, Infinity])
  })

  it('is the mean of decimals', () => {
    expect([decimalMean([2.0001, 2.0003, 1.9996]), decimalMean([0.1, 0.2]), decimalMean([])]).toEqual([2, 0.15, NaN])
  })
})

describe('a price that was computed', () => {
  it.each([
    [(84_059.29 + 84_059.31) / 2, 84_059.3],
    [82_258.64 + (82_259.63 - 82_258.64) / 2, 82_259.135],
    [0.1 + 0.2, 0.3],
    [0, 0],
    [0.000009398241275000002, 0.000009398241275],
  ])('of %d is %d', (computed, price) => {
    expect(asDecimal(computed)).toBe(price)
  })

  it('is the nearest double to the exact decimal, as a middle and as a difference', () => {
    fc.assert(
      fc.property(written, written, (a, b) => {
        const middle = (inUnits(a) + inUnits(b)) * 5n
        fc.pre(String(middle).replace(/0+$/, '').length <= 15)
        expect(asDecimal((a.value + b.value) / 2)).toBe(Number(`${middle}e-9`))
        expect(decimalDifference(a.value, b.value)).toBe(Number(`${inUnits(a) - inUnits(b)}e-8`))
      }),
    )
  })

  it('is what a text of 15 digits says, of any number', () => {
    const any = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: 1e-9, max: 1e7, noNaN: true }),
      written.map(({ value }) => value),
      fc.tuple(written, fc.double({ min: 0.9, max: 1.1, noNaN: true })).map(([{ value }, usd]) => value * usd),
    )
    fc.assert(
      fc.property(any, (value) => {
        expect(asDecimal(value)).toBe(Number(value.toPrecision(15)))
      }),
    )
  })

  it('leaves what a venue wrote as it is', () => {
    fc.assert(fc.property(written, ({ value }) => asDecimal(value) === value))
  })

  it('keeps the order', () => {
    const price = fc.double({ min: 1e-12, max: 1e12, noNaN: true })
    fc.assert(
      fc.property(price, price, (a, b) => {
        expect(asDecimal(Math.min(a, b))).toBeLessThanOrEqual(asDecimal(Math.max(a, b)))
      }),
    )
  })
})
