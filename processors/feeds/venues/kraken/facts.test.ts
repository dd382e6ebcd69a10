import { describe, expect, it } from 'vitest'
import type { FactRow, FrameEvent } from '../events.ts'
import type { RestAnswer } from '../venue.ts'
import { listing, parseTickers as parse, tickerRequest } from './trades.ts'
import { pairOf, parseMarket, pastCandles, symbolOf, symbolOfKey } from './market.ts'

const now = Date.UTC(2026, 10, 20, 10, 30, 20)

function rows(answer: RestAnswer<FactRow>): readonly FactRow[] {
  return answer.kind === 'rows' ? answer.rows : []
}

describe('Kraken’s names', () => {
  it.each([
    ['XBT/USD', 'BTC/USD', 'XBTUSD'],
    ['XDG/USD', 'DOGE/USD', 'XDGUSD'],
    ['USDT/USD', 'USDT/USD', 'USDTUSD'],
  ])('of the list %s are %s on the stream and %s over REST', (wsname, symbol, pair) => {
    expect([symbolOf(wsname), pairOf(symbol)]).toEqual([symbol, pair])
  })

  it.each([
    ['BTC/USD', 'BTC/USD'],
    ['XXBTZUSD', 'BTC/USD'],
    ['XBTUSD', 'BTC/USD'],
    ['XDGUSD', 'DOGE/USD'],
    ['USDTZUSD', 'USDT/USD'],
    ['USDCUSD', 'USDC/USD'],
    ['XTZUSD', 'XTZ/USD'],
    ['XBTUSDT', undefined],
  ])('in the answer %s mean %s', (key, symbol) => {
    expect(symbolOfKey(key)).toBe(symbol)
  })
})

describe('Kraken tickers', () => {
  const row = {
    symbol: 'ALGO/USD',
    bid: 0.10025,
    bid_qty: 740,
    ask: 0.10036,
    last: 1e-7,
    volume: 997038.98383185,
    change: -0.00017,
    change_pct: -0.17,
    timestamp: '2026-11-20T10:30:19.123456Z',
  }
  const read = (change: object): FrameEvent[] =>
    parse(JSON.stringify({ channel: 'ticker', type: 'update', data: [{ ...row, ...change }] }))

  it('are JSON numbers and become exact texts', () => {
    expect(read({})).toEqual([
      {
        kind: 'fact',
        fact: {
          kind: 'ticker',
          symbol: 'ALGO/USD',
          bid: '0.10025',
          ask: '0.10036',
          last: '0.0000001',
          change24h: -0.17,
          volume24h: '997038.98383185',
          time: (now - 1_000) * 1_000 + 123_456,
        },
      },
    ])
  })

  it('say an empty side of the book, and not what they do not have', () => {
    expect(parse(JSON.stringify({ channel: 'ticker', data: [{ symbol: 'A/USD', bid: 0, ask: 2 }] }))).toEqual([
      { kind: 'fact', fact: { kind: 'ticker', symbol: 'A/USD', bid: null, ask: '2', time: null } },
    ])
  })

  it.each([
    { timestamp: '1970-01-01T00:00:00.000000Z' },
    { timestamp: 7 },
    { bid: -1 },
    { last: 1e21 },
    { ask: 'x' },
    { change_pct: '1' },
    { symbol: '' },
  ])('with %o are refused', (change) => {
    expect(read(change)).toEqual([{ kind: 'refused', reason: 'bad-field' }])
  })
})

describe('other Kraken frames', () => {
  const times = { time_in: '2026-07-07T23:00:03.501510Z', time_out: '2026-07-07T23:00:03.501553Z' }

  it.each([
    [{ channel: 'heartbeat' }, [{ kind: 'heartbeat', symbol: null, lastId: null }]],
    [{ method: 'pong', ...times }, [{ kind: 'pong' }]],
    [{ channel: 'status', type: 'update', data: [{ system: 'online' }] }, []],
    [
      { method: 'subscribe', result: { channel: 'ticker', symbol: 'BTC/USD' }, success: true, ...times, req_id: 7 },
      [{ kind: 'subscribed', symbols: ['BTC/USD'], id: 7 }],
    ],
    [
      { method: 'unsubscribe', result: { channel: 'ticker', symbol: 'BTC/USD' }, success: true, ...times },
      [{ kind: 'unsubscribed', symbols: ['BTC/USD'], id: null }],
    ],
    [
      {
        method: 'subscribe',
        success: false,
        error: 'Currency pair not supported FOO/USD',
        symbol: 'FOO/USD',
        req_id: 7,
      },
      [{ kind: 'rejected', symbols: ['FOO/USD'], id: 7, message: 'Currency pair not supported FOO/USD', alone: true }],
    ],
    [
      { method: 'subscribe', success: false, error: 'Already subscribed', symbol: 'BTC/USD', req_id: 7 },
      [{ kind: 'subscribed', symbols: ['BTC/USD'], id: 7 }],
    ],
    [
      { method: 'subscribe', success: false, error: 'Malformed request', req_id: 7 },
      [{ kind: 'rejected', symbols: null, id: 7, message: 'Malformed request' }],
    ],
    [{ Error: 'Exceeded msg rate' }, [{ kind: 'refused', reason: 'unknown-event' }]],
    [{ channel: 'ticker', data: 7 }, [{ kind: 'refused', reason: 'bad-field' }]],
    [[], [{ kind: 'refused', reason: 'not-an-object' }]],
  ])('%o are understood', (message, events) => {
    expect(parse(JSON.stringify(message))).toEqual(events)
  })

  it('ask for changes of the best prices, a hundred symbols in a request', () => {
    const symbols = Array.from({ length: 150 }, (_, n) => `A${n}/USD`)
    const [first = '', second = '', ...more] = tickerRequest('subscribe', symbols, 7)
    expect(JSON.parse(first)).toEqual({
      method: 'subscribe',
      params: { channel: 'ticker', event_trigger: 'bbo', snapshot: true, symbol: symbols.slice(0, 100) },
      req_id: 7,
    })
    expect(JSON.parse(second)).toMatchObject({ params: { symbol: symbols.slice(100) }, req_id: 7 })
    expect([...more, ...tickerRequest('unsubscribe', [], 8)]).toEqual([])
  })
})

