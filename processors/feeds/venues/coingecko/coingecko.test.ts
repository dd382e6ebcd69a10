import { describe, expect, it } from 'vitest'
import { hostsOf } from '../../../../schemas/venues.ts'
import { markets } from './venue.ts'

const now = 1789550000000
const btc = {
  id: 'bitcoin',
  symbol: 'BTC',
  name: 'Bitcoin',
  current_price: 75755,
  market_cap: 1521766040123,
  market_cap_rank: 1,
  total_volume: 39122950768,
  price_change_percentage_24h: -1.53973,
  circulating_supply: 20085093.0,
  total_supply: 20085143.0,
  ath: 126080,
  ath_date: '2025-10-06T10:57:42.000Z',
  atl: 67.81,
  atl_date: '2013-07-05T16:00:00.000Z',
  last_updated: '2026-09-16T09:14:20.000Z',
  price_change_percentage_24h_in_currency: -1.5,
  price_change_percentage_7d_in_currency: 2.25,
  price_change_percentage_30d_in_currency: -0.0001,
}
const token = {
  kind: 'token',
  symbol: 'bitcoin',
  ticker: 'btc',
  name: 'Bitcoin',
  price: 75755,
  change24h: -1.5,
  change7d: 2.25,
  change30d: -0.0001,
  volume24h: 39122950768,
  marketCap: 1521766040123,
  rank: 1,
  circulating: 20085093,
  total: 20085143,
  ath: 126080,
  athDate: Date.parse('2025-10-06T10:57:42Z') * 1000,
  atl: 67.81,
  atlDate: Date.parse('2013-07-05T16:00:00Z') * 1000,
  updated: Date.parse('2026-09-16T09:14:20Z') * 1000,
}
const rowsOf = (...rows: unknown[]): unknown => {
  const answer = markets.parse('usd', rows, now)
  return answer.kind === 'rows' ? answer.rows : answer
}

describe('CoinGecko', () => {
  it('is asked for all coins in one call a minute, under their old ids too', () => {
    const url = new URL(markets.call('usd', now).path, hostsOf('coingecko').rest)
    const ids = url.searchParams.get('ids')?.split(',') ?? []
    expect(url.pathname).toBe('/api/v3/coins/markets')
    expect(ids).toEqual(
      expect.arrayContaining(['bitcoin', 'matic-network', 'polygon-ecosystem-token', 'the-open-network']),
    )
    expect(ids.length).toBeLessThanOrEqual(Number(url.searchParams.get('per_page')))
    expect(url.searchParams.get('price_change_percentage')).toBe('24h,7d,30d')
  })

  it('tells prices, ranks and supplies', () => {
    expect(rowsOf(btc)).toEqual([token])
  })

  it.each([
    [
      'the 24 h change under its old name',
      { price_change_percentage_24h_in_currency: undefined },
      { change24h: -1.53973 },
    ],
    ['no rank', { market_cap_rank: null }, { rank: null }],
    ['no supply limit', { total_supply: null }, { total: null }],
    ['a capitalisation of zero, which is none', { market_cap: 0 }, { marketCap: null }],
    ['no volume traded', { total_volume: 0 }, { volume24h: 0 }],
    ['a lowest price of before there were coins', { atl_date: '1970-01-01T00:00:00.000Z' }, { atlDate: null }],
    ['no dates', { ath_date: null, atl_date: undefined }, { athDate: null, atlDate: null }],
    ['no changes', { price_change_percentage_7d_in_currency: null }, { change7d: null }],
  ])('takes %s', (_, change, expected) => {
    expect(rowsOf({ ...btc, ...change })).toEqual([{ ...token, ...expected }])
  })

  it.each([
    ['no id', { id: undefined }],
    ['no symbol', { symbol: '' }],
    ['no name', { name: null }],
    ['a price as text', { current_price: '75755' }],
    ['a negative price', { current_price: -1 }],
    ['an infinite price', { current_price: Infinity }],
    ['a negative volume', { total_volume: -1 }],
    ['a change as text', { price_change_percentage_7d_in_currency: '1' }],
    ['a broken rank', { market_cap_rank: 1.5 }],
    ['a rank of zero', { market_cap_rank: 0 }],
    ['a rank beyond all coins', { market_cap_rank: 3_000_000_000 }],
    ['a date that is none', { ath_date: 'yesterday' }],
    ['no time', { last_updated: null }],
    ['a time as number', { last_updated: now }],
  ])('is refused with %s, and its neighbour is not', (_, change) => {
    expect(rowsOf({ ...btc, ...change }, btc)).toEqual([{ refused: 'bad-field' }, token])
  })

  it.each([
    [{ status: { error_code: 429, error_message: 'Too many requests' } }, { kind: 'limited' }],
    [
      { status: { error_code: 10002, error_message: 'Missing key' } },
      { kind: 'error', code: '10002', message: 'Missing key' },
    ],
    [{ error: 'coin not found' }, { kind: 'error', code: 'error', message: 'coin not found' }],
    ['<html>', { kind: 'error', code: 'bad-body', message: 'an array of coins expected' }],
  ])('says no with %o', (body, answer) => {
    expect(markets.parse('usd', body, now)).toEqual(answer)
  })
})
