import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testVenues, type TestVenues } from '../../testing/client.ts'
import { testVenueApi, type TestVenueApi } from '../../testing/venue-api.ts'
import { binanceSpotApi } from './spot.ts'

let api: TestVenueApi

beforeAll(async () => {
  api = await testVenueApi(binanceSpotApi)
})
afterAll(() => api.close())

type Row = Readonly<Record<string, unknown>>

async function candleRows(path: string): Promise<unknown[][]> {
  const { status, body } = await api.get(path)
  expect(status).toBe(200)
  return body as unknown[][]
}

async function rows(path: string): Promise<Row[]> {
  const { status, body } = await api.get(path)
  expect(status).toBe(200)
  return body as Row[]
}

test('a ticker comes once a second, raw or wrapped, with eight decimals', async () => {
  const raw = api.open('/ws/btcusdt@ticker', [{ method: 'LIST_SUBSCRIPTIONS', id: 1 }])
  const wrapped = api.open('/stream', [
    { method: 'SUBSCRIBE', params: ['btcusdt@ticker', 'btcusdt@aggTrade'], id: 'a' },
  ])
  await vi.waitFor(() => expect([raw.json().length, wrapped.json().length]).toEqual([1, 1]))
  expect(wrapped.json()[0]).toEqual({ result: null, id: 'a' })
  for (let quarter = 0; quarter < 8; quarter += 1) api.beat(250) // in three seconds: 0, 1 and 2
  await vi.waitFor(() => expect([raw.json().length, wrapped.json().length]).toEqual([4, 4]))
  expect(raw.json()[1]).toMatchObject({
    e: '24hrTicker',
    s: 'BTCUSDT',
    c: '84000.00000000',
    b: '83991.60000000',
    P: '2.041',
  })
  expect(wrapped.json()[1]).toMatchObject({ stream: 'btcusdt@ticker', data: { e: '24hrTicker' } })
})

test('more than five messages in a second end the connection', async () => {
  // A second may end among them.
  const pings = Array.from({ length: 11 }, (_, id) => ({ method: 'LIST_SUBSCRIPTIONS', id }))
  const socket = api.open('/ws', pings)
  await vi.waitFor(() => expect(socket.closed()).toBe(1008))
})

test('prices of one, of some and of all pairs', async () => {
  expect((await api.get('/api/v3/ticker/price?symbol=BTCUSDT')).body).toEqual({
    symbol: 'BTCUSDT',
    price: '84000.00000000',
  })
  const some = encodeURIComponent('["BTCUSDT","POLUSDT"]')
  expect((await rows(`/api/v3/ticker/price?symbols=${some}`)).map(({ symbol }) => symbol)).toEqual([
    'BTCUSDT',
    'POLUSDT',
  ])
  expect(await rows('/api/v3/ticker/24hr')).toHaveLength(3)
  expect(await api.get('/api/v3/ticker/price?symbol=NOUSDT')).toMatchObject({ status: 400, body: { code: -1121 } })
  expect(await api.get('/api/v3/trades?symbol=BTCUSDT')).toMatchObject({ status: 404 })
})

test('candles are oldest first and bounded, the open one last', async () => {
  const now = api.world.nowMs
  const open = Math.floor(now / 60_000) * 60_000
  const newest = await candleRows('/api/v3/klines?symbol=BTCUSDT&interval=1m&limit=3')
  expect(newest.map(([start]) => start).at(-1)).toBe(open)
  expect(newest.length).toBeLessThanOrEqual(3)
  const start = open - 60 * 60_000
  const hour = await candleRows(
    `/api/v3/klines?symbol=BTCUSDT&interval=1m&startTime=${start}&endTime=${start + 299_999}`,
  )
  expect(hour.map(([time]) => time)).toEqual([0, 1, 2, 3, 4].map((minute) => start + minute * 60_000))
})

test('the list says what trades and what does not', async () => {
  const { body } = await api.get('/api/v3/exchangeInfo?showPermissionSets=false')
  const { symbols } = body as { symbols: Row[] }
  expect(symbols.filter(({ status, quoteAsset }) => status === 'TRADING' && quoteAsset === 'USDT')).toHaveLength(3)
  expect(symbols.map(({ symbol }) => symbol)).toContain('ETHBTC')
  expect(symbols[0]?.['permissionSets']).toEqual([])
})

test('weight is counted by itself, and a fault of Binance hits it too', async () => {
  const venues: TestVenues = await testVenues()
  const weight = async (path: string): Promise<string | null> =>
    (await venues.get(path)).headers.get('x-mbx-used-weight-1m')
  expect(await weight('/binance-spot/api/v3/ticker/24hr')).toBe('80')
  expect(await weight('/binance-spot/api/v3/ticker/price?symbol=BTCUSDT')).toBe('82')
  expect(await weight('/binance/fapi/v1/premiumIndex')).toBe('10')
  await venues.post('/faults', { kind: 'rest_451', venue: 'binance', duration_ms: 60_000 })
  for (const path of ['/binance-spot/api/v3/time', '/binance/fapi/v1/time']) {
    expect((await venues.get(path)).status).toBe(451)
  }
  expect((await venues.get('/kraken/0/public/Time')).status).toBe(200)
  await venues.close()
})

test('trades come as the stream has them, and by id over REST', async () => {
  const socket = api.open('/stream', [{ method: 'SUBSCRIBE', params: ['btcusdt@aggTrade'], id: 1 }])
  await vi.waitFor(() => expect(socket.json()).toEqual([{ result: null, id: 1 }]))
  api.trade('binance_spot', 'BTCUSDT', [
    { price: 840_000, size: 123, buy: true },
    { price: 839_999, size: 100_000, buy: false },
  ])
  await vi.waitFor(() => expect(socket.json()).toHaveLength(3))
  const time = Math.floor(api.economy.now / 1000)
  const first = { a: 665_076_760, p: '84000.00000000', q: '0.00123000', T: time, m: false, M: true }
  const second = { a: 665_076_761, p: '83999.90000000', q: '1.00000000', T: time, m: true, M: true }
  expect(socket.json().slice(1)).toMatchObject([
    { stream: 'btcusdt@aggTrade', data: { e: 'aggTrade', s: 'BTCUSDT', ...first } },
    { data: second },
  ])
  expect((await api.get('/api/v3/aggTrades?symbol=BTCUSDT&fromId=665076761')).body).toMatchObject([second])
  expect((await api.get('/api/v3/aggTrades?symbol=BTCUSDT&limit=1')).body).toMatchObject([second])
})
