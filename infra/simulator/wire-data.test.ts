import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { binanceApi } from './venues/binance/api.ts'
import { binanceSpotApi } from './venues/binance/spot.ts'
import { bybitApi } from './venues/bybit/api.ts'
import { coinGeckoApi } from './venues/coingecko.ts'
import { coinbaseApi } from './venues/coinbase/api.ts'
import { gateApi } from './venues/gate.ts'
import { krakenApi } from './venues/kraken.ts'
import { okxApi } from './venues/okx/api.ts'
import { recordings, testVenueApi, type TestVenueApi } from './testing/venue-api.ts'
import type { Context, VenueApi } from './venues/venue-api.ts'

const apis = {
  binance: binanceApi,
  'binance-spot': binanceSpotApi,
  bybit: bybitApi,
  okx: okxApi,
  coinbase: coinbaseApi,
  kraken: krakenApi,
  gate: gateApi,
  coingecko: coinGeckoApi,
} satisfies Readonly<Record<string, ({ world, economy }: Context) => VenueApi>>
type ApiName = keyof typeof apis

/**
 * A recorded answer, the same call here, and fields in which the two may differ and why: recordings that are older than
 * a field of today, or whose authors left some out.
 */
const answers: readonly (readonly [file: string, api: ApiName, path: string, differs?: RegExp])[] = [
  ['binance/rest-usdm-premiumIndex/', 'binance', '/fapi/v1/premiumIndex?symbol=BTCUSDT', /estimatedSettlePrice|\[\]/],
  ['binance/rest-usdm-fundingRate/live', 'binance', '/fapi/v1/fundingRate?symbol=BTCUSDT'],
  ['binance/rest-usdm-fundingInfo', 'binance', '/fapi/v1/fundingInfo'],
  ['binance/rest-usdm-premiumIndexKlines', 'binance', '/fapi/v1/premiumIndexKlines?symbol=BTCUSDT&interval=1m'],
  ['binance/rest-usdm-openInterest', 'binance', '/fapi/v1/openInterest?symbol=BTCUSDT'],
  [
    'binance/rest-futuresdata-openInterestHist/live',
    'binance',
    '/futures/data/openInterestHist?symbol=BTCUSDT&period=1h',
  ],
  [
    'binance/rest-futuresdata-topLongShortPositionRatio/live',
    'binance',
    '/futures/data/topLongShortPositionRatio?symbol=BTCUSDT&period=5m',
  ],
  // Of one symbol an object, of all an array.
  ['binance/rest-spot-ticker-24hr', 'binance-spot', '/api/v3/ticker/24hr', /^\./],
  ['binance/rest-spot-ticker-price', 'binance-spot', '/api/v3/ticker/price?symbol=BTCUSDT'],
  ['binance/rest-spot-klines', 'binance-spot', '/api/v3/klines?symbol=BTCUSDT&interval=1m'],
  ['binance/rest-spot-time', 'binance-spot', '/api/v3/time'],
  ['bybit/rest-v5-funding-history', 'bybit', '/v5/market/funding/history?category=linear&symbol=BTCUSDT'],
  // Recorded in 2023, without an envelope: what has come since is in the stream's recording.
  [
    'bybit/rest-v5-tickers-linear',
    'bybit',
    '/v5/market/tickers?category=linear',
    /^\.(ret|time)|single|basisRateYear|funding(Cap|Interval)|^\.result\.list\[\]\.(pre|cur)/,
  ],
  ['bybit/rest-v5-tickers-spot', 'bybit', '/v5/market/tickers?category=spot', /^\.(ret|time)/],
  ['bybit/rest-v5-instruments-info-spot', 'bybit', '/v5/market/instruments-info?category=spot'],
  ['bybit/rest-v5-instruments-info-linear', 'bybit', '/v5/market/instruments-info?category=linear', /preListingInfo/],
  [
    'okx/rest-funding-rate/live',
    'okx',
    '/api/v5/public/funding-rate?instId=BTC-USDT-SWAP',
    /Rate$|method|premium|prev|impact/,
  ],
  [
    'okx/rest-funding-rate-history/live_okxfund',
    'okx',
    '/api/v5/public/funding-rate-history?instId=BTC-USDT-SWAP',
    /^\.msg/,
  ],
  ['okx/rest-index-tickers', 'okx', '/api/v5/market/index-tickers?quoteCcy=USDT'],
  ['okx/rest-mark-price/', 'okx', '/api/v5/public/mark-price?instType=SWAP'],
  ['okx/rest-open-interest/live_okxoi', 'okx', '/api/v5/public/open-interest?instType=SWAP'],
  ['okx/rest-market-candles', 'okx', '/api/v5/market/candles?instId=BTC-USDT'],
  [
    'okx/rest-rubik-long-short-account-ratio-contract',
    'okx',
    '/api/v5/rubik/stat/contracts/long-short-position-ratio-contract-top-trader?instId=BTC-USDT-SWAP',
  ],
  ['coinbase/rest-exchange-candles', 'coinbase', '/products/USDT-USD/candles?granularity=60'],
  // Some of what is recorded is of products that differ from a plain one.
  [
    'coinbase/rest-advanced-market-products',
    'coinbase',
    '/api/v3/brokerage/market/products',
    /pagination|session_details|alias_to/,
  ],
  ['kraken/rest-AssetPairs', 'kraken', '/0/public/AssetPairs?pair=XBTUSDT'],
  ['kraken/rest-OHLC', 'kraken', '/0/public/OHLC?pair=XBTUSDT'],
  ['kraken/rest-Ticker/http', 'kraken', '/0/public/Ticker?pair=XBTUSDT'],
  ['kraken/rest-Time', 'kraken', '/0/public/Time'],
  ['gate/rest-v4-futures-usdt-contracts/', 'gate', '/api/v4/futures/usdt/contracts'],
  ['gate/rest-v4-futures-usdt-contract_stats', 'gate', '/api/v4/futures/usdt/contract_stats?contract=BTC_USDT'],
  ['gate/rest-v4-futures-usdt-tickers', 'gate', '/api/v4/futures/usdt/tickers'],
  [
    'coingecko/rest-coins-markets/live_geckolive',
    'coingecko',
    '/api/v3/coins/markets?vs_currency=usd&price_change_percentage=24h',
  ],
]

