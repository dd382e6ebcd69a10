import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DAY, letTrade, MINUTE, openEconomy, perpOf, START } from '../testing/market.ts'
import { type Economy, perpVenueNames, spotVenueNames } from './economy.ts'
import { simulatedMarkets } from './markets.ts'
import { rateOf, WeightedMean } from './premium.ts'

// Each test makes up two days of a market.
vi.setConfig({ testTimeout: 60_000 })

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'economy-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** All that an economy says, as text. */
function told(economy: Economy): string {
  const spots = spotVenueNames.flatMap((venue) => economy.spots(venue)).map((market) => economy.spot(market))
  const perps = perpVenueNames
    .flatMap((venue) => economy.perps(venue))
    .map((market) => [
      economy.perp(market),
      economy.settlements(market, 3),
      economy.openInterests(market, START - DAY, START + DAY).slice(-3),
      economy.liquidations(market, START - DAY, START + DAY),
    ])
  return JSON.stringify([spots, perps, economy.tokens()])
}

test('the same seed, start and trades give the same numbers', () => {
  const first = openEconomy(folder)
  letTrade(first, 60)
  const other = mkdtempSync(join(tmpdir(), 'economy-'))
  const second = openEconomy(other)
  letTrade(second, 60)
  expect(told(second)).toBe(told(first))
  first.close()
  second.close()
  rmSync(other, { recursive: true, force: true })
})

describe('prices', () => {
  test('five venues stand around the price that trades, dollar pairs by what a tether dollar is worth', () => {
    const economy = openEconomy(folder)
    const newest = letTrade(economy, 20)
    const btc = simulatedMarkets.find(({ venue, asset }) => venue === 'coinbase' && asset === 'BTC')
    const traded = btc === undefined ? undefined : newest.get(btc)
    const coinbase = economy.spots('coinbase').find(({ asset }) => asset === 'BTC')
    if (btc === undefined || coinbase === undefined) throw new Error('Coinbase has no BTC')
    expect(economy.spot(coinbase).last).toBe((traded?.price ?? 0) / 10 ** btc.priceDecimals)
    const tether = economy.spots('coinbase').find(({ asset }) => asset === 'USDT')
    if (tether === undefined) throw new Error('Coinbase has no USDT')
    const worth = economy.spot(tether).last
    const middles = spotVenueNames.flatMap((venue) =>
      economy
        .spots(venue)
        .filter(({ asset }) => asset === 'BTC')
        .map((market) => {
          const { bid, ask } = economy.spot(market)
          expect(bid).toBeLessThan(ask)
          return ((bid + ask) / 2) * (market.quote === 'USD' ? 1 : worth)
        }),
    )
    expect(middles).toHaveLength(5)
    for (const price of middles) expect(Math.abs(price / (middles[0] ?? 1) - 1)).toBeLessThan(0.0005)
    economy.close()
  })

  test('a perpetual trades near its mark, which is its index and premium', () => {
    const economy = openEconomy(folder)
    letTrade(economy, 20)
    for (const venue of ['binance', 'bybit', 'okx'] as const) {
      const { last, mark, index, premium } = economy.perp(perpOf(economy, venue, 'ETH'))
      expect(mark).toBeCloseTo(index * (1 + premium), 9)
      expect(Math.abs(last / mark - 1)).toBeLessThan(0.001)
    }
    economy.close()
  })

  test('its last price is between the lowest and the highest of the day', () => {
    const economy = openEconomy(folder)
    letTrade(economy, 80)
    const { low24h, high24h, last } = economy.perp(perpOf(economy, 'okx', 'SOL'))
    expect(low24h).toBeLessThanOrEqual(last)
    expect(high24h).toBeGreaterThanOrEqual(last)
    economy.close()
  })

  test('closed minutes of a spot pair reach back over the day and end at now', () => {
    const economy = openEconomy(folder)
    letTrade(economy, 80)
    const [market] = economy.spots('okx')
    const minutes = market === undefined ? [] : economy.spotMinutes(market, START - DAY, START + DAY)
    expect(minutes.at(-1)?.startMs).toBe((START + 20_000_000) / 1000)
    expect(minutes.length).toBe(1441)
    for (const [index, { startMs, open, high, low, close, buy, sell }] of minutes.entries()) {
      expect(startMs).toBe((minutes[0]?.startMs ?? 0) + index * 60_000)
      expect(low).toBeLessThanOrEqual(Math.min(open, close))
      expect(high).toBeGreaterThanOrEqual(Math.max(open, close))
      expect(buy + sell).toBeGreaterThan(0)
    }
    economy.close()
  })
})

