import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testVenues, type TestSocket, type TestVenues } from './testing/client.ts'
import { testVenueApi } from './testing/venue-api.ts'
import { coinbaseApi } from './venues/coinbase/api.ts'

let venues: TestVenues

beforeAll(async () => {
  venues = await testVenues({ rate: 1500 })
})

afterAll(() => venues.close())

const ask = {
  binance: JSON.stringify({ method: 'SUBSCRIBE', params: ['btcusdt@aggTrade'], id: 1 }),
  okx: JSON.stringify({ op: 'subscribe', args: [{ channel: 'trades-all', instId: 'BTC-USDT-SWAP' }] }),
  coinbase: JSON.stringify({ type: 'subscribe', channels: [{ name: 'matches', product_ids: ['BTC-USD', 'ETH-USD'] }] }),
}

/** Waits until `socket` has said something that `is` holds for, and gives it. */
async function said(
  socket: TestSocket,
  is: (frame: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  await vi.waitFor(() => expect(socket.json().some(is)).toBe(true), 5_000)
  return socket.json().find(is) ?? {}
}

test('Binance acknowledges, lists and ends subscriptions', async () => {
  const socket = venues.open('/binance/market/stream', [ask.binance])
  expect(await said(socket, ({ id }) => id === 1)).toEqual({ result: null, id: 1 })
  await said(socket, ({ stream }) => stream === 'btcusdt@aggTrade')
  socket.send(JSON.stringify({ method: 'LIST_SUBSCRIPTIONS', id: 'two' }))
  expect(await said(socket, ({ id }) => id === 'two')).toEqual({ result: ['btcusdt@aggTrade'], id: 'two' })
  socket.send(JSON.stringify({ method: 'UNSUBSCRIBE', params: ['btcusdt@aggTrade'], id: 3 }))
  await said(socket, ({ id }) => id === 3)
  const heard = socket.frames.length
  await tradesElsewhere()
  expect(socket.frames.length).toBe(heard)
})

test('Binance wraps frames on /stream and not on /ws, and takes streams from the path', async () => {
  const wrapped = venues.open('/binance/market/stream?streams=btcusdt@aggTrade/ethusdt@aggTrade')
  const raw = venues.open('/binance/market/ws/btcusdt@aggTrade')
  expect(await said(wrapped, () => true)).toMatchObject({ data: { e: 'aggTrade' } })
  expect(await said(raw, () => true)).toMatchObject({ e: 'aggTrade', s: 'BTCUSDT' })
})

test.each(['/binance/stream', '/binance/public/stream', '/binance/private/ws'])(
  'Binance accepts market streams on %s and never sends any',
  async (path) => {
    const socket = venues.open(path, [ask.binance])
    await said(socket, ({ id }) => id === 1)
    await tradesElsewhere()
    expect(socket.frames.length).toBe(1)
  },
)

test('Binance closes a connection that sends more than ten messages a second', async () => {
  const socket = venues.open(
    '/binance/market/ws',
    Array.from({ length: 25 }, (_, id) => JSON.stringify({ method: 'LIST_SUBSCRIPTIONS', id })),
  )
  await vi.waitFor(() => expect(socket.closed()).toBe(1008), 5_000)
  expect(socket.frames.length).toBeLessThanOrEqual(20)
})

test.each([
  ['not JSON', '{', 3],
  ['an unknown method', '{"method":"DANCE","id":1}', 2],
  ['params that are no list', '{"method":"SUBSCRIBE","params":"btcusdt@aggTrade","id":1}', 2],
  ['an id that is neither number nor text', '{"method":"SUBSCRIBE","params":[],"id":{}}', 2],
  [
    'more than 1024 streams',
    JSON.stringify({
      method: 'SUBSCRIBE',
      params: Array.from({ length: 1025 }, (_, index) => `s${index}@aggTrade`),
      id: 1,
    }),
    2,
  ],
])('Binance answers %s with an error', async (_, text, code) => {
  const socket = venues.open('/binance/market/ws', [text])
  expect(await said(socket, (frame) => 'code' in frame)).toMatchObject({ code })
})

test('Binance ends a connection at the end of its lifetime', async () => {
  const short = await testVenues({ lifetimeMs: 1 })
  const socket = short.open('/binance/market/ws')
  await vi.waitFor(() => expect(socket.closed()).toBe(1001), 5_000)
  await short.close()
})

test('Bybit acknowledges once a request, answers pings, and refuses a request with an unknown topic whole', async () => {
  const socket = venues.open('/bybit/v5/public/linear', [
    JSON.stringify({ op: 'subscribe', req_id: 'bad', args: ['publicTrade.BTCUSDT', 'publicTrade.NOSUCH'] }),
    JSON.stringify({ op: 'ping', req_id: 'p' }),
  ])
  expect(await said(socket, ({ req_id }) => req_id === 'bad')).toMatchObject({
    success: false,
    ret_msg: 'error:handler not found,topic:publicTrade.NOSUCH',
  })
  expect(await said(socket, ({ op }) => op === 'ping')).toMatchObject({ success: true, ret_msg: 'pong', req_id: 'p' })
  expect(socket.json().some((frame) => 'topic' in frame)).toBe(false)
  socket.send(
    JSON.stringify({ op: 'subscribe', req_id: 'good', args: ['publicTrade.BTCUSDT', 'publicTrade.SHIB1000USDT'] }),
  )
  expect(await said(socket, ({ req_id }) => req_id === 'good')).toMatchObject({
    success: true,
    ret_msg: '',
    op: 'subscribe',
  })
  expect(await said(socket, ({ topic }) => topic === 'publicTrade.BTCUSDT')).toMatchObject({ type: 'snapshot' })
})

test('OKX acknowledges each arg, and a wrong one does not hold up the others', async () => {
  const args = [
    { channel: 'trades-all', instId: 'BTC-USDT-SWAP' },
    { channel: 'trades', instId: 'BTC-USDT-SWAP' },
    { channel: 'trades-all', instId: 'NO-SUCH-SWAP' },
    { channel: 'trades-all', instId: 'ETH-USDT-SWAP' },
  ]
  const socket = venues.open('/okx/ws/v5/business', [JSON.stringify({ id: '7', op: 'subscribe', args })])
  await vi.waitFor(() => expect(socket.json().filter((frame) => 'event' in frame).length).toBe(4), 5_000)
  const events = socket.json().filter((frame) => 'event' in frame)
  expect(events.map(({ event, code }) => code ?? event)).toEqual(['subscribe', '60018', '60018', 'subscribe'])
  expect(new Set(events.map(({ connId }) => connId)).size).toBe(1)
  expect(await said(socket, (frame) => 'data' in frame)).toMatchObject({ arg: { channel: 'trades-all' } })
})

test('OKX answers a text ping with a text pong and nonsense with an error', async () => {
  const socket = venues.open('/okx/ws/v5/public', ['ping', '{"op":"dance"}'])
  await vi.waitFor(() => expect(socket.frames).toContain('pong'), 5_000)
  expect(await said(socket, ({ event }) => event === 'error')).toMatchObject({ code: '60012' })
})

test('OKX lets an address open three sockets a second', async () => {
  const other = await testVenues({ connectLimits: true })
  const sockets = Array.from({ length: 10 }, () => other.open('/okx/ws/v5/public', ['ping']))
  await vi.waitFor(
    () => expect(sockets.every((socket) => socket.closed() === 429 || socket.frames.length > 0)).toBe(true),
    5_000,
  )
  expect(sockets.filter((socket) => socket.closed() === 429).length).toBeGreaterThanOrEqual(10 - 2 * 3)
  await other.close()
})

test('OKX takes no more than 480 requests an hour', async () => {
  const socket = venues.open(
    '/okx/ws/v5/business',
    Array.from({ length: 481 }, () => ask.okx),
  )
  expect(await said(socket, ({ event }) => event === 'error')).toMatchObject({ code: '60014' })
})

test('Coinbase echoes the full set, then repeats the last match, then goes on by one', async () => {
  const socket = venues.open('/coinbase', [ask.coinbase])
  await vi.waitFor(() => expect(ids(socket, 'match', 'BTC-USD').length).toBeGreaterThan(3), 5_000)
  expect(socket.json()[0]).toEqual({
    type: 'subscriptions',
    channels: [{ name: 'matches', product_ids: ['BTC-USD', 'ETH-USD'], account_ids: null }],
  })
  const [last = 0] = ids(socket, 'last_match', 'BTC-USD')
  expect(ids(socket, 'match', 'BTC-USD').slice(0, 4)).toEqual([last + 1, last + 2, last + 3, last + 4])
  const sequences = socket
    .json()
    .filter(({ type, product_id }) => type === 'match' && product_id === 'BTC-USD')
    .map(({ sequence }) => Number(sequence))
  expect(sequences.some((sequence, index) => index > 0 && sequence > (sequences[index - 1] ?? 0) + 1)).toBe(true)
})

test('Coinbase sends a heartbeat a second with the last trade id', async () => {
  const socket = venues.open('/coinbase', [
    JSON.stringify({ type: 'subscribe', product_ids: ['BTC-USD'], channels: ['heartbeat'] }),
  ])
  await vi.waitFor(() => expect(ids(socket, 'heartbeat', 'BTC-USD', 'last_trade_id').length).toBe(2), 5_000)
  const [first = 0, second = 0] = ids(socket, 'heartbeat', 'BTC-USD', 'last_trade_id')
  expect(second).toBeGreaterThanOrEqual(first)
})

test.each([
  [
    'an unknown product',
    { type: 'subscribe', channels: [{ name: 'matches', product_ids: ['NO-SUCH'] }] },
    'NO-SUCH is not a valid product',
  ],
  [
    'an unknown channel',
    { type: 'subscribe', channels: [{ name: 'gossip', product_ids: ['BTC-USD'] }] },
    'gossip is not a valid channel',
  ],
])('Coinbase refuses %s', async (_, request, reason) => {
  const socket = venues.open('/coinbase', [JSON.stringify(request)])
  expect(await said(socket, ({ type }) => type === 'error')).toEqual({
    type: 'error',
    message: 'Failed to subscribe',
    reason,
  })
})

test('Coinbase closes a connection that does not subscribe within five seconds', async () => {
  const api = await testVenueApi(coinbaseApi)
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const socket = api.open('/')
    await vi.waitFor(() => {
      vi.setSystemTime(Date.now() + 1_000)
      expect(socket.closed()).toBe(1008)
    })
  } finally {
    vi.useRealTimers()
    await api.close()
  }
})

