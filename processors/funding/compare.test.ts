import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bestArb, type ExchangeRate } from './compare.ts'

const at = (exchange: string, rate: number, intervalHours = 8): ExchangeRate => ({ exchange, rate, intervalHours })

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
      intervalHours: fc.constantFrom(1, 2, 4, 8),
    })
    fc.assert(
      fc.property(fc.array(rate, { minLength: 2, maxLength: 3 }), (rates) => {
        expect(bestArb(rates)?.annualized_spread_pct).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})
