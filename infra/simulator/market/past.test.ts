import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { simulatedMarkets } from './markets.ts'
import { SimulatedEconomy } from './simulated-economy.ts'

const HOUR_MS = 3_600_000
const NOW_MS = Date.UTC(2026, 10, 21, 12, 20)
const market = simulatedMarkets.find(({ symbol }) => symbol === 'BTCUSDT')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'past-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function economyOf(seed: number, name = String(seed)): SimulatedEconomy {
  return new SimulatedEconomy({
    folder: join(folder, name),
    seed,
    rate: 150,
    now: NOW_MS * 1000,
    newest: [],
    fillers: 0,
  })
}

function past(economy: SimulatedEconomy, intervalMs: number, fromMs: number, toMs: number) {
  if (market === undefined) throw new Error('no BTCUSDT')
  return economy.pastCandles(market, { intervalMs, fromMs, toMs, untilMs: NOW_MS })
}

it('has 90 days of hours of one course that ends at the first price', () => {
  const economy = economyOf(1)
  const begin = Math.floor(NOW_MS / HOUR_MS) * HOUR_MS - 90 * 24 * HOUR_MS
  const hours = past(economy, HOUR_MS, begin, NOW_MS)
  expect(hours.map(({ startMs }) => startMs)).toEqual(hours.map((_, index) => begin + index * HOUR_MS))
  expect(hours).toHaveLength(90 * 24 + 1)
  for (const [index, hour] of hours.entries()) {
    expect(hour.low).toBeLessThanOrEqual(Math.min(hour.open, hour.close))
    expect(hour.high).toBeGreaterThanOrEqual(Math.max(hour.open, hour.close))
    expect(Math.min(hour.buy, hour.sell, hour.count)).toBeGreaterThan(0)
    const before = hours[index - 1] ?? { close: hour.open }
    expect(Math.abs(hour.open / before.close - 1)).toBeLessThan(0.001)
  }
  expect(Math.abs((hours.at(-1)?.close ?? 0) / (market?.startPrice ?? 0) / 100 - 1)).toBeLessThan(0.005)
  const prices = hours.map(({ close }) => close)
  expect(Math.max(...prices) / Math.min(...prices)).toBeGreaterThan(1.05)
  economy.close()
})

it('has minutes that add up to the hours, and is the same for the same seed', () => {
  const begin = Math.floor(NOW_MS / HOUR_MS) * HOUR_MS - 3 * HOUR_MS
  const one = economyOf(1)
  const [hour] = past(one, HOUR_MS, begin, begin + HOUR_MS)
  const minutes = past(one, 60_000, begin, begin + HOUR_MS)
  expect(minutes).toHaveLength(60)
  expect(minutes.reduce((sum, { buy }) => sum + buy, 0)).toBe(hour?.buy)
  expect(Math.max(...minutes.map(({ high }) => high))).toBe(hour?.high)
  expect(past(economyOf(1, 'again'), HOUR_MS, begin, begin + HOUR_MS)).toEqual([hour])
  expect(past(economyOf(2), HOUR_MS, begin, begin + HOUR_MS)).not.toEqual([hour])
})