describe('funding', () => {
  test.each(['binance', 'bybit', 'okx'] as const)(
    '%s runs by its formula over the minutes since the last settlement',
    (venue) => {
      const economy = openEconomy(folder)
      for (const market of economy.perps(venue)) {
        const { rate, settledAt } = economy.perp(market)
        const mean = new WeightedMean()
        for (let end = settledAt + MINUTE; end <= START; end += MINUTE) mean.add(economy.premiumAt(market, end))
        expect(rate).toBeCloseTo(rateOf(mean.value ?? Number.NaN, market), 15)
      }
      economy.close()
    },
  )

  test('a settlement happens when its time comes, at the rate that ran towards it', () => {
    const economy = openEconomy(folder)
    const market = perpOf(economy, 'binance', 'BTC')
    const before = economy.perp(market)
    expect(before.nextSettlement).toBe(START + 20_000_000)
    economy.advance(before.nextSettlement)
    const after = economy.perp(market)
    expect(after.settledAt).toBe(before.nextSettlement)
    expect(after.nextSettlement).toBe(before.nextSettlement + 480 * MINUTE)
    // One more minute ended with the interval.
    expect(after.settledRate).toBeCloseTo(before.rate, 5)
    const [newest, previous] = economy.settlements(market, 2)
    expect(newest).toMatchObject({ time: before.nextSettlement, rate: after.settledRate })
    expect(previous).toMatchObject({ time: before.settledAt, rate: before.settledRate })
    economy.close()
  })

  test('ninety days of settlements lie behind, at intervals of 8, 4 and 1 hours', () => {
    const economy = openEconomy(folder)
    const hours = new Set(
      perpVenueNames.flatMap((venue) => economy.perps(venue)).map(({ intervalHours }) => intervalHours),
    )
    expect([...hours].sort((left, right) => left - right)).toEqual([1, 4, 8])
    const market = perpOf(economy, 'okx', 'BTC')
    const settled = economy.settlements(market, 270)
    expect(settled.at(-1)?.time).toBe((settled[0]?.time ?? 0) - 269 * 480 * MINUTE)
    for (const { rate, mark } of settled) {
      expect(rate).toBeGreaterThanOrEqual(market.floor)
      expect(rate).toBeLessThanOrEqual(market.cap)
      expect(mark).toBeGreaterThan(0)
    }
    expect(economy.settlements(market, 2, settled[1]?.time)).toEqual(settled.slice(2, 4))
    economy.close()
  })
})

describe('made-up assets', () => {
  test('400 of them make more than 1,200 perpetuals with all figures, some of them extreme', () => {
    const economy = openEconomy(folder, { fillers: 400 })
    const markets = (['binance', 'bybit', 'okx'] as const).flatMap((venue) => economy.perps(venue))
    expect(markets.length).toBe(69 + 1200)
    expect(new Set(markets.map(({ venue, symbol }) => `${venue} ${symbol}`)).size).toBe(markets.length)
    const states = markets.map((market) => economy.perp(market))
    for (const { mark, index, openInterest, last, volume24h } of states) {
      for (const value of [mark, index, openInterest, last, volume24h]) expect(value).toBeGreaterThan(0)
    }
    expect(states.filter(({ rate }) => Math.abs(rate) >= 0.001).length).toBeGreaterThan(20)
    economy.close()
  })
})
