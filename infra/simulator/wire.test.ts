import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { testVenues, type TestSocket, type TestVenues } from './testing/client.ts'

/** Frames that were recorded from the real venues; they stay outside of the repository. */
const recordings = join(import.meta.dirname, '../../../shared/data')

/** One channel: where its real frames are, and how (and how many) simulated ones are had. Only today's formats are compared. */
const channels = [
  {
    name: 'Binance aggTrade',
    enough: 100,
    files: 'binance/usdm-aggTrade/live_(jarvis|cftest|rec1008)',
    path: '/binance/market/stream',
    ask: [{ method: 'SUBSCRIBE', params: ['btcusdt@aggTrade', 'ethusdt@aggTrade'], id: 1 }],
    is: (frame: Frame) => 'stream' in frame,
  },
  {
    name: 'Binance raw trade',
    enough: 50,
    files: 'binance/usdm-trade/btcusdt_20240808',
    path: '/binance/public/stream',
    ask: [{ method: 'SUBSCRIBE', params: ['btcusdt@trade'], id: 1 }],
    is: (frame: Frame) => 'stream' in frame,
  },
  {
    name: 'Bybit publicTrade',
    enough: 50,
    files: 'bybit/linear-publicTrade/20260809',
    path: '/bybit/v5/public/linear',
    ask: [{ op: 'subscribe', args: ['publicTrade.BTCUSDT', 'publicTrade.ETHUSDT'] }],
    is: (frame: Frame) => 'topic' in frame,
  },
  {
    name: 'Bybit control',
    enough: 3,
    files: 'bybit/linear-control/live_bybitctl',
    path: '/bybit/v5/public/linear',
    ask: [
      { op: 'subscribe', args: ['publicTrade.BTCUSDT'] },
      { op: 'subscribe', args: ['liquidation.BTCUSDT'], req_id: 'old' },
      { op: 'ping' },
    ],
    is: (frame: Frame) => 'op' in frame,
  },
  {
    name: 'OKX trades',
    enough: 50,
    files: 'okx/spot-trades/live_(okx0925|tickstore_trades)',
    path: '/okx/ws/v5/public',
    ask: [{ op: 'subscribe', args: [{ channel: 'trades', instId: 'BTC-USDT-SWAP' }] }],
    is: (frame: Frame) => 'data' in frame,
  },
  {
    name: 'OKX control',
    enough: 2,
    files: 'okx/control/live_(okx0925|tickstore)',
    path: '/okx/ws/v5/public',
    ask: [
      { op: 'subscribe', args: [{ channel: 'trades', instId: 'BTC-USDT-SWAP' }] },
      { op: 'subscribe', args: [{ channel: 'candle1m', instId: 'BTC-USDT' }] },
    ],
    is: (frame: Frame) => 'event' in frame,
  },
  {
    name: 'Coinbase match',
    enough: 50,
    files: 'coinbase/exchange-match/live',
    path: '/coinbase',
    ask: [{ type: 'subscribe', channels: [{ name: 'matches', product_ids: ['BTC-USD'] }] }],
    is: (frame: Frame) => frame['type'] === 'match',
  },
  {
    name: 'Coinbase last_match',
    enough: 1,
    files: 'coinbase/exchange-last_match/live',
    path: '/coinbase',
    ask: [{ type: 'subscribe', channels: [{ name: 'matches', product_ids: ['BTC-USD'] }] }],
    is: (frame: Frame) => frame['type'] === 'last_match',
  },
  {
    name: 'Coinbase heartbeat',
    enough: 1,
    files: 'coinbase/exchange-heartbeat/live',
    path: '/coinbase',
    ask: [{ type: 'subscribe', channels: [{ name: 'heartbeat', product_ids: ['BTC-USD'] }] }],
    is: (frame: Frame) => frame['type'] === 'heartbeat',
  },
  {
    name: 'Coinbase subscriptions',
    enough: 1,
    files: 'coinbase/exchange-subscriptions/live',
    path: '/coinbase',
    ask: [{ type: 'subscribe', channels: [{ name: 'matches', product_ids: ['BTC-USD'] }] }],
    is: (frame: Frame) => frame['type'] === 'subscriptions',
  },
] as const

