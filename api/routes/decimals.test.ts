import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fundingRate } from '../../processors/funding/formula.ts'
import { average } from '../../processors/funding/interval.ts'
import { startHarness, type Harness } from '../testing/harness.ts'

let api: Harness
beforeEach(async () => {
  api = await startHarness()
})
afterEach(() => api.stop())

describe('a number that was computed', () => {
  /** Digits of the numbers under these names, wherever they stand in an answer; those of more than 15 end in noise. */
  const names = /"(?:[a-z0-9]+_)*(?:price|low|high|usd|pct|annualized|rate|spread|ratio|index)":(-?[0-9.e-]+)/g
  const noisy = /(?:0{6,}|9{6,})\d{0,2}$/

  it.each([
    '/price/BTC',
    '/api/v1/prices?symbols=btc',
    '/api/v1/market/bitcoin',
    '/funding-rate/BTC',
    '/funding-rate/extreme',
    '/funding-rate/history/BTC',
    '/futures/funding-compare/BTC',
    '/futures/predicted-funding/BTC',
    '/futures/basis/BTC',
    '/futures/basis/history/BTC',
    '/futures/open-interest/BTC',
    '/futures/open-interest/history/BTC',
    '/futures/long-short/BTC',
    '/futures/long-short/history/BTC',
    '/liquidation/heatmap/BTC',
    '/liquidation/recent',
    '/liquidation/history/BTC',
    '/liquidation/heatmap/history/BTC',
    '/screener',
  ])('has in %s no digits that only binary arithmetic made', async (path) => {
    const { market } = api.database
    market.tickers = market.tickers.map((row) => ({ ...row, price: row.price / 1.1, quote_usd: 1.1 }))
    market.liquidations = market.liquidations.map((row) => ({ ...row, value: 54_450 * 2.20171 }))
    market.ratios = market.ratios.map((row) => ({ ...row, short_ratio: 1 - 0.4703 }))
    market.risks = market.risks.map((row) => ({ ...row, levels: [{ price: 100.3 * 1.1, long_usd: 1, short_usd: 0 }] }))
    const average_premium = average(new Map([[0, 0.0012]]), 0, 1).average ?? NaN
    const predicted = fundingRate('binance', average_premium, {
      intervalHours: 8,
      cap: null,
      floor: null,
      interestDaily: null,
    })
    market.funding = market.funding.map((row) => ({
      ...row,
      exchanges: row.exchanges.map((view) => ({ ...view, premium: 0.0012, average_premium, predicted })),
    }))
    const text = JSON.stringify((await api.get(path)).body)
    const digits = [...text.matchAll(names)].map(([, number = '']) => number)
    expect(digits.length).toBeGreaterThan(0)
    expect(digits.filter((number) => noisy.test(number.replace('.', '')))).toEqual([])
  })

  it('is, before the first premium, mark over index less one as their decimals make it', async () => {
    const { market } = api.database
    market.funding = market.funding.map((row) => ({
      ...row,
      exchanges: row.exchanges.map((view) => ({ ...view, premium: null, mark: 100.01, index: 100 })),
    }))
    expect((await api.get('/futures/predicted-funding/BTC')).body).toMatchObject({ premium_index: 0.0001 })
  })
})
