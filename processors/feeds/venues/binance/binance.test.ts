import { describe, expect, it } from 'vitest'
import { trades as binance } from './trades.ts'

const aggTrade = {
  e: 'aggTrade',
  E: 1790000000100,
  a: 500,
  s: 'BTCUSDT',
  p: '64990.90',
  q: '0.012',
  nq: '0.002',
  f: 100,
  l: 105,
  T: 1790000000001,
  m: true,
  st: 1,
}
const rawTrade = {
  e: 'trade',
  E: 1790000000100,
  T: 1790000000001,
  s: 'ETHUSDT',
  t: 77,
  p: '2681.62',
  q: '1.000',
  X: 'MARKET',
  m: false,
}
const enveloped = (data: object): object => ({ stream: 'btcusdt@aggTrade', data })
const parse = (message: unknown) => binance.parse(typeof message === 'string' ? message : JSON.stringify(message))

const expected = {
  symbol: 'BTCUSDT',
  id: 500,
  count: 6,
  sequence: null,
  price: '64990.90',
  size: '0.012',
  taker: 'sell',
  time: 1790000000001000,
}

/** The same message with its fields in the opposite order. */
function reversed(message: object): object {
  return Object.fromEntries(Object.entries(message).toReversed())
}

describe('Binance trades', () => {
  it.each([
    ['raw', aggTrade],
    ['in the envelope of a combined stream', enveloped(aggTrade)],
    ['in another field order', reversed(aggTrade)],
    ['of 2021, without nq and st', { ...aggTrade, nq: undefined, st: undefined }],
    ['with fields we do not know', { ...aggTrade, zz: [1, { a: 2 }] }],
  ])('are read %s', (_, message) => {
    expect(parse(message)).toEqual([{ kind: 'trade', trade: expected }])
  })

  it('are taker buys when the buyer was not the maker', () => {
    expect(parse({ ...aggTrade, m: false })).toMatchObject([{ trade: { taker: 'buy' } }])
  })

  it('are read from the undocumented raw stream too, one fill each', () => {
    const trade = { ...expected, symbol: 'ETHUSDT', id: 77, count: 1, price: '2681.62', size: '1.000', taker: 'buy' }
    expect(parse(enveloped(rawTrade))).toEqual([{ kind: 'trade', trade }])
    expect(parse({ ...rawTrade, X: undefined })).toEqual([{ kind: 'trade', trade }])
  })

  it.each(['INSURANCE_FUND', 'ADL', 'NA'])('executed as %s are off the book', (X) => {
    expect(parse(enveloped({ ...rawTrade, X, p: '0', q: '0' }))).toEqual([{ kind: 'refused', reason: 'off-book' }])
    expect(parse({ ...rawTrade, X })).toEqual([{ kind: 'refused', reason: 'off-book' }])
  })

  it('of retail price improvement stay in', () => {
    expect(parse({ ...rawTrade, X: 'RPI' })).toMatchObject([{ kind: 'trade' }])
  })

  it.each([
    ['a missing id', { ...aggTrade, a: undefined }],
    ['an id as text', { ...aggTrade, a: '500' }],
    ['a negative id', { ...aggTrade, a: -1 }],
    ['an id beyond 2^53', JSON.stringify(aggTrade).replace('500', '9007199254740993')],
    ['a price as number', { ...aggTrade, p: 64990.9 }],
    ['a price of zero', { ...aggTrade, p: '0.00' }],
    ['a negative price', { ...aggTrade, p: '-64990.90' }],
    ['a price beyond reason', { ...aggTrade, p: '1000000000000000' }],
    ['an empty size', { ...aggTrade, q: '' }],
    ['a size with an exponent', { ...aggTrade, q: '1e3' }],
    ['no symbol', { ...aggTrade, s: '' }],
    ['a symbol without end', { ...aggTrade, s: 'X'.repeat(65) }],
    ['a side as text', { ...aggTrade, m: 'true' }],
    ['fills that end before they begin', { ...aggTrade, f: 106 }],
    ['more fills than there can be', { ...aggTrade, l: 100 + 10_000_001 }],
    ['a time in seconds', { ...aggTrade, T: 1790000000 }],
    ['a time in microseconds', { ...aggTrade, T: 1790000000001000 }],
    ['a raw trade without an id', { ...rawTrade, t: null }],
  ])('with %s are refused', (_, message) => {
    expect(parse(message)).toEqual([{ kind: 'refused', reason: 'bad-field' }])
  })
})

