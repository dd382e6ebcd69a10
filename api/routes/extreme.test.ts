import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { perpetual } from '../testing/market-facts.ts'
import { NOW, startHarness, type Harness } from '../testing/harness.ts'

let api: Harness
beforeEach(async () => {
  api = await startHarness()
})
afterEach(() => api.stop())

describe('/funding-rate/extreme', () => {
  interface Result {
    symbol: string
    exchange: string
    funding_rate: number
    funding_rate_pct: number
    annualized_pct: number
    direction: string
    signal: string
  }

  const rates = fc
    .sample(fc.integer({ min: -300, max: 300 }), { numRuns: 1_200, seed: 3 })
    .map((n) => Number(`${n}e-6`))
  const venues = ['binance', 'bybit', 'okx']

  beforeEach(() => {
    api.database.market.funding = Array.from({ length: 400 }, (_, index) => ({
      asset: `coin${index}`,
      exchanges: venues.map((venue, place) => ({
        ...perpetual(venue, `coin${index}`, NOW, 10),
        rate: rates[index * 3 + place] ?? 0,
        interval_hours: [8, 4, 1][place] ?? 8,
      })),
      time: NOW,
      v: 1,
    }))
  })

  it.each([0, 0.01, 0.0123, 0.03, 5])(
    'flags of 1,200 markets those of %f percent or more, largest first',
    async (at) => {
      const answer = await api.body(`/funding-rate/extreme?threshold=${at}`)
      const results = answer['results'] as Result[]
      const expected = rates.filter((rate) => Math.abs(Math.round(rate * 1e6)) >= Math.round(at * 1e4))
      expect(answer).toMatchObject({ threshold: at, total_markets_scanned: 1_200, extreme_markets: expected.length })
      const sizes = results.map(({ funding_rate }) => Math.abs(funding_rate))
      expect(sizes).toEqual(expected.map(Math.abs).toSorted((a, b) => b - a))
      for (const result of results) {
        const perDay = { binance: 3, bybit: 6, okx: 24 }[result.exchange] ?? NaN
        expect(result.annualized_pct).toBeCloseTo(result.funding_rate * perDay * 365 * 100, 9)
        const isPositive = result.funding_rate >= 0
        expect([result.direction, result.signal]).toEqual(
          isPositive ? ['longs_paying', 'extreme_bullish'] : ['shorts_paying', 'extreme_bearish'],
        )
      }
    },
  )

  it('says which pay their venue’s interest and nothing else, and puts them last among equals', async () => {
    const rate = (index: number, place: number): number =>
      [
        [0.0001, 0.00005, 0.0000125],
        [0.0001, 0.0001, -0.0001],
        [0.0002, 0.0001, 0.0001],
      ][index]?.[place] ?? 0
    const { market } = api.database
    market.funding = market.funding.slice(0, 3).map((row, index) => ({
      ...row,
      exchanges: row.exchanges.map((view, place) => ({ ...view, rate: rate(index, place) })),
    }))
    // Intervals of 8, 4 and 1 h; one contract has an interest of its own.
    market.terms = [{ instrument: 'binance:perp:COIN2USDT', interest_daily: 0.0006 }]
    const seen = async (threshold: number) => {
      const answer = await api.body(`/funding-rate/extreme?threshold=${threshold}`)
      const results = answer['results'] as (Result & { baseline: boolean; excess_pct: number; baseline_pct: number })[]
      const shown = results.map((row) => [row.symbol, row.exchange, row.baseline, row.baseline_pct, row.excess_pct])
      return [answer['extreme_markets'], answer['baseline_markets'], shown]
    }
    const flagged = [
      ['COIN2USDT', 'binance', true, 0.02, 0],
      ['COIN1USDT', 'bybit', false, 0.005, 0.005],
      ['COIN1USDT', 'okx', false, 0.00125, -0.01125],
      ['COIN2USDT', 'bybit', false, 0.005, 0.005],
      ['COIN2USDT', 'okx', false, 0.00125, 0.00875],
      ['COIN0USDT', 'binance', true, 0.01, 0],
      ['COIN1USDT', 'binance', true, 0.01, 0],
    ]
    expect(await seen(0.01)).toEqual([7, 3, flagged])
    expect(await seen(0.0101)).toEqual([1, 1, flagged.slice(0, 1)])
    expect((await seen(0)).slice(0, 2)).toEqual([9, 5])
  })

  it('looks through the markets once a second, whatever thresholds are asked for', async () => {
    const scanned = await Promise.all([0, 0.01, 0.05].map((at) => api.body(`/funding-rate/extreme?threshold=${at}`)))
    api.advance(999)
    scanned.push(await api.body('/funding-rate/extreme?threshold=0.015'))
    expect(new Set(scanned.map((answer) => answer['scanned_at'])).size).toBe(1)
    api.advance(1)
    expect((await api.body('/funding-rate/extreme'))['scanned_at']).not.toBe(scanned[0]?.['scanned_at'])
    expect(api.database.asked).toEqual([])
  })

  it('leaves out markets that were not heard of for two minutes', async () => {
    api.database.market.funding = api.database.market.funding.map((row, index) => ({
      ...row,
      exchanges: row.exchanges.map((view) => ({ ...view, rate_time: NOW - (index < 100 ? 121_000_000 : 0) })),
    }))
    const answer = await api.body('/funding-rate/extreme')
    expect(answer).toMatchObject({ total_markets_scanned: 900, stale_markets: 300, stale: false })
  })
})
