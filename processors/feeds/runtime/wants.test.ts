import { describe, expect, it } from 'vitest'
import { maxWants, streamedAssets, Wants } from './control.ts'

function want(asset: string, until: number) {
  return { asset, wanter: 'api', asked: 0, until }
}

describe('wanted assets', () => {
  it('are the pre-subscribed ones and those that somebody wants, until that lapses', () => {
    const wants = new Wants(['btc'])
    wants.apply('pepe|api', want('pepe', 100))
    expect([...wants.assets(99)]).toEqual(['btc', 'pepe'])
    expect([...wants.assets(100)]).toEqual(['btc'])
    expect([...wants.assets(0)]).toEqual(['btc'])
  })

  it('are not those whose want was taken back', () => {
    const wants = new Wants([])
    wants.apply('pepe|api', want('pepe', 100))
    wants.apply('pepe|api', null)
    expect([...wants.assets(0)]).toEqual([])
  })

  it('stay bounded', () => {
    const wants = new Wants([])
    for (let n = 0; n <= maxWants; n++) wants.apply(`${n}`, want(`a${n}`, 100))
    expect(wants.assets(0).size).toBe(maxWants)
  })

  it.each([
    [[], ['btc', 'eth', 'sol', 'xrp', 'bnb', 'doge', 'link', 'arb']],
    [
      ['btc', 'POL', 'WIF'],
      ['btc', 'matic', 'wif'],
    ],
  ])('from the start for SYMBOLS=%s are %s', (symbols, assets) => {
    expect(streamedAssets(symbols)).toEqual(assets)
  })
})
