import { afterEach, beforeEach, expect, test } from 'vitest'
import { NOON } from '../testing/economy.ts'
import { testVenueApi, type TestVenueApi } from '../testing/venue-api.ts'
import { coinGeckoApi } from './coingecko.ts'

let api: TestVenueApi

beforeEach(async () => {
  api = await testVenueApi(coinGeckoApi)
})
afterEach(() => api.close())

test('shows the market by capitalisation, with the windows that are asked for', async () => {
  const path = '/api/v3/coins/markets?vs_currency=usd&price_change_percentage=24h,7d,30d'
  const { body } = await api.get(path)
  expect(body).toMatchObject([
    {
      id: 'bitcoin',
      symbol: 'btc',
      current_price: 84_000,
      market_cap: 1_671_600_000_000,
      price_change_percentage_24h: -1.53973,
      price_change_percentage_7d_in_currency: 2.5,
      price_change_percentage_30d_in_currency: -10.25,
      ath_date: expect.stringMatching(/^2026-11-\d\dT/),
      last_updated: new Date(NOON / 1000).toISOString(),
    },
    { id: 'matic-network' },
  ])
  expect((await api.get(`${path}&ids=matic-network&per_page=1`)).body).toMatchObject([{ id: 'matic-network' }])
  expect((await api.get(`${path}&per_page=1&page=2`)).body).toMatchObject([{ id: 'matic-network' }])
  expect((await api.get('/api/v3/coins/markets')).status).toBe(422)
})

test('shows the same for a minute', async () => {
  const path = '/api/v3/coins/markets?vs_currency=usd&ids=bitcoin'
  await api.get(path)
  api.economy.tokenList = api.economy.tokenList.map((token) => ({ ...token, price: 85_000 }))
  api.beat(59_000)
  expect((await api.get(path)).body).toMatchObject([{ current_price: 84_000 }])
  api.beat(1_000)
  expect((await api.get(path)).body).toMatchObject([{ current_price: 85_000 }])
})

test('refuses a caller without a key after few calls a minute', async () => {
  const answers = await Promise.all(Array.from({ length: 21 }, () => api.get('/api/v3/ping')))
  expect(answers.find(({ status }) => status === 429)?.body).toMatchObject({ status: { error_code: 429 } })
})
