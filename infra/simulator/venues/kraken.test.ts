import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { NOON } from '../testing/economy.ts'
import type { TestSocket } from '../testing/client.ts'
import { testVenueApi, type TestVenueApi } from '../testing/venue-api.ts'
import { krakenApi } from './kraken.ts'

let api: TestVenueApi

beforeAll(async () => {
  api = await testVenueApi(krakenApi)
})
afterAll(() => api.close())
afterEach(() => {
  api.economy.spotChanges.clear()
  api.beat(1000)
})

function subscribe(symbol: string[], more: object = {}): object {
  return { method: 'subscribe', params: { channel: 'ticker', symbol, ...more }, req_id: 9 }
}

async function result(path: string): Promise<Record<string, unknown>> {
  const { status, body } = await api.get(`/0/public/${path}`)
  expect([status, (body as { error: string[] }).error]).toEqual([200, []])
  return (body as { result: Record<string, unknown> }).result
}

/** What a socket was told beside the beats of its heart, which come by the clock. */
function told(socket: TestSocket): Record<string, unknown>[] {
  return socket.json().filter(({ channel }) => channel !== 'heartbeat')
}

describe('the socket', () => {
  test('says its status, answers each symbol by itself and shows a snapshot with whole numbers', async () => {
    const socket = api.open('/v2', [subscribe(['BTC/USD', 'XBT/USD', 'DOGE/USD'])])
    await vi.waitFor(() => expect(told(socket)).toHaveLength(6))
    expect(socket.frames[0]).toContain('"connection_id":4421894013101')
    expect(told(socket)).toMatchObject([
      { channel: 'status', type: 'update', data: [{ system: 'online', api_version: 'v2' }] },
      {
        method: 'subscribe',
        result: { channel: 'ticker', event_trigger: 'trades', snapshot: true, symbol: 'BTC/USD' },
        success: true,
        req_id: 9,
      },
      { channel: 'ticker', type: 'snapshot', data: [{ symbol: 'BTC/USD', bid: 83_991.6, last: 84_000 }] },
      { method: 'subscribe', success: false, error: 'Currency pair not supported XBT/USD', symbol: 'XBT/USD' },
      { success: true },
      { data: [{ symbol: 'DOGE/USD', last: 0.19612, change_pct: 2.04 }] },
    ])
    // Numbers, with the decimals that a double would lose.
    const snapshot = socket.frames.find((frame) => frame.includes('"snapshot","data"')) ?? ''
    expect(snapshot).toContain('"last":84000.0,')
    expect(snapshot).toContain('"volume":1234.50000000,')
  })

  test('updates on trades, or on the book where that is asked for', async () => {
    const quiet = { snapshot: false }
    const trades = api.open('/v2', [subscribe(['POL/USD'], quiet)])
    const book = api.open('/v2', [subscribe(['POL/USD'], { ...quiet, event_trigger: 'bbo' })])
    await vi.waitFor(() => expect([told(trades).length, told(book).length]).toEqual([2, 2]))
    api.beat(1000)
    await vi.waitFor(() => expect([told(trades).length, told(book).length]).toEqual([3, 3]))
    api.economy.spotChanges.set('POLUSD', { bid: 0.2069 })
    api.beat(1000)
    await vi.waitFor(() => expect(told(book)).toHaveLength(4))
    expect(told(book)[3]).toMatchObject({ type: 'update', data: [{ bid: 0.2069 }] })
    api.economy.spotChanges.set('POLUSD', { bid: 0.2069, last: 0.2072 })
    api.beat(1000)
    await vi.waitFor(() => expect(told(trades)).toHaveLength(4))
    expect(told(trades)[3]).toMatchObject({ data: [{ last: 0.2072 }] })
    expect(told(book)).toHaveLength(4)
  })

  test('beats once a second when something is subscribed, and answers a ping', async () => {
    const socket = api.open('/v2', [subscribe(['BTC/USD'], { snapshot: false }), { method: 'ping', req_id: 4 }])
    await vi.waitFor(() => expect(socket.json()).toContainEqual(expect.objectContaining({ method: 'pong', req_id: 4 })))
    await vi.waitFor(() => expect(socket.json()).toContainEqual({ channel: 'heartbeat' }), 5_000)
  })

  test('ends a subscription, and knows when there was none', async () => {
    const params = { channel: 'ticker', symbol: ['BTC/USD'] }
    const socket = api.open('/v2', [subscribe(['BTC/USD'], { snapshot: false }), { method: 'unsubscribe', params }])
    await vi.waitFor(() => expect(socket.json()).toHaveLength(3))
    expect(socket.json()[2]).toMatchObject({ method: 'unsubscribe', success: true })
    socket.send(JSON.stringify({ method: 'unsubscribe', params }))
    await vi.waitFor(() => expect(socket.json().at(-1)).toMatchObject({ success: false }))
  })

  test('refuses other channels and what it cannot read', async () => {
    const socket = api.open('/v2', [{ method: 'subscribe', params: { channel: 'level3', symbol: ['BTC/USD'] } }])
    await vi.waitFor(() => expect(socket.json()[1]).toMatchObject({ success: false }))
    socket.send('nonsense')
    await vi.waitFor(() => expect(socket.json()[2]).toMatchObject({ success: false, error: 'Malformed request' }))
  })
})

