import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { median } from './median.ts'

describe('the median', () => {
  it.each([
    [[], null],
    [[7], 7],
    [[4, 2], 3],
    [[9, 1, 2], 2],
    [[1, 900, 2, 3], 2.5],
    [[82_258.64, 82_259.63], 82_259.135],
  ])('of %j is %s', (values, expected) => {
    expect(median(values)).toBe(expected)
  })

  it('does not depend on the order, and lies between the lowest and the highest', () => {
    const prices = fc.array(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 7 })
    fc.assert(
      fc.property(prices, (values) => {
        const middle = median(values) ?? NaN
        expect(median(values.toReversed())).toBe(middle)
        expect(middle).toBeGreaterThanOrEqual(Math.min(...values))
        expect(middle).toBeLessThanOrEqual(Math.max(...values))
      }),
    )
  })
})
