import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DAY, letTrade, MINUTE, openEconomy, perpOf, START } from '../testing/market.ts'
import type { Economy } from './economy.ts'

// Each test makes up two days of a market.
vi.setConfig({ testTimeout: 60_000 })

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'economy-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('open interest and liquidations', () => {
  test('liquidations lie between two marks, are whole lots and lower the interest', () => {
    const economy = openEconomy(folder)
    letTrade(economy, 600)
    const all = (['binance', 'bybit', 'okx'] as const)
      .flatMap((venue) => economy.perps(venue))
      .flatMap((market) => economy.liquidations(market, START, START + DAY).map((one) => ({ market, ...one })))
    // Some every few minutes on the majors.
    expect(all.filter(({ market }) => ['BTC', 'ETH', 'SOL'].includes(market.asset)).length).toBeGreaterThan(10)
    for (const { market, side, size, bankruptcyPrice, fillPrice } of all) {
      const lots = size * 10 ** (market.sizeDecimals - market.factor)
      expect(Math.abs(lots - Math.round(lots))).toBeLessThan(1e-6 * Math.max(1, lots))
      expect(size).toBeGreaterThan(0)
      const tick = 10 ** -(market.priceDecimals + market.priceFactor)
      const worse = side === 'long' ? fillPrice - bankruptcyPrice : bankruptcyPrice - fillPrice
      expect(worse).toBeGreaterThanOrEqual(-tick)
    }
    economy.close()
  })

  test('while prices stand still nobody is liquidated, and time goes on', () => {
    const economy = openEconomy(folder)
    letTrade(economy, 5)
    const market = perpOf(economy, 'binance', 'BTC')
    const before = economy.perp(market)
    const from = START + 5_000_000
    for (let quarter = 1; quarter <= 40; quarter += 1) economy.advance(from + quarter * 250_000, true)
    const { time, last, mark, index, premium, openInterest } = economy.perp(market)
    expect(before).toMatchObject({ last, mark, index, premium, openInterest })
    expect(time).toBe(before.time + 10_000_000)
    expect(economy.liquidations(market, from + 1, START + DAY)).toEqual([])
    economy.close()
  })

  test('interest moves with what trades, and its past ends where it begins', () => {
    const economy = openEconomy(folder)
    const market = perpOf(economy, 'bybit', 'BTC')
    const past = economy.openInterests(market, START - DAY, START)
    expect(past).toHaveLength(288)
    const now = economy.perp(market).openInterest
    expect(Math.abs((past.at(-1)?.size ?? 0) / now - 1)).toBeLessThan(0.02)
    letTrade(economy, 30)
    const moved = economy.perp(market).openInterest
    expect(moved).not.toBe(now)
    expect(Math.abs(moved / now - 1)).toBeLessThan(0.01)
    economy.close()
  })

  test('a day of made-up liquidations lies behind, in order of time', () => {
    const economy = openEconomy(folder)
    const past = economy.liquidations(perpOf(economy, 'binance', 'ETH'), START - DAY, START)
    expect(past.length).toBeGreaterThan(50)
    expect(past.map(({ time }) => time)).toEqual(past.map(({ time }) => time).sort((left, right) => left - right))
    economy.close()
  })
})

test('after a restart it goes on: prices, interest, minutes, liquidations, settlements', () => {
  const first = openEconomy(folder)
  const newest = letTrade(first, 330)
  const end = START + 330_000_000
  const market = perpOf(first, 'binance', 'BTC')
  const [interest, premium] = [first.perp(market).openInterest, first.perp(market).premium]
  const kept = (economy: Economy): unknown => [
    economy.liquidations(market, START - DAY, end),
    economy.settlements(market, 20),
    economy.openInterests(market, START - DAY, end),
    Array.from({ length: 1440 }, (_, minute) => economy.markAt(market, START - DAY + minute * MINUTE)),
  ]
  const before = kept(first)
  first.close()
  const trades = [...newest].map(([of, newestTrade]) => ({ market: of, trade: newestTrade }))
  const second = openEconomy(folder, { now: end, newest: trades })
  expect(kept(second)).toEqual(before)
  // Written down with six digits a level; the sum is whole.
  expect(second.perp(market).openInterest).toBe(interest)
  expect(second.perp(market).premium).toBe(premium)
  const traded = trades.find(({ market: of }) => of.venue === 'binance' && of.asset === 'BTC')
  expect(second.perp(market).last).toBe((traded?.trade.price ?? 0) / 100)
  second.close()
})
