import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { NOON } from '../testing/economy.ts'
import { testVenueApi, type TestVenueApi } from '../testing/venue-api.ts'
import { gateApi } from './gate.ts'

const noon = NOON / 1_000_000
let api: TestVenueApi

beforeAll(async () => {
  api = await testVenueApi(gateApi)
})
afterAll(() => api.close())

async function get(path: string): Promise<unknown> {
  return (await api.get(`/api/v4/futures/usdt/${path}`)).body
}

test('lists contracts with their size, and what a reader has to leave out', async () => {
  expect(await get('contracts')).toMatchObject([
    { name: 'BTC_USDT', quanto_multiplier: '0.0001', funding_rate: '0.000123', funding_next_apply: noon + 14_400 },
    { name: 'PEPE_USDT', quanto_multiplier: '10000000', mark_price: '0.0000094009', position_size: 2 },
    { name: 'TSLAX_USDT', contract_type: 'stocks' },
    { name: 'OLD_USDT', in_delisting: true },
    { name: 'FRESH_USDT', is_pre_market: true },
  ])
  expect(await get('tickers')).toMatchObject([{}, { contract: 'PEPE_USDT', total_size: '2', last: '0.0000094' }])
})

test('shows the ratios of top traders by the five minutes, oldest first, in seconds', async () => {
  expect(await get('contract_stats?contract=BTC_USDT&interval=5m&limit=2')).toMatchObject([
    { time: noon - 300, top_lsr_size: 1.555, top_lsr_account: 1.255 },
    { time: noon, top_lsr_size: 1.5, top_lsr_account: 1.2, top_long_size: 30_000_000, top_short_size: 20_000_000 },
  ])
  expect(await get(`contract_stats?contract=BTC_USDT&from=${noon - 600}&limit=1`)).toMatchObject([{ time: noon - 600 }])
  expect(await get('contract_stats?contract=NOPE_USDT')).toMatchObject({ label: 'CONTRACT_NOT_FOUND' })
  expect(await get('contract_stats')).toMatchObject({ label: 'MISSING_REQUIRED_PARAM' })
})

test('sums the liquidations of each period', async () => {
  const [btc] = api.economy.perps('gate')
  if (btc === undefined) throw new Error('no market')
  const at = { time: NOON - 5_000_000, size: 0.0003, bankruptcyPrice: 83_000, fillPrice: 83_010.5 }
  api.economy.liquidated.push({ market: btc, liquidation: { ...at, side: 'long' } })
  api.economy.liquidated.push({ market: btc, liquidation: { ...at, time: NOON, side: 'short' } })
  expect(await get('contract_stats?contract=BTC_USDT&limit=2')).toMatchObject([
    { long_liq_size: 3, short_liq_size: 0, long_liq_usd: 24.9031 },
    { long_liq_size: 0, short_liq_size: 3 },
  ])
})

test('says when there were too many requests', async () => {
  const answers = await Promise.all(Array.from({ length: 405 }, () => api.get('/api/v4/futures/usdt/tickers')))
  expect(answers.find(({ status }) => status === 429)?.body).toMatchObject({ label: 'TOO_MANY_REQUESTS' })
})

test('trades come in contracts with the taker’s sign, internal ones marked, and newest first over REST', async () => {
  const ask = { time: 1, id: 7, channel: 'futures.trades', event: 'subscribe' }
  const socket = api.open('/v4/ws/usdt', [
    { ...ask, payload: ['BTC_USDT'] },
    { ...ask, payload: ['FOO_USDT'] },
    { time: 1, channel: 'futures.ping' },
  ])
  await vi.waitFor(() => expect(socket.json()).toHaveLength(3))
  expect(socket.json()).toMatchObject([
    { id: 7, channel: 'futures.trades', event: 'subscribe', error: null, result: { status: 'success' } },
    { id: 7, event: 'subscribe', error: { code: 2, message: 'unknown contract FOO_USDT' } },
    { channel: 'futures.pong' },
  ])
  api.trade('gate', 'BTC_USDT', [
    { price: 840_000, size: 12, buy: false },
    { price: 840_000, size: 5, buy: true, block: true },
  ])
  await vi.waitFor(() => expect(socket.json()).toHaveLength(4))
  const time = Math.floor(api.economy.now / 1000)
  const sold = { contract: 'BTC_USDT', id: 675_286_747, size: -12, price: '84000' }
  const internal = { id: 675_286_748, size: 5, is_internal: true }
  expect(socket.json()[3]).toMatchObject({
    event: 'update',
    result: [{ ...sold, create_time_ms: time }, internal],
  })
  expect((await api.get('/api/v4/futures/usdt/trades?contract=BTC_USDT&limit=1000')).body).toMatchObject([
    internal,
    { ...sold, create_time_ms: time / 1000 },
  ])
  const minutes = (await api.get('/api/v4/futures/usdt/candlesticks?contract=BTC_USDT&interval=1m&limit=3')).body
  expect(minutes).toMatchObject([{ v: 12, o: '84000' }])
  expect(api.world.ledger({ venue: 'gate' })).toMatchObject([{ trades: 1, buy_volume: '0' }])
})
