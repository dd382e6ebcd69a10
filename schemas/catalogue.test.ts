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

  it('has another map hash for each prefix of the list', () => {
    const hashes = knownAssets.map((_, index) => mapHash(knownAssets.slice(0, index + 1)))
    expect(new Set(hashes).size).toBe(knownAssets.length)
  })
})
