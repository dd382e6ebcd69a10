import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openEconomy, perpOf } from '../testing/market.ts'
import { simulatedMarkets } from './markets.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'economy-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('instrument lists', () => {
  const swap = { venue: 'okx', market: 'perp', symbol: 'BTC-USDT-SWAP' } as const

  test('what is taken off the list is gone, and comes back as it was', () => {
    const economy = openEconomy(folder)
    const before = perpOf(economy, 'okx', 'BTC')
    expect(economy.list({ ...swap, action: 'delist', factor: undefined })).toBeUndefined()
    expect(economy.perps('okx').some(({ asset }) => asset === 'BTC')).toBe(false)
    expect(economy.list({ ...swap, action: 'delist', factor: undefined })).toBe('not listed')
    expect(economy.list({ ...swap, action: 'list', factor: undefined })).toBeUndefined()
    expect(perpOf(economy, 'okx', 'BTC')).toEqual(before)
    economy.close()
  })

  test('a contract of another value holds the same base units, also after a restart', () => {
    const economy = openEconomy(folder)
    const before = economy.perp(perpOf(economy, 'okx', 'BTC'))
    economy.list({ ...swap, action: 'change', factor: -3 })
    const changed = perpOf(economy, 'okx', 'BTC')
    expect(changed).toMatchObject({ factor: -3, sizeDecimals: 1 })
    expect(economy.perp(changed)).toEqual(before)
    const traded = simulatedMarkets.find(({ venue, asset }) => venue === 'okx' && asset === 'BTC')
    if (traded === undefined) throw new Error('OKX has no BTC')
    expect(economy.listed(traded)).toMatchObject({ factor: -3, sizeDecimals: 1 })
    economy.close()
    const again = openEconomy(folder)
    expect(perpOf(again, 'okx', 'BTC').factor).toBe(-3)
    again.close()
  })

  test('a new pair of a known asset has its price, one of an unknown asset its own', () => {
    const economy = openEconomy(folder)
    expect(economy.list({ venue: 'coinbase', market: 'spot', symbol: 'TRX-USD', action: 'list' })).toBeUndefined()
    const trx = economy.spots('coinbase').find(({ symbol }) => symbol === 'TRX-USD')
    const other = economy.spots('kraken').find(({ asset }) => asset === 'TRX')
    if (trx === undefined || other === undefined) throw new Error('TRX is not listed')
    expect(economy.spot(trx).last / economy.spot(other).last).toBeCloseTo(1, 3)
    const fresh = { venue: 'bybit', market: 'perp', symbol: 'NEWUSDT', action: 'list', factor: undefined } as const
    expect(economy.list(fresh)).toBeUndefined()
    expect(economy.perp(perpOf(economy, 'bybit', 'NEW')).mark).toBeGreaterThan(0)
    economy.close()
  })
})
