import { describe, expect, it } from 'vitest'
import { leverageShares, liquidationPrices, sharesOf, tiers } from './leverage.ts'

const ALL = tiers.reduce((sum, tier) => sum + leverageShares[tier], 0)

describe('liquidation prices', () => {
  it.each([
    [5, 80_321.29, 119_521.91],
    [10, 90_361.45, 109_561.75],
    [25, 96_385.54, 103_585.66],
    [50, 98_393.57, 101_593.63],
    [100, 99_397.59, 100_597.61],
  ])('at %ix of an entry at 100,000 and a margin of 0.4 % are the reference’s', (leverage, long, short) => {
    const prices = liquidationPrices(100_000, leverage, 0.004)
    expect(prices.long).toBeCloseTo(long, 2)
    expect(prices.short).toBeCloseTo(short, 2)
  })
})

describe('leverage shares', () => {
  it('leave a remainder that is not at risk', () => {
    expect(ALL).toBeGreaterThan(0)
    expect(ALL).toBeLessThan(1)
  })

  it.each([
    ['no limit said', null, 0.005, [5, 10, 25, 50, 100]],
    ['a limit between tiers', 75, 0.005, [5, 10, 25, 50]],
    ['a limit on a tier', 50, 0.005, [5, 10, 25, 50]],
    ['a margin that a tier cannot meet', null, 0.02, [5, 10, 25]],
    ['a limit below all tiers', 3, 0.005, []],
  ])('of %s are at the tiers that can be had', (_, maxLeverage, margin, expected) => {
    const shares = sharesOf({ maxLeverage, margin })
    expect(shares.map(([tier]) => tier)).toEqual(expected)
    const sum = shares.reduce((total, [, share]) => total + share, 0)
    expect(sum).toBeCloseTo(expected.length === 0 ? 0 : ALL, 12)
  })
})
