import { describe, expect, it, vi } from 'vitest'
import type { LiquidationRisk } from '../../schemas/records.ts'
import { Levels } from './levels.ts'
import { riskOf } from './risk.ts'
import type { Contract } from './state.ts'
import { binance, SECOND, T0 } from './testing/records.ts'

/** Open interest of 1,000 at a mark of 100, and no level. */
function contract(change: Partial<Contract> = {}): Contract {
  return {
    asset: 'btc',
    instrument: binance,
    venue: 'binance',
    mark: { value: 100, time: T0, received: T0 },
    openInterest: { value: 1_000, time: T0, received: T0 },
    base: 1_000,
    terms: { maxLeverage: null, margin: 0.005 },
    seed: null,
    aged: null,
    levels: new Levels(),
    heard: T0,
    isChanged: false,
    ...change,
  }
}

function riskWith(...all: readonly Contract[]): LiquidationRisk | undefined {
  const told = { risk: null, isDirty: true, emitted: 0, isChanged: false, sweptLong: 0, sweptShort: 0, since: T0 }
  const contracts = new Map(all.map((each) => [each.instrument, each]))
  return riskOf({ asset: 'btc', contracts, ...told }, T0 + SECOND, 1)
}

/** Longs of one base unit at each price. */
function longsAt(...prices: readonly number[]): Levels {
  const levels = new Levels()
  for (const price of prices) levels.add(10, 'long', price, 1)
  return levels
}

describe('the risk of liquidations', () => {
  it('has what lies within 5 % and 10 % of the price, and levels within 25 %', () => {
    const seen = riskWith(contract({ levels: longsAt(95.1, 94.8, 90.1, 89.8, 75.1, 74.8) }))
    expect([seen?.at_risk_5_usd, seen?.at_risk_10_usd, seen?.levels.length]).toEqual([100, 300, 5])
    expect(seen?.at_risk_10_pct).toBeCloseTo(0.3, 9)
  })

  it('walks the levels of a contract once', () => {
    const levels = longsAt(95.1, 90.1)
    const walks = vi.spyOn(levels, 'each')
    riskWith(contract({ levels }))
    expect(walks).toHaveBeenCalledTimes(1)
  })

  it('has a level in the middle of its quarter of a percent, on its side of the price', () => {
    const levels = longsAt(95.1)
    levels.add(10, 'short', 104.9, 2)
    const seen = riskWith(contract({ levels }))?.levels.map(({ price, ...usd }) => [Number(price.toFixed(9)), usd])
    expect(seen).toEqual([
      [95.125, { long_usd: 100, short_usd: 0 }],
      [104.875, { long_usd: 0, short_usd: 200 }],
    ])
  })

  it('is of the levels as they are, though open interest has grown a little beyond what they stand for', () => {
    const grown = { value: 1_004, time: T0, received: T0 }
    const seen = riskWith(contract({ levels: longsAt(95.1), openInterest: grown }))
    expect([seen?.at_risk_5_usd, seen?.open_interest_usd]).toEqual([100, 100_400])
  })

  it('has of a venue the sum of its contracts, the mark of the largest, and the oldest of their times', () => {
    const older = { time: T0 - SECOND, received: T0 }
    const small = contract({
      instrument: 'binance:perp:BTCUSDC',
      mark: { value: 101, time: T0, received: T0 },
      openInterest: { value: 10, ...older },
    })
    expect(riskWith(small, contract())?.exchanges).toEqual([
      { exchange: 'binance', open_interest_usd: 101_010, mark: 100, time: T0 - SECOND },
    ])
  })
})