describe('Kraken over REST', () => {
  it('lists pairs in dollars under the names of the stream', () => {
    const pair = {
      altname: 'XBTUSD',
      wsname: 'XBT/USD',
      aclass_base: 'currency',
      base: 'XXBT',
      quote: 'ZUSD',
      tick_size: '0.1',
      status: 'online',
    }
    const result = {
      XXBTZUSD: pair,
      XXBTZEUR: { ...pair, wsname: 'XBT/EUR' },
      AAPLxUSD: { ...pair, wsname: 'AAPLx/USD', aclass_base: 'tokenized_asset' },
      USDTZUSD: { ...pair, wsname: 'USDT/USD', status: 'cancel_only' },
    }
    expect(listing.parse({ error: [], result })).toMatchObject({
      rows: [
        { symbol: 'BTC/USD', base: 'BTC', quote: 'USD', tick: 0.1, live: true },
        { symbol: 'USDT/USD', base: 'USDT', live: false },
      ],
    })
  })

  const ticker = { a: ['101', '1', '1.0'], b: ['99', '1', '1.0'], c: ['100', '0.1'], v: ['3', '7.5'], o: '98' }

  it('prices the whole market with its book and the volume of 24 hours', () => {
    const result = { 'BTC/USD': ticker, 'BTC/EUR': ticker, 'ETH/USD:BTNL': ticker, 'A/USD': { ...ticker, c: 7 } }
    expect(rows(parseMarket({ error: [], result }))).toEqual([
      { kind: 'ticker', symbol: 'BTC/USD', bid: '99', ask: '101', last: '100', volume24h: '7.5', time: null },
      { refused: 'bad-field' },
    ])
    expect(listing.prices?.parse({ error: [], result })).toEqual({
      kind: 'rows',
      rows: [{ symbol: 'BTC/USD', price: 100 }],
    })
  })

  it('looks candles up from the minute before, and leaves out the one that runs', () => {
    const minute = (now - 20_000) * 1_000
    expect(pastCandles.call('BTC/USD', 60, minute, minute + 60_000_000).path).toBe(
      `/0/public/OHLC?pair=XBTUSD&interval=1&since=${now / 1_000 - 21}`,
    )
    const second = now / 1_000
    const list = [
      [second - 60, '2', '4', '1', '3', '2.5', '0.5', 11],
      [second, '3', '3', '3', '3', '3', '1', 1],
    ]
    expect(
      rows(pastCandles.parse('BTC/USD', 60, { error: [], result: { XXBTZUSD: list, last: second } }, now)),
    ).toEqual([
      {
        kind: 'candle',
        symbol: 'BTC/USD',
        minute: (now - 60_000) * 1_000,
        open: '2',
        high: '4',
        low: '1',
        close: '3',
        volume: '0.5',
        takerBuy: null,
        trades: 11,
      },
    ])
  })

  it.each([
    [{ error: ['EAPI:Rate limit exceeded'] }, { kind: 'limited' }],
    [{ error: ['EService: Throttled: 1700000000'] }, { kind: 'limited' }],
    [{ error: ['EService:Unavailable'] }, { kind: 'failed', message: 'EService:Unavailable' }],
    [{ error: ['EService:Busy'] }, { kind: 'failed' }],
    [{ error: ['EGeneral:Internal error'] }, { kind: 'failed' }],
    [{ error: ['EGeneral:Internal error[db]'] }, { kind: 'failed' }],
    [{ error: ['EGeneral:Invalid arguments'] }, { kind: 'error', code: 'EGeneral:Invalid arguments' }],
    [{ error: ['EQuery:Unknown asset pair'] }, { kind: 'error', code: 'EQuery:Unknown asset pair' }],
    [{ error: [] }, { kind: 'error', code: 'bad-body' }],
    [null, { kind: 'error', code: 'bad-body' }],
  ])('understands the refusal %o', (body, answer) => {
    expect(parseMarket(body)).toMatchObject(answer)
    expect(listing.parse(body)).toMatchObject(answer)
    expect(pastCandles.parse('BTC/USD', 60, body, now)).toMatchObject(answer)
  })
})
