import { describe, expect, it } from 'vitest'
import { trades as okx } from './trades.ts'

const row = {
  instId: 'BTC-USDT-SWAP',
  tradeId: '84834539',
  px: '42219.9',
  sz: '7.5',
  side: 'buy',
  ts: '1790000000001',
}
const { ts, ...untimed } = row
const withSourceFirst = { ...untimed, source: '0', ts }
const arg = { channel: 'trades-all', instId: 'BTC-USDT-SWAP' }
const frame = (...data: unknown[]): string => JSON.stringify({ arg, data })
const expected = {
  symbol: 'BTC-USDT-SWAP',
  id: 84834539,
  count: 1,
  sequence: null,
  price: '42219.9',
  size: '7.5',
  taker: 'buy',
  time: 1790000000001000,
}

/** The same message with its fields in the opposite order. */
function reversed(message: object): object {
  return Object.fromEntries(Object.entries(message).toReversed())
}

describe('OKX trades', () => {
  it.each([
    ['as recorded', frame(row), expected],
    ['with a source before the time', frame(withSourceFirst), expected],
    ['with a source behind it', frame({ ...row, source: '1' }), expected],
    ['with a sequence', frame({ ...row, source: '0', seqId: 79136501020 }), { ...expected, sequence: 79136501020 }],
    ['in another field order', frame(reversed(row)), expected],
    ['sold by the taker', frame({ ...row, side: 'sell' }), { ...expected, taker: 'sell' }],
    ['of the merged channel, where one fill is one record', frame({ ...row, count: '1', source: '0' }), expected],
  ])('are read %s', (_, text, trade) => {
    expect(okx.parse(text)).toEqual([{ kind: 'trade', trade }])
  })

  it('keep the size in contracts: the instrument makes it coins', () => {
    expect(okx.listing.seed.find(({ symbol }) => symbol === 'PEPE-USDT-SWAP')).toMatchObject({
      base: 'PEPE',
      sizeFactor: 10_000_000,
      priceFactor: 1,
    })
  })

  it('merged from several fills are refused: their ids are not the pager’s', () => {
    const merged = JSON.stringify({ arg: { ...arg, channel: 'trades' }, data: [{ ...row, count: '5' }, row] })
    expect(okx.parse(merged)).toMatchObject([{ kind: 'refused', reason: 'merged' }, { kind: 'trade' }])
  })

  it.each([
    ['an id beyond 2^53', { tradeId: '9007199254740993' }],
    ['a price of zero', { px: '0' }],
    ['a count beyond 2^53', { count: '9007199254740993' }],
  ])('merged and with %s are bad by pattern and by JSON', (_, change) => {
    const bad = { ...row, count: '3', ...change }
    const refused = [{ kind: 'refused', reason: 'bad-field' }]
    expect([okx.parse(frame(bad)), okx.parse(frame(reversed(bad)))]).toEqual([refused, refused])
  })

  it.each([
    ['an id as number', { tradeId: 84834539 }],
    ['an id beyond 2^53', { tradeId: '9007199254740993' }],
    ['a side in capital letters', { side: 'Buy' }],
    ['a price of zero', { px: '0' }],
    ['a size missing', { sz: undefined }],
    ['a time as number', { ts: 1790000000001 }],
    ['a time in seconds', { ts: '1790000000' }],
    ['a count that is none', { count: 'x' }],
  ])('with %s are refused', (_, change) => {
    expect(okx.parse(frame({ ...row, ...change }))).toEqual([{ kind: 'refused', reason: 'bad-field' }])
  })
})

describe('other OKX frames', () => {
  it.each([
    ['pong', { kind: 'pong' }],
    [
      '{"id":"7","event":"subscribe","arg":{"channel":"trades-all","instId":"BTC-USDT-SWAP"},"connId":"a"}',
      { kind: 'subscribed', symbols: ['BTC-USDT-SWAP'], id: 7 },
    ],
    [
      '{"event":"unsubscribe","arg":{"channel":"trades-all","instId":"BTC-USDT-SWAP"},"connId":"a"}',
      { kind: 'unsubscribed', symbols: ['BTC-USDT-SWAP'], id: null },
    ],
    [
      '{"id":"7","event":"error","code":"60018","msg":"Wrong URL or channel:trades-all,instId:NOT-USDT-SWAP doesn\'t exist."}',
      {
        kind: 'rejected',
        symbols: ['NOT-USDT-SWAP'],
        id: 7,
        message: "60018 Wrong URL or channel:trades-all,instId:NOT-USDT-SWAP doesn't exist.",
      },
    ],
    [
      '{"event":"error","code":"60012","msg":"Invalid request"}',
      { kind: 'rejected', symbols: null, id: null, message: '60012 Invalid request' },
    ],
    [
      '{"event":"notice","code":"64008","msg":"The connection will soon be closed.","connId":"a"}',
      { kind: 'closing', message: '64008 The connection will soon be closed.' },
    ],
    ['{"event":"notice","code":"1"}', { kind: 'refused', reason: 'unknown-event' }],
    ['{"event":"subscribe","arg":{"channel":"x"}}', { kind: 'refused', reason: 'unknown-event' }],
    ['{"arg":{"channel":"tickers"},"data":[]}', { kind: 'refused', reason: 'unknown-event' }],
    ['{"arg":{"channel":"trades-all"},"data":7}', { kind: 'refused', reason: 'bad-field' }],
    ['ping', { kind: 'refused', reason: 'not-json' }],
    ['null', { kind: 'refused', reason: 'not-an-object' }],
  ])('%s is understood', (text, event) => {
    expect(okx.parse(text)).toEqual([event])
  })

  it('that count connections say nothing', () => {
    expect(okx.parse('{"event":"channel-conn-count","channel":"trades-all","connCount":"1"}')).toEqual([])
  })

  it('ask for all symbols in one request', () => {
    expect(
      okx.request('subscribe', ['BTC-USDT-SWAP', 'ETH-USDT-SWAP'], 7).map((text): unknown => JSON.parse(text)),
    ).toEqual([
      {
        id: '7',
        op: 'subscribe',
        args: [
          { channel: 'trades-all', instId: 'BTC-USDT-SWAP' },
          { channel: 'trades-all', instId: 'ETH-USDT-SWAP' },
        ],
      },
    ])
    expect(okx.request('unsubscribe', [], 8)).toEqual([])
  })
})