type Frame = Readonly<Record<string, unknown>>

/** A recorded channel and the same subscription here; only frames that have `is` are compared. */
const channels: readonly (readonly [
  file: string,
  api: ApiName,
  path: string,
  ask: object,
  is: string,
  differs?: RegExp,
])[] = [
  [
    'binance/usdm-markPrice_arr/live',
    'binance',
    '/market/ws/!markPrice@arr@1s',
    { method: 'LIST_SUBSCRIPTIONS', id: 1 },
    '0',
  ],
  [
    'binance/usdm-forceOrder/live_(rec1008|mdk)',
    'binance',
    '/market/stream',
    { method: 'SUBSCRIBE', params: ['!forceOrder@arr'], id: 1 },
    'stream',
  ],
  [
    'binance/spot-ticker/tardis',
    'binance-spot',
    '/stream',
    { method: 'SUBSCRIBE', params: ['btcusdt@ticker'], id: 1 },
    'stream',
  ],
  [
    'bybit/linear-tickers/20260809',
    'bybit',
    '/v5/public/linear',
    { op: 'subscribe', args: ['tickers.BTCUSDT'] },
    'topic',
  ],
  ['bybit/spot-tickers', 'bybit', '/v5/public/spot', { op: 'subscribe', args: ['tickers.BTCUSDT'] }, 'topic'],
  ['bybit/spot-control', 'bybit', '/v5/public/spot', { op: 'subscribe', args: ['tickers.BTCUSDT'] }, 'op'],
  ...(['tickers/live', 'mark-price/live', 'funding-rate/live'] as const).map((name) => {
    const [channel = '', capture = ''] = name.split('/')
    const spot = channel === 'tickers'
    const args = [{ channel, instId: spot ? 'BTC-USDT' : 'BTC-USDT-SWAP' }]
    const file = `okx/${spot ? 'spot' : 'swap'}-${channel}/${capture}`
    return [file, 'okx', '/ws/v5/public', { op: 'subscribe', args }, 'data'] as const
  }),
  [
    'okx/swap-liquidation-orders',
    'okx',
    '/ws/v5/public',
    { op: 'subscribe', args: [{ channel: 'liquidation-orders', instType: 'SWAP' }] },
    'data',
  ],
  // Sizes of the book's best are newer than the recording.
  [
    'coinbase/exchange-ticker',
    'coinbase',
    '/',
    { type: 'subscribe', channels: [{ name: 'ticker', product_ids: ['BTC-USD'] }] },
    'price',
    /best_(bid|ask)_size/,
  ],
  ['kraken/v2-status', 'kraken', '/v2', { method: 'ping' }, 'data'],
  // Recorded acknowledgements are of other channels; the recorded ticker was cut down to its book.
  [
    'kraken/v2-control',
    'kraken',
    '/v2',
    { method: 'subscribe', params: { channel: 'ticker', symbol: ['BTC/USD'] } },
    'method',
    /result\.(depth|event_trigger)/,
  ],
  [
    'kraken/v2-ticker',
    'kraken',
    '/v2',
    { method: 'subscribe', params: { channel: 'ticker', symbol: ['BTC/USD'], event_trigger: 'bbo' } },
    'data',
    /last|volume|vwap|low|high|change|version|system|connection_id/,
  ],
]