describe('other Binance frames', () => {
  it.each([
    ['{"e":"aggTrade"', 'not-json'],
    ['', 'not-json'],
    ['pong', 'not-json'],
    [`${JSON.stringify(aggTrade)}}`, 'not-json'],
    [JSON.stringify(enveloped(aggTrade)).slice(0, -1), 'not-json'],
    ['null', 'not-an-object'],
    ['[1]', 'not-an-object'],
    ['{"stream":"x","data":5}', 'not-an-object'],
    ['{}', 'unknown-event'],
    ['{"e":"markPriceUpdate"}', 'unknown-event'],
    ['{"stream":"!markPrice@arr","data":{"e":"kline"}}', 'unknown-event'],
  ])('%s is refused as %s', (frame, reason) => {
    expect(parse(frame)).toEqual([{ kind: 'refused', reason }])
  })

  it.each([
    ['{"result":null,"id":14}', { kind: 'subscribed', symbols: null, id: 7 }],
    ['{"result":null,"id":15}', { kind: 'unsubscribed', symbols: null, id: 7 }],
    [
      '{"code":2,"msg":"Invalid request: unknown","id":14}',
      { kind: 'rejected', symbols: null, id: 7, message: '2 Invalid request: unknown' },
    ],
    ['{"error":{"code":2,"msg":"no"},"id":14}', { kind: 'rejected', symbols: null, id: 7, message: '2 no' }],
    ['{"code":2,"msg":"no"}', { kind: 'rejected', symbols: null, id: null, message: '2 no' }],
    ['{"e":"serverShutdown","E":1770123456789}', { kind: 'closing', message: 'serverShutdown' }],
    [
      '{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1770123456789}}',
      { kind: 'closing', message: 'serverShutdown' },
    ],
    ['{"stream":"!serverShutdown","data":{"E":1770123456789}}', { kind: 'closing', message: 'serverShutdown' }],
  ])('%s is understood', (frame, event) => {
    expect(parse(frame)).toEqual([event])
  })

  it('name the streams in lower case and number what the answer does not tell apart', () => {
    expect(
      binance.request('subscribe', ['BTCUSDT', '1000PEPEUSDT'], 7).map((frame): unknown => JSON.parse(frame)),
    ).toEqual([{ method: 'SUBSCRIBE', params: ['btcusdt@aggTrade', '1000pepeusdt@aggTrade'], id: 14 }])
    expect(binance.request('unsubscribe', ['BTCUSDT'], 7).map((frame): unknown => JSON.parse(frame))).toEqual([
      { method: 'UNSUBSCRIBE', params: ['btcusdt@aggTrade'], id: 15 },
    ])
    expect(binance.request('subscribe', [], 1)).toEqual([])
  })
})

describe('Binance over REST', () => {
  it('pages forward from the first missing id and asks for no more than is missing', () => {
    expect(binance.backfill.page('BTCUSDT', 501, 510, 0)).toEqual({
      path: '/fapi/v1/aggTrades?symbol=BTCUSDT&fromId=501&limit=10',
      cost: 20,
    })
    expect(binance.backfill.page('币安人生USDT', 1, 5000, 0).path).toContain('symbol=%E5%B8%81')
    expect(binance.backfill.page('BTCUSDT', 1, 5000, 0).path).toContain('limit=1000')
  })

  it('judges each row of a page alone', () => {
    const { e: _e, s: _s, E: _E, ...row } = aggTrade
    expect(binance.backfill.parse('BTCUSDT', [row, { ...row, p: '0' }, null])).toEqual({
      kind: 'rows',
      rows: [expected, { refused: 'bad-field' }, { refused: 'bad-field' }],
    })
  })

  it.each([
    [{ code: -1003, msg: 'Too many requests' }, { kind: 'limited' }],
    [
      { code: -1001, msg: 'Internal error; please try again.' },
      { kind: 'failed', message: '-1001 Internal error; please try again.' },
    ],
    [
      { code: -1007, msg: 'Timeout' },
      { kind: 'failed', message: '-1007 Timeout' },
    ],
    [
      { code: -1008, msg: 'Request throttled' },
      { kind: 'failed', message: '-1008 Request throttled' },
    ],
    [
      { code: -1121, msg: 'Invalid symbol.' },
      { kind: 'error', code: '-1121', message: 'Invalid symbol.' },
    ],
    ['<html>', { kind: 'error', code: 'bad-body', message: 'an array of aggregate trades expected' }],
    [undefined, { kind: 'error', code: 'bad-body', message: 'an array of aggregate trades expected' }],
  ])('understands the refusal %o', (body, answer) => {
    expect(binance.backfill.parse('BTCUSDT', body)).toEqual(answer)
  })

  it('lists live USDT perpetuals of coins', () => {
    const btc = {
      symbol: 'BTCUSDT',
      contractType: 'PERPETUAL',
      status: 'TRADING',
      baseAsset: 'BTC',
      quoteAsset: 'USDT',
      marginAsset: 'USDT',
      filters: [{ filterType: 'LOT_SIZE' }, { filterType: 'PRICE_FILTER', tickSize: '0.10' }],
    }
    const symbols = [
      btc,
      { ...btc, symbol: '1000PEPEUSDT', baseAsset: '1000PEPE', filters: [] },
      { ...btc, symbol: 'OLDUSDT', baseAsset: 'OLD', status: 'SETTLING' },
      { ...btc, symbol: 'TSLAUSDT', baseAsset: 'TSLA', contractType: 'TRADIFI_PERPETUAL' },
      { ...btc, symbol: 'BTCUSDT_260925', contractType: 'CURRENT_QUARTER' },
      { ...btc, symbol: 'BTCUSDC', quoteAsset: 'USDC', marginAsset: 'USDC' },
      null,
    ]
    expect(binance.listing.parse({ symbols })).toMatchObject({
      kind: 'rows',
      rows: [
        { symbol: 'BTCUSDT', base: 'BTC', sizeFactor: 1, priceFactor: 1, tick: 0.1, live: true },
        { symbol: '1000PEPEUSDT', base: 'PEPE', sizeFactor: 1000, priceFactor: 1000, tick: null },
        { symbol: 'OLDUSDT', live: false },
      ],
    })
    expect(binance.listing.parse({ code: -1003, msg: '' })).toEqual({ kind: 'limited' })
  })

  it('prices the whole market in one call', () => {
    const rows = [{ symbol: 'BTCUSDT', price: '64990.9', time: 1 }, { symbol: 'X', price: '0' }, 7]
    expect(binance.listing.prices?.parse(rows)).toEqual({ kind: 'rows', rows: [{ symbol: 'BTCUSDT', price: 64990.9 }] })
  })
})
