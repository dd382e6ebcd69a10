import { describe, expect, it } from 'vitest'
import { partitionOf } from '../../schemas/catalogue.ts'
import { catalogueOf, findAsset } from './catalogue.ts'
import { tradeVenues, usualTradeVenues } from '../../schemas/venues.ts'
import type { InstrumentRow } from '../views/world.ts'

const rows: InstrumentRow[] = [
  { asset: 'btc', venue: 'binance', market: 'perp', base: 'BTC', live: true },
  { asset: 'matic', venue: 'binance', market: 'perp', base: 'POL', live: true },
  { asset: 'wif', venue: 'okx', market: 'perp', base: 'WIF', live: true },
  { asset: 'old', venue: 'okx', market: 'perp', base: 'OLD', live: false },
  { asset: 'twin-a', venue: 'okx', market: 'perp', base: 'TWIN', live: true },
  { asset: 'twin-b', venue: 'bybit', market: 'perp', base: 'TWIN', live: true },
  { asset: 'coin', venue: 'kraken', market: 'spot', base: 'COIN', live: true },
  { asset: 'far', venue: 'kraken', market: 'perp', base: 'FAR', live: true },
  { asset: 'gone', venue: 'bybit', market: 'perp', base: 'NEW', live: true },
]

const catalogue = catalogueOf(rows, usualTradeVenues)

describe('a symbol', () => {
  it.each([
    ['BTC', 'btc', 'BTC'],
    ['BTCUSDT', 'btc', 'BTC'],
    ['XBT', 'btc', 'BTC'],
    ['MATIC', 'matic', 'MATIC'],
    ['POL', 'matic', 'MATIC'],
    ['WIF', 'wif', 'WIF'],
    ['NEW', 'gone', 'GONE'],
    ['COIN', 'coin', 'COIN'],
  ])('%s is %s, shown as %s', (symbol, asset, shown) => {
    expect(findAsset(symbol, catalogue)).toEqual({ asset, symbol: shown })
  })

  it.each(['NOPE', 'OLD', 'USDT', 'ETH', 'TWIN', 'FAR', 'BTCUSDTUSDT'])('%s is in no venue’s list', (symbol) => {
    expect(() => findAsset(symbol, catalogue)).toThrow(expect.objectContaining({ code: 'symbol_not_found' }))
  })

  it('may be any of hundreds that the venues list and no map here knows, in every partition', () => {
    const names = Array.from({ length: 600 }, (_, n) => `NEW${n}`)
    const listed = names.map((base) => ({
      asset: base.toLowerCase(),
      venue: 'bybit',
      market: 'perp',
      base,
      live: true,
    }))
    const all = catalogueOf([...rows, ...listed], usualTradeVenues)
    expect(names.map((name) => findAsset(name, all).asset)).toEqual(listed.map(({ asset }) => asset))
    const partitions = new Set(listed.map(({ asset }) => partitionOf(asset, 12)))
    expect(partitions.size).toBe(12)
  })

  describe('of a further venue', () => {
    const usual = new Set<string>(usualTradeVenues.map(({ venue }) => venue))
    const further = tradeVenues.filter(({ venue, market }) => !usual.has(venue) && market === 'perp')
    const own: InstrumentRow[] = further.flatMap(({ venue, market }) => [
      { asset: `only-${venue}`, venue, market, base: `ONLY${venue.toUpperCase()}`, live: true },
      { asset: `wrong-${venue}`, venue, market: 'spot', base: 'WRONG', live: true },
      { asset: `else-${venue}`, venue, market, base: 'NEW', live: true },
    ])
    const list = [...rows, ...own]

    it.each(further)('may be asked for where the trades of $venue count, by its ticker there', (row) => {
      const [symbol, asset] = [`ONLY${row.venue.toUpperCase()}`, `only-${row.venue}`]
      const found = { asset, symbol: asset.toUpperCase() }
      expect(findAsset(symbol, catalogueOf(list, [...usualTradeVenues, row]))).toEqual(found)
      const unknown = expect.objectContaining({ code: 'symbol_not_found' }) as unknown
      expect(() => findAsset(symbol, catalogueOf(list, usualTradeVenues))).toThrow(unknown)
      expect(() => findAsset('WRONG', catalogueOf(list, [row]))).toThrow(unknown)
    })

    it('leaves a ticker to those whose prices or funding answer for it', () => {
      expect(findAsset('NEW', catalogueOf(list, tradeVenues)).asset).toBe('gone')
    })
  })

  it('is one of those known by name before any list is there', () => {
    expect(findAsset('ETH', catalogueOf([], usualTradeVenues))).toEqual({ asset: 'eth', symbol: 'ETH' })
    expect(() => findAsset('WIF', catalogueOf([], usualTradeVenues))).toThrow(
      expect.objectContaining({ code: 'symbol_not_found' }),
    )
  })
})

describe('the catalogue', () => {
  it('tells a venue’s markets apart', () => {
    expect([...catalogue.venuesOf('btc', 'perp')]).toEqual(['binance'])
    expect([...catalogue.venuesOf('btc', 'spot')]).toEqual([])
    expect([...catalogue.venuesOf('old', 'perp')]).toEqual([])
  })
})
