import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { Faults } from '../faults/faults.ts'
import { serve } from '../server.ts'
import { testVenueApi, type TestVenueApi } from '../testing/venue-api.ts'
import { hyperliquidApi } from './hyperliquid.ts'

let api: TestVenueApi
beforeAll(async () => {
  api = await testVenueApi(hyperliquidApi)
})
afterAll(() => api.close())

async function info(body: object): Promise<unknown> {
  const hooks = { faults: new Faults(1), operator: () => ({ status: 404, body: {} }), failed: () => undefined }
  const listening = await serve([hyperliquidApi(api)], hooks, { host: '127.0.0.1', port: 0 })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${listening.url}/hyperliquid/info`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  const said = answer.ok ? await answer.json() : answer.status
  await listening.close()
  return said
}

it('tells trades of a coin, the newest again to who subscribes later, and those to who asks', async () => {
  const subscription = { type: 'trades', coin: 'kPEPE' }
  const ask = { method: 'subscribe', subscription }
  const first = api.open('/ws', [ask, { ...ask, subscription: { ...subscription, coin: 'FOO' } }, { method: 'ping' }])
  await vi.waitFor(() => expect(first.json()).toHaveLength(3))
  expect(first.json()).toMatchObject([
    { channel: 'subscriptionResponse', data: ask },
    { channel: 'error', data: 'Invalid subscription {"type":"trades","coin":"FOO"}' },
    { channel: 'pong' },
  ])
  api.trade('hyperliquid', 'kPEPE', [
    { price: 9_400_000, size: 70, buy: true },
    { price: 9_399_000, size: 5, buy: false },
  ])
  await vi.waitFor(() => expect(first.json()).toHaveLength(4))
  const bought = { coin: 'kPEPE', side: 'B', time: Math.floor(api.economy.now / 1000), tid: expect.any(Number) }
  const { data } = first.json()[3] as { data: Record<string, unknown>[] }
  expect(data).toMatchObject([bought, { coin: 'kPEPE', side: 'A' }])
  const later = api.open('/ws', [ask])
  await vi.waitFor(() => expect(later.json()).toHaveLength(2))
  expect(later.json()[1]).toEqual({ channel: 'trades', data })
  expect(await info({ type: 'recentTrades', coin: 'kPEPE' })).toEqual(data.toReversed())
  expect(api.world.ledger({ venue: 'hyperliquid' })).toMatchObject([{ symbol: 'PEPE', instrument: 'kPEPE', trades: 2 }])
})

it('lists its markets and their middle prices, and knows no other question', async () => {
  const { universe } = (await info({ type: 'meta' })) as { universe: { name: string; isDelisted?: true }[] }
  expect(universe.map(({ name }) => name)).toEqual(expect.arrayContaining(['BTC', 'kPEPE', 'OLD']))
  expect(await info({ type: 'allMids' })).toMatchObject({ BTC: expect.any(String), kPEPE: expect.any(String) })
  expect(await info({ type: 'l2Book' })).toBe(422)
})
