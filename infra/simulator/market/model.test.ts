import fc from 'fast-check'
import { expect, test } from 'vitest'
import { simulatedMarkets } from './markets.ts'
import { type DrawnFills, MarketModel } from './model.ts'
import type { Fill } from './trade.ts'

const START = 1_790_000_000_000_000
const SECOND = 1_000_000

/** Fills of `seconds`, asked for in one go each second. */
function drawn(seed: number, seconds: number, rate = 400): DrawnFills[] {
  const model = new MarketModel({ seed, rate, start: START })
  return Array.from({ length: seconds }, (_, second) => model.advance(START + (second + 1) * SECOND)).flat()
}

function fillsIn(drawnFills: readonly DrawnFills[], asset?: string): Fill[] {
  return drawnFills.filter(({ market }) => asset === undefined || market.asset === asset).flatMap(({ fills }) => fills)
}

test('the same seed gives the same trades, however often it is asked', () => {
  const whole = byMarket(drawn(7, 3))
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 300_000 }), { maxLength: 30 }), (waits) => {
      const model = new MarketModel({ seed: 7, rate: 400, start: START })
      let time = START
      const parts = waits.flatMap((wait) => {
        time = Math.min(START + 3 * SECOND, time + wait)
        return model.advance(time)
      })
      expect(byMarket([...parts, ...model.advance(START + 3 * SECOND)])).toEqual(whole)
    }),
    { numRuns: 20 },
  )
})

test('another seed gives other trades', () => {
  expect(byMarket(drawn(1, 2))).not.toEqual(byMarket(drawn(2, 2)))
})

test('in the long run it trades the pre-subscribed assets at the rate that was asked for', () => {
  const seconds = 600
  const seeds = [11, 12]
  const streamed = ['BTC', 'ETH', 'SOL', 'XRP', 'BNB', 'DOGE', 'LINK', 'ARB']
  const fills = (seed: number): number => {
    const all = drawn(seed, seconds, 100)
    return streamed.reduce((sum, asset) => sum + fillsIn(all, asset).length, 0)
  }
  const total = seeds.reduce((sum, seed) => sum + fills(seed), 0)
  expect(total / seconds / seeds.length).toBeGreaterThan(80)
  expect(total / seconds / seeds.length).toBeLessThan(120)
})

test('arrivals cluster: their variance is a multiple of a Poisson stream’s', () => {
  const counts = Array.from({ length: 3000 }, () => 0)
  for (const fill of fillsIn(drawn(3, 300))) {
    const bin = Math.floor((fill.time - START) / 100_000)
    counts[bin] = (counts[bin] ?? 0) + 1
  }
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length
  expect(variance / mean).toBeGreaterThan(2)
})

test('takers follow one another to the same side', () => {
  const sides = fillsIn(drawn(4, 300), 'BTC').map(({ buy }) => buy)
  const same = sides.filter((buy, index) => index > 0 && buy === sides[index - 1]).length
  expect(same / sides.length).toBeGreaterThan(0.6)
  const buys = sides.filter(Boolean).length / sides.length
  expect(buys).toBeGreaterThan(0.2)
  expect(buys).toBeLessThan(0.8)
})

test('every market trades, Bitcoin most, in whole lots on the tick grid and in order of time', () => {
  const all = drawn(5, 150)
  const counts = new Map<string, number>()
  for (const { market, fills } of all) {
    counts.set(market.asset, (counts.get(market.asset) ?? 0) + fills.length)
    const wrong = fills.filter(
      ({ size, price, time }, index) =>
        !Number.isSafeInteger(size) ||
        size < 1 ||
        price <= 0 ||
        price % market.tick > 0 ||
        time < (fills[index - 1]?.time ?? 0),
    )
    expect(wrong).toEqual([])
  }
  expect(new Set(all.map(({ market }) => market)).size).toBe(simulatedMarkets.length)
  expect([...counts].sort((left, right) => right[1] - left[1])[0]?.[0]).toBe('BTC')
})

test('venues agree on a price to within half a percent', () => {
  for (const { market, fills } of drawn(6, 60)) {
    if (market.asset !== 'BTC') continue
    const price = (fills.at(-1)?.price ?? 0) / 10 ** market.priceDecimals
    expect(Math.abs(price / 84_000 - 1)).toBeLessThan(0.005)
  }
})

test('nothing trades while time is skipped', () => {
  const model = new MarketModel({ seed: 1, rate: 400, start: START })
  model.skip(START + 60 * SECOND)
  const times = fillsIn(model.advance(START + 61 * SECOND)).map(({ time }) => time)
  expect(Math.min(...times)).toBeGreaterThanOrEqual(START + 60 * SECOND)
})

function byMarket(all: readonly DrawnFills[]): Record<string, Fill[]> {
  const markets: Record<string, Fill[]> = {}
  for (const { market, fills } of all) (markets[`${market.venue} ${market.symbol}`] ??= []).push(...fills)
  return markets
}