describe('OKX over REST', () => {
  it('pages backwards from just above the last missing id', () => {
    expect(okx.backfill.page('BTC-USDT-SWAP', 100, 199, 0).path).toBe(
      '/api/v5/market/history-trades?instId=BTC-USDT-SWAP&type=1&after=200&limit=100',
    )
  })

  it('gives the trade that the stream gave, and refuses another symbol', () => {
    const body = {
      code: '0',
      msg: '',
      data: [
        { ...row, source: '0' },
        { ...row, instId: 'ETH-USDT-SWAP' },
      ],
    }
    expect(okx.backfill.parse('BTC-USDT-SWAP', body)).toEqual({
      kind: 'rows',
      rows: [expected, { refused: 'bad-field' }],
    })
  })

  it.each([
    [{ code: '50011', msg: 'Too Many Requests', data: [] }, { kind: 'limited' }],
    [
      { code: '50001', msg: 'Service temporarily unavailable. Try again later', data: [] },
      { kind: 'failed', message: '50001 Service temporarily unavailable. Try again later' },
    ],
    [
      { code: '50004', msg: 'API endpoint request timeout', data: [] },
      { kind: 'failed', message: '50004 API endpoint request timeout' },
    ],
    [
      { code: '50026', msg: 'System error. Try again later', data: [] },
      { kind: 'failed', message: '50026 System error. Try again later' },
    ],
    [
      { code: '51001', msg: 'no instrument', data: [] },
      { kind: 'error', code: '51001', message: 'no instrument' },
    ],
    [[], { kind: 'error', code: 'bad-body', message: 'data expected' }],
  ])('understands the refusal %o', (body, answer) => {
    expect(okx.backfill.parse('BTC-USDT-SWAP', body)).toEqual(answer)
  })

  it('lists live linear USDT swaps of coins with their contract size', () => {
    const btc = {
      instType: 'SWAP',
      instId: 'BTC-USDT-SWAP',
      ctType: 'linear',
      ctVal: '0.01',
      ctMult: '1',
      ctValCcy: 'BTC',
      settleCcy: 'USDT',
      baseCcy: '',
      state: 'live',
      tickSz: '0.1',
      instCategory: '1',
    }
    const data = [
      btc,
      { ...btc, instId: 'A-USDT-SWAP', ctValCcy: 'A', ctVal: '0.1', ctMult: '3', instCategory: undefined },
      { ...btc, instId: 'B-USDT-SWAP', ctValCcy: 'B', state: 'suspend' },
      { ...btc, instId: 'BTC-USD-SWAP', ctType: 'inverse', settleCcy: 'BTC', ctValCcy: 'USD' },
      { ...btc, instId: 'BTC-USDC-SWAP', settleCcy: 'USDC' },
      { ...btc, instId: 'TSLA-USDT-SWAP', instCategory: '3' },
      { ...btc, instId: 'C-USDT-SWAP', ctVal: '0' },
    ]
    expect(okx.listing.parse({ code: '0', data })).toMatchObject({
      rows: [
        { symbol: 'BTC-USDT-SWAP', base: 'BTC', sizeFactor: 0.01, priceFactor: 1, tick: 0.1, live: true },
        { symbol: 'A-USDT-SWAP', sizeFactor: 0.3 },
        { symbol: 'B-USDT-SWAP', live: false },
      ],
    })
  })

  it('prices the whole market in one call', () => {
    const data = [
      { instId: 'BTC-USDT-SWAP', last: '42219.9' },
      { instId: 'X', last: '' },
    ]
    expect(okx.listing.prices?.parse({ code: '0', data })).toEqual({
      kind: 'rows',
      rows: [{ symbol: 'BTC-USDT-SWAP', price: 42219.9 }],
    })
  })
})