/** REST answers of the real venues and the same call here. Old ones have their keys sorted, so only JSON compares. */
const answers = [
  ['binance/rest-usdm-aggTrades/gct', '/binance/fapi/v1/aggTrades?symbol=BTCUSDT'],
  ['binance/rest-usdm-klines/live', '/binance/fapi/v1/klines?symbol=BTCUSDT&interval=1m'],
  ['bybit/rest-v5-instruments-info-linear/2026', '/bybit/v5/market/instruments-info?category=linear&limit=1000'],
  ['okx/rest-market-candles/live', '/okx/api/v5/market/candles?instId=BTC-USDT-SWAP&bar=1m'],
  ['coinbase/rest-exchange-candles/bbgo', '/coinbase/products/BTC-USD/candles?granularity=60'],
] as const

type Frame = Readonly<Record<string, unknown>>

// The recordings are not part of the repository: where they are missing there is nothing to compare with.
describe.skipIf(!existsSync(recordings))('beside frames recorded from the real venue', () => {
  let venues: TestVenues

  beforeAll(async () => {
    venues = await testVenues({ rate: 3000 })
  })

  afterAll(() => venues.close())

  test.each(channels)(
    '$name has the same fields of the same types and text forms',
    async ({ files, path, ask, is, enough }) => {
      const real = recorded(files)
      const socket = venues.open(
        path,
        ask.map((frame) => JSON.stringify(frame)),
      )
      const simulated = await wanted(socket, is, enough)
      expect(shapes(simulated).filter((shape) => !shapes(real).includes(shape))).toEqual([])
      expect(fieldsOf(simulated)).toEqual(fieldsOf(real))
    },
  )

  test.each(answers)('%s has the same fields and types', async (files, path) => {
    const { body } = await venues.get(path)
    expect(shapeOf(body, 'fields')).toEqual(shapeOf(recorded(files)[0], 'fields'))
  })
})

async function wanted(socket: TestSocket, is: (frame: Frame) => boolean, enough: number): Promise<Frame[]> {
  await vi.waitFor(() => expect(socket.json().filter(is).length).toBeGreaterThanOrEqual(enough), 10_000)
  return socket.json().filter(is)
}

function recorded(pattern: string): Frame[] {
  const slash = pattern.lastIndexOf('/')
  const [folder, file] = [pattern.slice(0, slash), pattern.slice(slash + 1)]
  const names = readdirSync(join(recordings, folder)).filter((name) => new RegExp(`^${file}`).test(name))
  expect(names).not.toEqual([])
  return names.flatMap((name) => {
    const bytes = readFileSync(join(recordings, folder, name))
    const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { raw: Frame }).raw)
  })
}

/** The distinct shapes of frames, each as text: JSON types, with the form of texts that look like something. */
function shapes(frames: readonly Frame[]): string[] {
  return [...new Set(frames.map((frame) => JSON.stringify(shapeOf(frame, 'forms'))))]
}

/** Every path of every frame with its JSON types, sorted. */
function fieldsOf(frames: readonly Frame[]): string[] {
  const all = new Set<string>()
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, `${path}[]`)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) walk(inner, `${path}.${name}`)
    } else all.add(`${path}: ${value === null ? 'null' : typeof value}`)
  }
  for (const frame of frames) walk(frame, '')
  return [...all].sort()
}

/** In place of each value its type; of a text, what it looks like. Arrays are as their first item. */
function shapeOf(value: unknown, detail: 'forms' | 'fields'): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map((item) => shapeOf(item, detail))
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, inner]) => [name, shapeOf(inner, detail)] as const)
    // Key order matters on the wire; recorded REST bodies had theirs sorted.
    return Object.fromEntries(detail === 'forms' ? entries : entries.sort(([left], [right]) => (left < right ? -1 : 1)))
  }
  return typeof value === 'string' && detail === 'forms' ? formOf(value) : value === null ? 'null' : typeof value
}

function formOf(text: string): string {
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)) return `uuid version ${text[14]}`
  if (/^\d+(\.\d+)?$/.test(text)) return 'decimal'
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(text)) return 'microsecond time'
  return 'text'
}