describe('REST', () => {
  test('names pairs in its own way', async () => {
    const pairs = await result('AssetPairs')
    expect(Object.keys(pairs)).toEqual([
      'XXBTZUSD',
      'XDGUSD',
      'POLUSD',
      'USDTZUSD',
      'XBTUSDT',
      'XXBTZEUR',
      'AAPLxUSD',
      'MATICUSD',
    ])
    expect(pairs['XXBTZUSD']).toMatchObject({ altname: 'XBTUSD', wsname: 'XBT/USD', base: 'XXBT', quote: 'ZUSD' })
    expect(pairs['XDGUSD']).toMatchObject({ altname: 'XDGUSD', wsname: 'XDG/USD', base: 'XXDG', quote: 'ZUSD' })
  })

  test('shows tickers by any of a pair’s names, or all', async () => {
    const ticker = await result('Ticker?pair=XBTUSD,USDTZUSD')
    expect(ticker['XXBTZUSD']).toMatchObject({ a: ['84008.40000', '1', '1.000'], c: ['84000.00000', '0.00119048'] })
    expect(Object.keys(ticker)).toEqual(['XXBTZUSD', 'USDTZUSD'])
    expect(Object.keys(await result('Ticker?assetVersion=1'))).toContain('BTC/USD')
    expect(Object.keys(await result('Ticker'))).toHaveLength(5)
    expect((await api.get('/0/public/Ticker?pair=NOPE')).body).toEqual({ error: ['EQuery:Unknown asset pair'] })
  })

  test('shows candles oldest first, the last one open', async () => {
    const since = NOON / 1_000_000 - 180
    const { XXBTZUSD: rows, last } = await result(`OHLC?pair=XBTUSD&since=${since}`)
    expect(rows).toMatchObject([
      [since + 60, '84487.2', '84571.7', '84402.7', '84529.4', '84501.3', '12.50000000', 7],
      [since + 120, '84495.6', '84580.1', '84411.1', '84537.8', '84509.7', '12.50000000', 7],
      [since + 180, '84537.8', '84537.8', '84000.0', '84000.0', '0.0', '0.00000000', 0],
    ])
    expect(last).toBe(since + 120)
    expect((await api.get('/0/public/OHLC?pair=XBTUSD&interval=7')).body).toEqual({
      error: ['EGeneral:Invalid arguments'],
    })
  })

  test('lets a caller ask about once a second', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.get('/0/public/Time')))
    expect(answers.find(({ status }) => status === 429)?.body).toEqual({ error: ['EAPI:Rate limit exceeded'] })
    expect((await api.get('/v2')).status).toBe(429)
  })
})

describe('trades', () => {
  const channel = { method: 'subscribe', params: { channel: 'trade', symbol: ['BTC/USD'], snapshot: false }, req_id: 9 }

  test('come in one message a moment, with all of their decimals, and as many over REST from a nanosecond on', async () => {
    const socket = api.open('/v2', [channel])
    await vi.waitFor(() => expect(told(socket)).toHaveLength(2))
    api.trade('kraken', 'BTC/USD', [
      { price: 840_000, size: 100, buy: true },
      { price: 839_999, size: 123_456_789, buy: false },
    ])
    await vi.waitFor(() => expect(told(socket)).toHaveLength(3))
    const frame = socket.frames.find((text) => text.includes('"channel":"trade","type":"update"')) ?? ''
    expect(frame).toContain('"side":"buy","price":84000.0,"qty":0.00000100,')
    expect(frame).toContain('"side":"sell","price":83999.9,"qty":1.23456789,')

    const page = await vi.waitFor(() => result(`Trades?pair=XBTUSD&since=${api.economy.now - 1}999`), {
      timeout: 4_000,
      interval: 500,
    })
    const seconds = Number(`${api.economy.now}e-6`)
    expect(page).toEqual({
      XXBTZUSD: [
        ['84000.00000', '0.00000100', seconds, 'b', expect.any(String), '', 103_436_768],
        ['83999.90000', '1.23456789', seconds, 's', expect.any(String), '', 103_436_769],
      ],
      last: `${api.economy.now}000`,
    })
    expect(api.world.ledger({ venue: 'kraken' })).toMatchObject([
      { symbol: 'BTC', instrument: 'BTC/USD', trades: 2, buy_volume: '0.000001', sell_volume: '1.23456789' },
    ])
  })
})
