import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { basis, bestCarryTrade, type Carry, bestArb, type ExchangeRate } from './arbitrage.ts'

describe('the basis', () => {
  it('is the perpetual’s distance from spot, by the year with its own interval', () => {
    expect(basis(101, 100, 8)).toEqual({
      basis_usd: 1,
      basis_pct: 1,
      basis_annualized_pct: 1_095,
      direction: 'contango',
    })
    expect(basis(101, 100, 4).basis_annualized_pct).toBe(2_190)
  })

  it.each([
    [100.0001, 'contango'],
    [100, 'contango'],
    [99.9999, 'backwardation'],
  ])('of a perpetual at %s and spot at 100 is %s', (perp, expected) => {
    expect(basis(perp, 100, 8).direction).toBe(expected)
  })
})

describe('the best carry trade', () => {
  const at = (exchange: string, basis_annualized_pct: number, funding_annualized_pct = 10.95): Carry => ({
    exchange,
    basis_pct: (basis_annualized_pct * 8) / 8_760,
    basis_annualized_pct,
    funding_rate: (funding_annualized_pct * 8) / 876_000,
    funding_annualized_pct,
    interval_hours: 8,
    next_funding_time: '2026-01-01T08:00:00.000Z',
  })

  it('is at the highest basis by the year, also when none is positive', () => {
    expect(bestCarryTrade([at('binance', 5), at('okx', 9)])?.exchange).toBe('okx')
    expect(bestCarryTrade([at('binance', -5), at('okx', -9)])?.exchange).toBe('binance')
  })

  it('yields the funding that the short side is paid, not the premium over and over', () => {
    expect(bestCarryTrade([at('binance', 100, 48), at('okx', 119, 10.95)])).toEqual({
      exchange: 'okx',
      annualized_yield_pct: 10.95,
      strategy: 'long_spot_short_okx_perp',
      basis_pct: (119 * 8) / 8_760,
      funding_rate: (10.95 * 8) / 876_000,
      interval_hours: 8,
      next_funding_time: '2026-01-01T08:00:00.000Z',
    })
    expect(bestCarryTrade([at('okx', 119, -3)])?.annualized_yield_pct).toBe(-3)
  })

  it('of equal ones is the first, and of none null', () => {
    expect(bestCarryTrade([at('bybit', 1), at('okx', 1)])?.exchange).toBe('bybit')
    expect(bestCarryTrade([])).toBeNull()
  })
})

const at = (exchange: string, rate: number, interval_hours = 8): ExchangeRate => ({ exchange, rate, interval_hours })

describe('the best arbitrage', () => {
  it('is long where funding is lowest and short where it is highest', () => {
    const best = bestArb([at('binance', 0.0001), at('bybit', 0.0003), at('okx', -0.0001)])
    expect(best).toMatchObject({
      long_exchange: 'okx',
      short_exchange: 'bybit',
      direction: 'long_okx_short_bybit',
    })
    expect(best?.rate_spread).toBeCloseTo(0.0004, 15)
    expect(best?.annualized_spread_pct).toBeCloseTo(43.8, 10)
  })

  it('compares by the year: the same rate each hour is more than each 8 h', () => {
    const best = bestArb([at('binance', 0.0002, 8), at('bybit', 0.0001, 1)])
    expect(best).toMatchObject({ long_exchange: 'binance', short_exchange: 'bybit', rate_spread: -0.0001 })
    expect(best?.annualized_spread_pct).toBeCloseTo(87.6 - 21.9, 10)
  })

  it('of rates that nearly cancel has the decimals that they make', () => {
    const pair = fc.record({ rate: fc.integer({ min: -1_000, max: 1_000 }), more: fc.integer({ min: 1, max: 10 }) })
    fc.assert(
      fc.property(pair, ({ rate, more }) => {
        const best = bestArb([at('binance', Number(`${rate}e-6`)), at('okx', Number(`${rate + more}e-6`))])
        expect(best).toMatchObject({
          rate_spread: Number(`${more}e-6`),
          annualized_spread_pct: Number(`${1095 * more}e-4`),
        })
      }),
    )
  })

  it('is null below two venues', () => {
    expect(bestArb([])).toBeNull()
    expect(bestArb([at('okx', 0.0001)])).toBeNull()
  })

  it('of equal rates takes the first as the lower, and two venues', () => {
    expect(bestArb([at('binance', 0.0001), at('bybit', 0.0001)])).toMatchObject({
      direction: 'long_binance_short_bybit',
      annualized_spread_pct: 0,
    })
  })

  it('never has a negative spread by the year', () => {
    const rate = fc.record({
      exchange: fc.constantFrom('binance', 'bybit', 'okx'),
      rate: fc.double({ min: -0.03, max: 0.03, noNaN: true }),
      interval_hours: fc.constantFrom(1, 2, 4, 8),
    })
    fc.assert(
      fc.property(fc.array(rate, { minLength: 2, maxLength: 3 }), (rates) => {
        expect(bestArb(rates)?.annualized_spread_pct).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})
