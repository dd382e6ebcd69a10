import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FundingView } from '../../schemas/records.ts'
import { NOW, startHarness, type Harness } from '../testing/harness.ts'

let api: Harness
beforeEach(async () => {
  api = await startHarness()
})
afterEach(() => api.stop())

describe('/futures/basis', () => {
  it('is annualised by the venue’s own interval', async () => {
    const { exchanges } = await api.body('/futures/basis/BTC')
    // Marks are 1/1024 below, at and above the spot price of 100; a year has 1,095 intervals of 8 h.
    const figures = { basis_usd: 100 / 1024, basis_pct: 100 / 1024, direction: 'contango' }
    expect(exchanges).toMatchObject({ okx: figures, bybit: { basis_usd: 0, direction: 'contango' } })
    expect((exchanges as { okx: { basis_annualized_pct: number } }).okx.basis_annualized_pct).toBeCloseTo(
      106.93359375,
      9,
    )
  })

  it('holds perpetuals against the spot price of their moment, not against a later one', async () => {
    const { market } = api.database
    const told = market.funding.find(({ asset }) => asset === 'btc')?.time ?? 0
    const own = market.tickers.filter(({ asset, instrument }) => asset === 'btc' && instrument.startsWith('binance:'))
    for (const ticker of own) market.tickers.push({ ...ticker, price: 7, time: told + 1, received: told + 1 })
    expect(await api.body('/futures/basis/BTC')).toMatchObject({ spot_price: 100 })
    market.funding = market.funding.map((funding) => ({ ...funding, time: told + 1 }))
    expect(await api.body('/futures/basis/BTC')).toMatchObject({ spot_price: 7 })
  })

  it.each([
    [3_600, false],
    [3_601, true],
  ])('of a spot market that said nothing for %i s is stale: %s', async (seconds, stale) => {
    spokeLast(seconds)
    expect(await api.body('/futures/basis/BTC')).toMatchObject({ spot_age_ms: stale ? 3_601_000 : 0, stale })
  })

  it('of a spot market that is listed no longer is stale', async () => {
    spokeLast(16)
    api.database.instruments.push({ asset: 'btc', venue: 'binance', market: 'spot', base: 'BTCUSDT', live: false })
    expect(await api.body('/futures/basis/BTC')).toMatchObject({ spot_price: 100, spot_age_ms: 16_000, stale: true })
  })

  it('yields by the year what its funding pays, as the comparison of funding says it', async () => {
    const { best_carry_trade: trade } = await api.body('/futures/basis/BTC')
    const { exchanges } = await api.body('/futures/funding-compare/BTC')
    const { annualized_pct, funding_rate, next_funding_time } =
      (exchanges as Readonly<Record<string, Record<string, unknown>>>)['okx'] ?? {}
    expect(annualized_pct).toBeCloseTo(32.85, 9)
    expect(trade).toEqual({
      exchange: 'okx',
      annualized_yield_pct: annualized_pct,
      strategy: 'long_spot_short_okx_perp',
      basis_pct: 100 / 1024,
      funding_rate,
      interval_hours: 8,
      next_funding_time,
    })
  })

  it('chooses among those whose funding is known and no older than two minutes', async () => {
    change((view) => (view.exchange === 'okx' ? { rate_time: NOW - 121_000_000 } : {}))
    const later = await api.body('/futures/basis/BTC')
    expect(later).toMatchObject({ exchanges: { okx: { status: 'live' } }, best_carry_trade: { exchange: 'bybit' } })
    change(() => ({ rate: null }))
    api.advance(31_000)
    change((view) => ({ mark_time: (view.mark_time ?? 0) + 31_000_000 }))
    expect(await api.body('/futures/basis/BTC')).toMatchObject({ best_carry_trade: null })
  })
})

/** No spot market has said anything for `seconds`; channels live. */
function spokeLast(seconds: number): void {
  const { market } = api.database
  const time = NOW - seconds * 1_000_000
  market.tickers = market.tickers.map((row) => ({ ...row, time, received: time }))
}

function change(of: (view: FundingView) => Partial<FundingView>): void {
  const { market } = api.database
  market.funding = market.funding.map((funding) => ({
    ...funding,
    exchanges: funding.exchanges.map((view) => ({ ...view, ...of(view) })),
  }))
}
