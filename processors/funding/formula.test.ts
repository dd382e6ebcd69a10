import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { average, record } from './interval.ts'
import { fundingRate, type FundingTerms, annualised } from './formula.ts'

const terms = (intervalHours: number, fields: Partial<FundingTerms> = {}): FundingTerms => {
  return { intervalHours, cap: null, floor: null, interestDaily: null, ...fields }
}

/** The average of a series of minute closes, by the code that the processor runs. */
function averageOf(series: readonly number[]): number {
  const minutes = new Map<number, number>()
  series.forEach((premium, n) => record(minutes, n, premium))
  return average(minutes, 0, series.length).average ?? NaN
}

const times = (count: number, value: number): number[] => Array.from({ length: count }, () => value)

describe('the rate of an interval', () => {
  it.each([
    ['a premium within the damper', 8, times(480, 0.0002), 0.0002, 0.0001, 0.0001],
    [
      'half without, half with a premium',
      8,
      [...times(240, 0), ...times(240, 0.0012)],
      0.000899376299,
      0.000399376299,
      0.000399376299,
    ],
    ['a discount', 8, times(480, -0.001), -0.001, -0.0005, -0.0005],
    ['a rising premium', 8, times(480, 0).map((_, n) => n * 1e-6), 0.000319333333, 0.0001, 0.0001],
    ['a discount over 4 h', 4, times(240, -0.001), -0.001, -0.00025, -0.0005],
    ['a premium within the damper over 4 h', 4, times(240, 0.0002), 0.0002, 0.00005, 0.00005],
  ])('of %s is what the venues’ formulas give', (_, hours, series, premium, binance, bybit) => {
    const mean = averageOf(series)
    expect(mean).toBe(premium)
    expect(fundingRate('binance', mean, terms(hours))).toBe(binance)
    expect(fundingRate('bybit', mean, terms(hours))).toBe(bybit)
    expect(fundingRate('okx', mean, terms(hours))).toBe(bybit)
  })

  it('is the interest to the last bit within the damper, so that it is on the milder side of a signal’s bound', () => {
    expect(fundingRate('binance', 0.0002, terms(8))).toBe(0.0001)
    expect(fundingRate('bybit', 0.0002, terms(8))).toBe(0.0001)
    expect(fundingRate('okx', 0.0002, terms(4))).toBe(0.00005)
    expect(fundingRate('binance', 0.0002, terms(1))).toBe(0.0000125)
  })

  it.each([
    [-0.001, -0.0005],
    [0.0006, 0.0001],
    [-0.00053, -0.00003],
  ])('of a premium that stands at %s is %s, over however many minutes', (premium, expected) => {
    const told = Array.from({ length: 480 }, (_, n) => {
      const mean = averageOf(times(n + 1, premium))
      return [mean, fundingRate('binance', mean, terms(8)), fundingRate('okx', mean, terms(8))]
    })
    expect(told).toEqual(told.map(() => [premium, expected, expected]))
  })

  it('takes the contract’s own interest', () => {
    expect(fundingRate('binance', 0.0002, terms(8, { interestDaily: 0 }))).toBe(0)
    expect(fundingRate('okx', 0.0001, terms(8, { interestDaily: 0.0006 }))).toBe(0.0002)
  })

  it.each([
    ['cap', 0.03, 0.02],
    ['floor', -0.03, -0.015],
  ])('never passes the %s', (_, premium, expected) => {
    expect(fundingRate('bybit', premium, terms(8, { cap: 0.02, floor: -0.015 }))).toBe(expected)
    expect(fundingRate('binance', premium * 8, terms(1, { cap: 0.02, floor: -0.015 }))).toBe(expected)
  })

  it('rises with the premium and stays within cap and floor, for any contract', () => {
    const premium = fc.double({ min: -0.1, max: 0.1, noNaN: true })
    const venue = fc.constantFrom('binance' as const, 'bybit' as const, 'okx' as const)
    const given = fc.record({
      hours: fc.constantFrom(1, 2, 4, 8),
      limit: fc.double({ min: 0, max: 0.05, noNaN: true }),
    })
    fc.assert(
      fc.property(venue, premium, premium, given, (name, a, b, { hours, limit }) => {
        const contract = terms(hours, { cap: limit, floor: -limit })
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((value) => fundingRate(name, value, contract))
        expect(low).toBeLessThanOrEqual(high ?? NaN)
        expect(Math.abs(low ?? NaN)).toBeLessThanOrEqual(limit)
      }),
    )
  })
})

describe('the average premium', () => {
  it('weighs each minute by its place since the settlement, also when some are missing', () => {
    const minutes = new Map([
      [100, 0.001],
      [102, 0.003],
    ])
    expect(average(minutes, 100, 3)).toEqual({ average: 0.0025, samples: 2 })
  })

  it('leaves out what lies before the settlement or has not closed', () => {
    const minutes = new Map([
      [99, 9],
      [100, 0.001],
      [101, 0.002],
      [102, 9],
    ])
    expect(average(minutes, 100, 2)).toEqual({ average: 0.001666666667, samples: 2 })
  })

  it('is not known of nothing', () => {
    expect(average(new Map(), 0, 480)).toEqual({ average: null, samples: 0 })
  })
})

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