// The recordings are not part of the repository: where they are missing there is nothing to compare with.
describe.skipIf(!existsSync(recordings))('beside what was recorded from the real venue', () => {
  const calls = answers.map(([file, name, path, differs]) => ({ file, name, path, differs }))
  const streams = channels.map(([file, name, path, ask, is, differs]) => ({ file, name, path, ask, is, differs }))

  test.each(calls)('$file has the same fields of the same types', async ({ file, name, path, differs }) => {
    const api = await testVenueApi(apis[name])
    const { status, body } = await api.get(path)
    await api.close()
    expect(status).toBe(200)
    expect(fieldsOf([body], differs)).not.toEqual([])
    expect(fieldsOf([body], differs)).toEqual(fieldsOf(recorded(file), differs))
  })

  test.each(streams)('$file has the same fields of the same types', async ({ file, name, path, ask, is, differs }) => {
    const api = await testVenueApi(apis[name])
    liquidate(api)
    const socket = api.open(path, [ask])
    const wanted = (): Frame[] => socket.json().filter((frame) => is in frame)
    // A frame of another kind may be all that has come yet.
    await vi.waitFor(() => {
      api.beat(500)
      expect(fieldsOf(wanted(), differs)).not.toEqual([])
      expect(fieldsOf(wanted(), differs)).toEqual(fieldsOf(recorded(file), differs))
    })
    await api.close()
  })
})

function liquidate({ economy }: TestVenueApi): void {
  const prices = { bankruptcyPrice: 83_000, fillPrice: 83_010 }
  for (const [market] of [economy.perps('okx'), economy.perps('binance')]) {
    if (market === undefined) throw new Error('no market')
    economy.liquidated.push({ market, liquidation: { time: economy.now, side: 'long', size: 1, ...prices } })
  }
}

function recorded(pattern: string): unknown[] {
  const [venue = '', folder = '', file = ''] = pattern.split('/')
  const path = join(recordings, venue, folder)
  const names = readdirSync(path).filter((name) => new RegExp(`^${file}`).test(name))
  expect(names).not.toEqual([])
  return names.flatMap((name) => {
    const bytes = readFileSync(join(path, name))
    const lines = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => (JSON.parse(line) as { raw: unknown }).raw)
  })
}

/** Every path with its JSON type, sorted; names of pairs and lists that may be empty do not count. */
function fieldsOf(values: readonly unknown[], without: RegExp | undefined): string[] {
  const all = new Set<string>()
  const walk = (value: unknown, path: string): void => {
    if (without?.test(path) === true) return
    if (Array.isArray(value)) for (const item of value) walk(item, `${path}[]`)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) walk(inner, `${path}.${name}`)
    } else all.add(`${path}: ${value === null ? 'null' : typeof value}`)
  }
  for (const value of values) walk(value, '')
  return [...all].sort()
}
