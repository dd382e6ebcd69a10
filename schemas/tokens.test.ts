import { describe, expect, it } from 'vitest'
import { knownAssets } from './catalogue.ts'
import { registryIds, registryTokens } from './tokens.ts'

const byId = (id: string) => registryTokens.find((row) => [row.id, ...row.formerly].includes(id))
const byAsset = (asset: string) => registryTokens.find((row) => row.asset === asset)

describe('the registry table', () => {
  it('has every known asset once, and no id twice', () => {
    const assets = registryTokens.map(({ asset }) => asset)
    expect(new Set(assets).size).toBe(assets.length)
    expect(assets).toEqual(expect.arrayContaining(knownAssets.map(({ id }) => id)))
    expect(new Set(registryIds).size).toBe(registryIds.length)
  })

  it.each([
    ['bitcoin', 'btc'],
    ['avalanche-2', 'avax'],
    ['matic-network', 'matic'],
    ['polygon-ecosystem-token', 'matic'],
    ['the-open-network', 'ton'],
    ['binancecoin', 'bnb'],
  ])('takes %s for %s', (id, asset) => {
    expect(byId(id)?.asset).toBe(asset)
    expect(byAsset(asset)).toBe(byId(id))
  })

  it('does not take a ticker for an id', () => {
    expect(byId('btc')).toBeUndefined()
    expect(byAsset('wif')).toBeUndefined()
  })
})
