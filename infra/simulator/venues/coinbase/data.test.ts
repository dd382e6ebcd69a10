import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { NOON } from '../../testing/economy.ts'
import { testVenueApi, type TestVenueApi } from '../../testing/venue-api.ts'
import { coinbaseApi } from './api.ts'

let api: TestVenueApi

beforeAll(async () => {
  api = await testVenueApi(coinbaseApi)
})
afterAll(() => api.close())
afterEach(() => {
  api.economy.spotChanges.clear()
  api.beat(1000)
})

function subscribe(...products: string[]): object[] {
  return [{ type: 'subscribe', channels: [{ name: 'ticker', product_ids: products }] }]
}

describe('the ticker channel', () => {
  test('tells each product at once, and again when its price or book has changed', async () => {
    const socket = api.open('/', subscribe('BTC-USD', 'USDT-USD'))
    await vi.waitFor(() => expect(socket.json()).toHaveLength(3))
    expect(socket.json()).toMatchObject([
      { type: 'subscriptions', channels: [{ name: 'ticker', product_ids: ['BTC-USD', 'USDT-USD'] }] },
      { type: 'ticker', product_id: 'BTC-USD', price: '84000', best_bid: '83991.6', best_ask: '84008.4', side: 'buy' },
      { type: 'ticker', product_id: 'USDT-USD', price: '0.9997', volume_24h: '1234.50000000' },
    ])
    api.economy.spotChanges.set('USDT-USD', { bid: 0.9912 })
    api.beat(1000)
    api.economy.spotChanges.set('USDT-USD', { bid: 0.99 })
    api.beat(1000)
    await vi.waitFor(() => expect(socket.json().at(-1)).toMatchObject({ product_id: 'USDT-USD', best_bid: '0.99' }))
    // The first beat tells what nobody was told before; what stays as it is comes once.
    expect(socket.json().filter((frame) => frame['product_id'] === 'BTC-USD').length).toBeLessThanOrEqual(2)
  })

  test('refuses a product that is no longer listed', async () => {
    const gone = api.economy.spotMarkets.splice(
      api.economy.spotMarkets.findIndex(({ symbol }) => symbol === 'POL-USD'),
      1,
    )
    const socket = api.open('/', subscribe('POL-USD'))
    await vi.waitFor(() => expect(socket.json()).toMatchObject([{ type: 'error', message: 'Failed to subscribe' }]))
    const { body } = await api.get('/products')
    expect(JSON.stringify(body)).not.toContain('"POL-USD"')
    api.economy.spotMarkets.push(...gone)
  })
})

describe('REST', () => {
  test('lists the stable coins among the products', async () => {
    const { body } = await api.get('/products')
    expect(body).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 'USDT-USD', quote_currency: 'USD', status: 'online', fx_stablecoin: true }),
        expect.objectContaining({ id: 'MATIC-USD', status: 'delisted' }),
      ]),
    )
  })

  test('shows candles of a product without trades, low before high', async () => {
    const bounds = `start=${NOON / 1_000_000 - 120}&end=${NOON / 1_000_000 - 60}`
    const { body } = await api.get(`/products/USDT-USD/candles?granularity=60&${bounds}`)
    expect(body).toEqual([
      [NOON / 1_000_000 - 60, 1.00459, 1.0066, 1.0056, 1.0061, 12.5],
      [NOON / 1_000_000 - 120, 1.00449, 1.0065, 1.0055, 1.006, 12.5],
    ])
  })

  test('shows the whole market of Advanced Trade, with the second names of its books', async () => {
    const { body } = await api.get('/api/v3/brokerage/market/products?product_type=SPOT')
    const { products } = body as { products: Record<string, unknown>[] }
    const named = (id: string): unknown => products.find((product) => product['product_id'] === id)
    expect(named('BTC-USD')).toMatchObject({
      price: '84000',
      price_percentage_change_24h: '2.04081632653061',
      alias: '',
    })
    expect(named('BTC-USDC')).toMatchObject({ alias: 'BTC-USD', quote_currency_id: 'USDC' })
    expect(named('EOS-USD')).toMatchObject({ status: 'delisted', trading_disabled: true })
    expect(named('USDT-USDC')).toBeUndefined()
  })
})
