import { describe, expect, it } from 'vitest'
import { idOf, trades as bybit } from './trades.ts'

const row = {
  T: 1790000000001,
  s: 'BTCUSDT',
  S: 'Buy',
  v: '0.004',
  p: '65114.20',
  L: 'PlusTick',
  i: '00000000-0001-5fde-be60-03eedbe3cdd7',
  BT: false,
  RPI: false,
  seq: 753843954913,
}
const frame = (...data: unknown[]): string =>
  JSON.stringify({ topic: 'publicTrade.BTCUSDT', type: 'snapshot', ts: 1790000000010, data })
const expected = {
  symbol: 'BTCUSDT',
  id: 0x1f,
  count: 1,
  sequence: 753843954913,
  price: '65114.20',
  size: '0.004',
  taker: 'buy',
  time: 1790000000001000,
}

/** The same message with its fields in the opposite order. */
function reversed(message: object): object {
  return Object.fromEntries(Object.entries(message).toReversed())
}

describe('Bybit trades', () => {
  it.each([
    ['as sent today', frame(row), expected],
    [
      'without RPI and seq, as in 2023',
      frame({ ...row, RPI: undefined, seq: undefined }),
      { ...expected, sequence: null },
    ],
    ['in another field order', frame(reversed(row)), expected],
    ['of retail price improvement', frame({ ...row, RPI: true }), expected],
    ['sold by the taker', frame({ ...row, S: 'Sell' }), { ...expected, taker: 'sell' }],
  ])('are read %s', (_, text, trade) => {
    expect(bybit.parse(text)).toEqual([{ kind: 'trade', trade }])
  })

  it('are judged each alone in a frame of many', () => {
    const rows = Array.from({ length: 1024 }, () => row)
    expect(bybit.parse(frame(...rows))).toHaveLength(1024)
    expect(
      bybit.parse(frame(row, { ...row, v: '0' }, { ...row, BT: true }, null, row)).map(({ kind }) => kind),
    ).toEqual(['trade', 'refused', 'refused', 'refused', 'trade'])
  })

  it('made as block trades are off the book', () => {
    expect(bybit.parse(frame({ ...row, BT: true }))).toEqual([{ kind: 'refused', reason: 'off-book' }])
  })

  it.each([
    ['a side in small letters', { S: 'buy' }],
    ['no side', { S: undefined }],
    ['a size as number', { v: 0.004 }],
    ['a negative price', { p: '-1' }],
    ['a time as text', { T: '1790000000001' }],
    ['the id of a spot trade', { i: '2280000001739247417' }],
    ['an id in capital letters', { i: 'A9188A0A-82BC-50DE-BE60-03EEDBE3CDD7' }],
    ['no block flag', { BT: undefined }],
    ['a sequence as text', { seq: '7' }],
  ])('with %s are refused', (_, change) => {
    expect(bybit.parse(frame({ ...row, ...change }))).toEqual([{ kind: 'refused', reason: 'bad-field' }])
  })

  it('number a UUID by its first 52 random bits', () => {
    expect(idOf('ffffffff-ffff-5fff-bfff-ffffffffffff')).toBe(2 ** 52 - 1)
    expect(idOf('00000000-0000-4000-8000-ffffffffffff')).toBe(0)
    expect(idOf('a9188a0a-82bc-50de-be60-03eedbe3cdd7')).toBe(0xa9188a0a82bc0)
    expect(idOf('a9188a0a-82bc-50de-be60')).toBeUndefined()
  })
})

describe('other Bybit frames', () => {
  it.each([
    ['{"success":true,"ret_msg":"pong","conn_id":"x","req_id":"","op":"ping"}', { kind: 'pong' }],
    ['{"op":"pong","args":["1"]}', { kind: 'pong' }],
    [
      '{"success":true,"ret_msg":"","conn_id":"x","req_id":"7","op":"subscribe"}',
      { kind: 'subscribed', symbols: null, id: 7 },
    ],
    ['{"success":true,"req_id":"","op":"subscribe"}', { kind: 'subscribed', symbols: null, id: null }],
    ['{"success":true,"req_id":"8","op":"unsubscribe"}', { kind: 'unsubscribed', symbols: null, id: 8 }],
    [
      '{"success":false,"ret_msg":"Invalid topic: publicTrade.NOTUSDT","req_id":"7","op":"subscribe"}',
      { kind: 'rejected', symbols: ['NOTUSDT'], id: 7, message: 'Invalid topic: publicTrade.NOTUSDT' },
    ],
    ['{"success":false,"ret_msg":"no","op":"subscribe"}', { kind: 'rejected', symbols: null, id: null, message: 'no' }],
    ['{"topic":"tickers.BTCUSDT","data":{}}', { kind: 'refused', reason: 'unknown-event' }],
    ['{"topic":"publicTrade.BTCUSDT","data":{}}', { kind: 'refused', reason: 'bad-field' }],
    ['{"topic":"publicTrade.BTCUSDT","data":[', { kind: 'refused', reason: 'not-json' }],
    ['7', { kind: 'refused', reason: 'not-an-object' }],
    ['{"op":"auth"}', { kind: 'refused', reason: 'unknown-event' }],
    ['{"op":"subscribe"}', { kind: 'refused', reason: 'unknown-event' }],
  ])('%s is understood', (text, event) => {
    expect(bybit.parse(text)).toEqual([event])
  })

  it('ask for topics under the number of the request', () => {
    expect(bybit.request('subscribe', ['BTCUSDT', 'SHIB1000USDT'], 7).map((text): unknown => JSON.parse(text))).toEqual(
      [{ req_id: '7', op: 'subscribe', args: ['publicTrade.BTCUSDT', 'publicTrade.SHIB1000USDT'] }],
    )
    expect(bybit.request('unsubscribe', [], 8)).toEqual([])
  })
})

