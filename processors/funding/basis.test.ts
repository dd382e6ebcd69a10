import { describe, expect, it } from 'vitest'
import { basis, bestCarryTrade } from './basis.ts'

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
  const at = (exchange: string, basis_annualized_pct: number) => ({ exchange, basis_annualized_pct })

  it('is the highest basis by the year, also when none is positive', () => {
    expect(bestCarryTrade([at('binance', 5), at('okx', 9)])).toEqual({
      exchange: 'okx',
      annualized_yield_pct: 9,
      strategy: 'long_spot_short_okx_perp',
    })
    expect(bestCarryTrade([at('binance', -5), at('okx', -9)])?.exchange).toBe('binance')
  })

  it('of equal ones is the first, and of none null', () => {
    expect(bestCarryTrade([at('bybit', 1), at('okx', 1)])?.exchange).toBe('bybit')
    expect(bestCarryTrade([])).toBeNull()
  })
})
