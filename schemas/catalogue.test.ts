import { describe, expect, it } from 'vitest'
import { knownAsset, knownAssets, mapHash, partitionOf, symbolOf } from './catalogue.ts'

describe('the catalogue', () => {
  it.each([
    ['POL', 'matic'],
    ['MATIC', 'matic'],
    ['GRAM', 'ton'],
    ['XBT', 'btc'],
  ])('knows %s as %s, whatever the venue calls it now', (symbol, id) => {
    expect(knownAsset(symbol)?.id).toBe(id)
  })

  it('shows each asset under its first symbol', () => {
    expect(['btc', 'matic', 'ton', 'wif'].map(symbolOf)).toEqual(['BTC', 'MATIC', 'TON', 'WIF'])
  })

  it('has no ticker twice', () => {
    const symbols = knownAssets.flatMap((asset) => asset.symbols)
    expect(new Set(symbols).size).toBe(symbols.length)
  })

  it('puts the eight streamed assets on partitions of their own', () => {
    const streamed = knownAssets.filter((asset) => asset.streamed === true).map((asset) => partitionOf(asset.id, 12))
    expect(streamed).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('places an asset that it does not know by its hash, the same each time', () => {
    expect([partitionOf('wif', 12), partitionOf('bonk', 12)]).toEqual([partitionOf('wif', 12), partitionOf('bonk', 12)])
    expect(partitionOf('wif', 12)).toBeLessThan(12)
  })

  it('leaves an asset that is added where its hash had put it', () => {
    const assets = ['wif', 'bonk', 'hype', 'hbar', 'aave']
    const extended = [...knownAssets, ...assets.map((id) => ({ id, symbols: [id.toUpperCase()] as const }))]
    const before = assets.map((asset) => partitionOf(asset, 12))
    expect(assets.map((asset) => partitionOf(asset, 12, extended))).toEqual(before)
    expect(mapHash(extended)).toBe(mapHash())
  })

  it('leaves every asset that was dealt out where it is', () => {
    const places = ['btc', 'arb', 'sui', 'usdc'].map((asset) => partitionOf(asset, 1000))
    expect(places).toEqual([0, 7, 15, 24])
    expect(mapHash()).toBe('556fc175bd613ff0')
    expect(mapHash(knownAssets.toReversed())).not.toBe(mapHash())
  })
})
