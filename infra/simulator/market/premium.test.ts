import { expect, test } from 'vitest'
import { rateOf, type RateTerms, settlementBefore, WeightedMean } from './premium.ts'

const wide = { cap: 0.02, floor: -0.02 }
const binance8: RateTerms = { venue: 'binance', intervalHours: 8, ...wide }
const bybit8: RateTerms = { venue: 'bybit', intervalHours: 8, ...wide }

function series(count: number, premium: (index: number) => number): number[] {
  return Array.from({ length: count }, (_, index) => premium(index + 1))
}

function averageOf(premiums: readonly number[]): number {
  const mean = new WeightedMean()
  for (const premium of premiums) mean.add(premium)
  return mean.value ?? Number.NaN
}

/** Worked out by hand from the venues' published formulas. */
const vectors = [
  { of: '480 x 0.0002', premiums: series(480, () => 0.0002), hours: 8, mean: 0.0002, binance: 0.0001, bybit: 0.0001 },
  {
    of: '240 x 0, then 240 x 0.0012',
    premiums: series(480, (index) => (index <= 240 ? 0 : 0.0012)),
    hours: 8,
    mean: 0.000_899_376_299_376,
    binance: 0.000_399_376_299_376,
    bybit: 0.000_399_376_299_376,
  },
  { of: '480 x -0.001', premiums: series(480, () => -0.001), hours: 8, mean: -0.001, binance: -0.0005, bybit: -0.0005 },
  {
    of: 'a ramp',
    premiums: series(480, (index) => (index - 1) * 1e-6),
    hours: 8,
    mean: 0.000_319_333_333_333,
    binance: 0.0001,
    bybit: 0.0001,
  },
  {
    of: '4 h of -0.001',
    premiums: series(240, () => -0.001),
    hours: 4,
    mean: -0.001,
    binance: -0.000_25,
    bybit: -0.0005,
  },
  {
    of: '4 h of 0.0002',
    premiums: series(240, () => 0.0002),
    hours: 4,
    mean: 0.0002,
    binance: 0.000_05,
    bybit: 0.000_05,
  },
] as const

test.each(vectors)('$of gives the published average and rates', ({ premiums, hours, mean, binance, bybit }) => {
  const average = averageOf(premiums)
  expect(average).toBeCloseTo(mean, 14)
  expect(rateOf(average, { ...binance8, intervalHours: hours })).toBeCloseTo(binance, 14)
  expect(rateOf(average, { ...bybit8, intervalHours: hours })).toBeCloseTo(bybit, 14)
  expect(rateOf(average, { ...bybit8, venue: 'okx', intervalHours: hours })).toBeCloseTo(bybit, 14)
})

test('a rate stays within its cap and floor', () => {
  expect(rateOf(0.05, { ...binance8, cap: 0.003, floor: -0.003 })).toBe(0.003)
  expect(rateOf(-0.05, { ...bybit8, cap: 0.005, floor: -0.0045 })).toBe(-0.0045)
})

test('settlements are on the full interval since midnight UTC', () => {
  const noon = Date.UTC(2026, 10, 21, 12, 0, 1) * 1000
  expect(settlementBefore(noon, 8)).toBe(Date.UTC(2026, 10, 21, 8) * 1000)
  expect(settlementBefore(noon, 4)).toBe(Date.UTC(2026, 10, 21, 12) * 1000)
  expect(settlementBefore(noon, 1)).toBe(Date.UTC(2026, 10, 21, 12) * 1000)
})