test.each(['/binance/nowhere', '/bybit/v5/public/option', '/okx/ws/v4', '/coinbase/deeper', '/kraken'])(
  'there is nothing at %s',
  async (path) => {
    const socket = venues.open(path)
    await vi.waitFor(() => expect(socket.closed()).toBe(404), 5_000)
  },
)

function ids(socket: TestSocket, type: string, product: string, field = 'trade_id'): number[] {
  return socket
    .json()
    .filter((frame) => frame['type'] === type && frame['product_id'] === product)
    .map((frame) => Number(frame[field]))
}

/** Trades have happened since: a listener of the same market has heard some. */
async function tradesElsewhere(): Promise<void> {
  const listener = venues.open('/binance/market/ws', [ask.binance])
  await vi.waitFor(() => expect(listener.frames.length).toBeGreaterThan(5), 5_000)
  listener.close()
}

test('a malformed address or a caller that hangs up does no harm', async () => {
  const { port } = new URL(venues.url)
  const answers = await Promise.all(
    ['GET //[ HTTP/1.1\r\nHost: x\r\n\r\n', 'POST /faults HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{'].map(
      (text) =>
        new Promise<boolean>((resolve) => {
          const caller = connect(Number(port), '127.0.0.1', () => caller.write(text, () => caller.destroy()))
          caller.on('close', () => resolve(true))
        }),
    ),
  )
  expect(answers).toEqual([true, true])
  expect((await venues.get('/healthz')).status).toBe(200)
})