describe('Bybit over REST', () => {
  const page = (...list: unknown[]) => ({ retCode: 0, retMsg: 'OK', result: { category: 'linear', list } })
  const restRow = {
    execId: row.i,
    symbol: 'BTCUSDT',
    price: '65114.20',
    size: '0.004',
    side: 'Buy',
    time: '1790000000001',
    isBlockTrade: false,
    isRPITrade: false,
    seq: '753843954913',
  }

  it('gives the trade that the stream gave', () => {
    expect(bybit.backfill.parse('BTCUSDT', page(restRow))).toEqual({ kind: 'rows', rows: [expected] })
  })

  it('refuses blocks, other symbols and what is no trade', () => {
    const rows = [{ ...restRow, isBlockTrade: true }, { ...restRow, symbol: 'ETHUSDT' }, { ...restRow, side: '' }, 1]
    expect(bybit.backfill.parse('BTCUSDT', page(...rows))).toEqual({
      kind: 'rows',
      rows: [{ refused: 'off-book' }, { refused: 'bad-field' }, { refused: 'bad-field' }, { refused: 'bad-field' }],
    })
  })

  it.each([
    [{ retCode: 10006, retMsg: 'Too many visits!', result: {} }, { kind: 'limited' }],
    [
      { retCode: 10000, retMsg: 'Server Timeout', result: {} },
      { kind: 'failed', message: '10000 Server Timeout' },
    ],
    [
      { retCode: 10016, retMsg: 'Internal server error', result: {} },
      { kind: 'failed', message: '10016 Internal server error' },
    ],
    [
      { retCode: 10001, retMsg: 'symbol', result: {} },
      { kind: 'error', code: '10001', message: 'symbol' },
    ],
    [
      { retCode: 0, result: null },
      { kind: 'error', code: 'bad-body', message: 'a result with a list expected' },
    ],
  ])('understands the refusal %o', (body, answer) => {
    expect(bybit.backfill.parse('BTCUSDT', body)).toEqual(answer)
  })

  it('asks for the newest page, whatever is missing', () => {
    expect(bybit.backfill.page('BTCUSDT', 1, 2, 0).path).toBe(
      '/v5/market/recent-trade?category=linear&symbol=BTCUSDT&limit=1000',
    )
  })

  it('lists live USDT perpetuals of coins, page by page', () => {
    const btc = {
      symbol: 'BTCUSDT',
      contractType: 'LinearPerpetual',
      status: 'Trading',
      baseCoin: 'BTC',
      quoteCoin: 'USDT',
      settleCoin: 'USDT',
      symbolType: '',
      isPreListing: false,
      priceFilter: { tickSize: '0.10' },
    }
    const list = [
      btc,
      { ...btc, symbol: 'SHIB1000USDT', baseCoin: 'SHIB1000' },
      { ...btc, symbol: 'NEWUSDT', baseCoin: 'NEW', isPreListing: true },
      { ...btc, symbol: 'OLDUSDT', baseCoin: 'OLD', status: 'Closed' },
      { ...btc, symbol: 'TSLAUSDT', symbolType: 'stock' },
      { ...btc, symbol: 'XAUUSDT', symbolType: 'commodity' },
      { ...btc, symbol: 'BTCPERP', quoteCoin: 'USDC', settleCoin: 'USDC' },
      { ...btc, symbol: 'BTCUSDT-25DEC26', contractType: 'LinearFutures' },
    ]
    const body = { retCode: 0, result: { list, nextPageCursor: 'first%3DA&' } }
    expect(bybit.listing.parse(body)).toMatchObject({
      rows: [
        { symbol: 'BTCUSDT', base: 'BTC', tick: 0.1, live: true },
        { symbol: 'SHIB1000USDT', base: 'SHIB', sizeFactor: 1000, priceFactor: 1000 },
        { symbol: 'NEWUSDT', live: false },
        { symbol: 'OLDUSDT', live: false },
      ],
      next: { path: '/v5/market/instruments-info?category=linear&limit=1000&cursor=first%253DA%26' },
    })
    expect(bybit.listing.parse({ retCode: 0, result: { list, nextPageCursor: '' } })).not.toHaveProperty('next')
  })

  it('prices the whole market in one call', () => {
    expect(bybit.listing.prices?.parse(page({ symbol: 'BTCUSDT', lastPrice: '65114.2' }, { symbol: 'X' }))).toEqual({
      kind: 'rows',
      rows: [{ symbol: 'BTCUSDT', price: 65114.2 }],
    })
  })
})
