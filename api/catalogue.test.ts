import { describe, expect, it } from 'vitest'
import { findAsset } from './catalogue.ts'
import type { InstrumentRow } from './views/world.ts'

const rows: InstrumentRow[] = [
  { asset: 'btc', venue: 'binance', base: 'BTC', live: true },
  { asset: 'matic', venue: 'binance', base: 'POL', live: true },
  { asset: 'wif', venue: 'okx', base: 'WIF', live: true },
  { asset: 'old', venue: 'okx', base: 'OLD', live: false },
  { asset: 'twin-a', venue: 'okx', base: 'TWIN', live: true },
  { asset: 'twin-b', venue: 'bybit', base: 'TWIN', live: true },
  { asset: 'gone', venue: 'bybit', base: 'NEW', live: true },
]

describe('a symbol', () => {
  it.each([
    ['BTC', 'btc', 'BTC'],
    ['BTCUSDT', 'btc', 'BTC'],
    ['XBT', 'btc', 'BTC'],
    ['MATIC', 'matic', 'MATIC'],
    ['POL', 'matic', 'MATIC'],
    ['WIF', 'wif', 'WIF'],
    ['NEW', 'gone', 'GONE'],
  ])('%s is %s, shown as %s', (symbol, asset, shown) => {
    expect(findAsset(symbol, rows)).toEqual({ asset, symbol: shown })
  })

  it.each(['NOPE', 'OLD', 'USDT', 'ETH', 'TWIN', 'BTCUSDTUSDT'])('%s is in no venue’s list', (symbol) => {
    expect(() => findAsset(symbol, rows)).toThrow(expect.objectContaining({ code: 'symbol_not_found' }))
  })

  it('is one of those known by name before any list is there', () => {
    expect(findAsset('ETH', [])).toEqual({ asset: 'eth', symbol: 'ETH' })
    expect(() => findAsset('WIF', [])).toThrow(expect.objectContaining({ code: 'symbol_not_found' }))
  })
})
