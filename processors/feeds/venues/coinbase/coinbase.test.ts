import { describe, expect, it } from 'vitest'
import { trades as coinbase } from './trades.ts'

const match = {
  type: 'match',
  trade_id: 1052119289,
  maker_order_id: '15bc13f2-e38c-4693-8c0b-e8c6152b9c1d',
  taker_order_id: '13d7d08f-7396-421b-9dba-94eac92f3d78',
  side: 'sell',
  size: '0.00000001',
  price: '63514.6',
  product_id: 'BTC-USD',
  sequence: 132235026010,
  time: '2026-07-07T22:58:17.164892Z',
}
const expected = {
  symbol: 'BTC-USD',
  id: 1052119289,
  count: 1,
  sequence: 132235026010,
  price: '63514.6',
  size: '0.00000001',
  taker: 'buy',
  time: 1_783_465_097_164_892,
}
const parse = (message: unknown) => coinbase.parse(typeof message === 'string' ? message : JSON.stringify(message))

/** The same message with its fields in the opposite order. */
function reversed(message: object): object {
  return Object.fromEntries(Object.entries(message).toReversed())
}

describe('Coinbase trades', () => {
  it.each([
    ['as sent', match, expected],
    ['in another field order', reversed(match), expected],
    ['without a sequence', { ...match, sequence: undefined }, { ...expected, sequence: null }],
    ['hit by the taker, whose order is not the one named', { ...match, side: 'buy' }, { ...expected, taker: 'sell' }],
  ])('are read %s', (_, message, trade) => {
    expect(parse(message)).toEqual([{ kind: 'trade', trade }])
  })

  it.each([
    ['an id as text', { trade_id: '1052119289' }],
    ['no product', { product_id: undefined }],
    ['a side unknown', { side: 'none' }],
    ['a size of zero', { size: '0.00000000' }],
    ['a price as number', { price: 63514.6 }],
    ['no time', { time: undefined }],
    ['a time that never was', { time: '2026-02-30T00:00:00.000000Z' }],
    ['a sequence as text', { sequence: '1' }],
  ])('with %s are refused', (_, change) => {
    expect(parse({ ...match, ...change })).toEqual([{ kind: 'refused', reason: 'bad-field' }])
  })
})

describe('other Coinbase frames', () => {
  it.each([
    [
      { ...match, type: 'last_match' },
      { kind: 'heartbeat', symbol: 'BTC-USD', lastId: 1052119289 },
    ],
    [
      {
        type: 'heartbeat',
        sequence: 90,
        last_trade_id: 20,
        product_id: 'BTC-USD',
        time: '2014-11-07T08:19:28.464459Z',
      },
      { kind: 'heartbeat', symbol: 'BTC-USD', lastId: 20 },
    ],
    [
      { type: 'heartbeat', product_id: 'BTC-USD' },
      { kind: 'refused', reason: 'bad-field' },
    ],
    [
      {
        type: 'subscriptions',
        channels: [
          { name: 'heartbeat', product_ids: ['ETH-USD'] },
          { name: 'matches', product_ids: ['BTC-USD', 'ETH-USD'], account_ids: null },
        ],
      },
      { kind: 'subscribed', symbols: ['BTC-USD', 'ETH-USD'], id: null, whole: true },
    ],
    [
      { type: 'subscriptions', channels: [] },
      { kind: 'subscribed', symbols: [], id: null, whole: true },
    ],
    [{ type: 'subscriptions' }, { kind: 'refused', reason: 'unknown-event' }],
    [
      { type: 'error', message: 'Failed to subscribe', reason: 'NOT-USD is not a valid product' },
      {
        kind: 'rejected',
        symbols: ['NOT-USD'],
        id: null,
        message: 'Failed to subscribe: NOT-USD is not a valid product',
      },
    ],
    [
      { type: 'error', message: 'Malformed JSON' },
      { kind: 'rejected', symbols: null, id: null, message: 'Malformed JSON: ' },
    ],
    [
      { type: 'ticker', product_id: 'BTC-USD' },
      { kind: 'refused', reason: 'unknown-event' },
    ],
    ['{"type":"match"', { kind: 'refused', reason: 'not-json' }],
    ['[]', { kind: 'refused', reason: 'not-an-object' }],
  ])('%o is understood', (message, event) => {
    expect(parse(message)).toEqual([event])
  })

  it('ask for matches and heartbeats together', () => {
    expect(coinbase.request('subscribe', ['BTC-USD'], 7).map((text): unknown => JSON.parse(text))).toEqual([
      {
        type: 'subscribe',
        channels: [
          { name: 'matches', product_ids: ['BTC-USD'] },
          { name: 'heartbeat', product_ids: ['BTC-USD'] },
        ],
      },
    ])
    expect(coinbase.request('unsubscribe', [], 8)).toEqual([])
  })
})

describe('Coinbase over REST', () => {
  it('pages backwards from just above the last missing id', () => {
    expect(coinbase.backfill.page('BTC-USD', 100, 199, 0).path).toBe('/products/BTC-USD/trades?after=200&limit=1000')
  })

  it('gives the trade that the stream gave but for its sequence', () => {
    const { trade_id, side, size, price, time } = match
    const rows = [{ trade_id, side, size, price, time }, { trade_id }, 'x']
    expect(coinbase.backfill.parse('BTC-USD', rows)).toEqual({
      kind: 'rows',
      rows: [{ ...expected, sequence: null }, { refused: 'bad-field' }, { refused: 'bad-field' }],
    })
  })

  it.each([
    [{ message: 'Public rate limit exceeded' }, { kind: 'limited' }],
    [{ message: 'NotFound' }, { kind: 'error', code: 'NotFound', message: 'NotFound' }],
    [null, { kind: 'error', code: 'bad-body', message: 'an array of trades expected' }],
  ])('understands the refusal %o', (body, answer) => {
    expect(coinbase.backfill.parse('BTC-USD', body)).toEqual(answer)
  })

  it('lists products in dollars only: the USDC book is the same', () => {
    const btc = {
      id: 'BTC-USD',
      base_currency: 'BTC',
      quote_currency: 'USD',
      quote_increment: '0.01',
      status: 'online',
      trading_disabled: false,
    }
    const products = [
      btc,
      { ...btc, id: 'BTC-USDC', quote_currency: 'USDC' },
      { ...btc, id: 'X-USD', base_currency: 'X', trading_disabled: true },
      { ...btc, id: 'Y-USD', base_currency: 'Y', status: 'delisted' },
      null,
    ]
    expect(coinbase.listing.parse(products)).toMatchObject({
      rows: [
        { symbol: 'BTC-USD', base: 'BTC', quote: 'USD', settle: 'USD', sizeFactor: 1, tick: 0.01, live: true },
        { symbol: 'X-USD', live: false },
        { symbol: 'Y-USD', live: false },
      ],
    })
  })

  it('prices the whole market in one call', () => {
    const products = [
      { product_id: 'BTC-USD', price: '65086.18' },
      { product_id: 'X-USD', price: '' },
    ]
    expect(coinbase.listing.prices?.parse({ products })).toEqual({
      kind: 'rows',
      rows: [{ symbol: 'BTC-USD', price: 65086.18 }],
    })
  })
})
