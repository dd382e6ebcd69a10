import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testVenueApi, type TestVenueApi } from '../testing/venue-api.ts'
import { bitgetApi } from './bitget.ts'

let api: TestVenueApi
beforeAll(async () => {
  api = await testVenueApi(bitgetApi)
})
afterAll(() => api.close())

const arg = { instType: 'USDT-FUTURES', channel: 'trade', instId: 'PEPEUSDT' }

describe('trades', () => {
  it('come newest first, with a snapshot for who subscribes later, and with ids of 19 digits', async () => {
    const subscribe = { op: 'subscribe', args: [arg, { ...arg, instId: 'FOOUSDT' }] }
    const first = api.open('/v2/ws/public', [subscribe])
    await vi.waitFor(() => expect(first.json()).toHaveLength(2))
    expect(first.json()).toMatchObject([
      { event: 'subscribe', arg },
      { event: 'error', code: 30001, arg: { instId: 'FOOUSDT' } },
    ])
    api.trade('bitget', 'PEPEUSDT', [
      { price: 9_400, size: 1_000, buy: true },
      { price: 9_399, size: 25, buy: false },
    ])
    await vi.waitFor(() => expect(first.json()).toHaveLength(3))
    const ts = String(Math.floor(api.economy.now / 1000))
    const rows = [
      { ts, price: '0.00009399', size: '25', side: 'sell', tradeId: expect.stringMatching(/^\d{19}$/) },
      { ts, price: '0.000094', size: '1000', side: 'buy' },
    ]
    expect(first.json()[2]).toMatchObject({ action: 'update', arg, data: rows })
    const later = api.open('/v2/ws/public', [{ op: 'subscribe', args: [arg] }])
    await vi.waitFor(() => expect(later.json()).toHaveLength(2))
    expect(later.json()[1]).toMatchObject({ action: 'snapshot', data: rows })
    const query = 'symbol=PEPEUSDT&productType=USDT-FUTURES&limit=1'
    expect((await api.get(`/api/v2/mix/market/fills-history?${query}`)).body).toMatchObject({
      code: '00000',
      data: [{ symbol: 'PEPEUSDT', side: 'Sell', price: '0.00009399' }],
    })
  })

  it('are of contracts that the list has, beside some that are not coins’ perpetuals', async () => {
    const { body } = await api.get('/api/v2/mix/market/contracts?productType=USDT-FUTURES')
    const { data } = body as { data: Record<string, unknown>[] }
    expect(data.filter(({ symbolType, isRwa }) => symbolType === 'perpetual' && isRwa === 'NO').length).toBe(24)
    expect((await api.get('/api/v2/mix/market/tickers?productType=USDT-FUTURES')).body).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ symbol: 'BTCUSDT', lastPr: expect.any(String) })]),
    })
    expect((await api.get('/api/v2/mix/market/unknown')).status).toBe(400)
  })
})
