import { describe, expect, it } from 'vitest'
import { annualised } from './annualise.ts'

describe('a rate a year', () => {
  it.each([
    [0.0001, 8, 0.1095],
    [0.0001, 4, 0.219],
    [0.0001, 1, 0.876],
    [-0.0005, 8, -0.5475],
    [0, 8, 0],
  ])('of %s each interval of %s h is %s', (rate, hours, expected) => {
    expect(annualised(rate, hours)).toBeCloseTo(expected, 12)
  })
})
