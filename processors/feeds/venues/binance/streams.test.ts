import { describe, expect, it } from 'vitest'
import type { FrameEvent } from '../events.ts'
import { liquidations, markPrices, spotTickers } from './streams.ts'

const mark = {
  e: 'markPriceUpdate',
  E: 1562305380000,
  s: 'BTCUSDT',
  p: '11185.87786614',
  ap: '11185.87786614',
  i: '11784.62659091',
  P: '11784.25641265',
  r: '0.00030000',
  T: 1562306400000,
}
const time = 1562305380000000
const derivative = {
  kind: 'derivative',
  symbol: 'BTCUSDT',
  mark: { mark: '11185.87786614', index: '11784.62659091', time },
  rate: { rate: '0.00030000', next: 1562306400000000, time },
}
const alive = { kind: 'heartbeat', symbol: null, lastId: null }
const badField = { kind: 'refused', reason: 'bad-field' }
const factOf = (fact: object): object => ({ kind: 'fact', fact })

function events(stream: { parse(frame: string): FrameEvent[] }, message: unknown): FrameEvent[] {
  return stream.parse(JSON.stringify(message))
}

describe('Binance mark prices', () => {
  it('are one fact per market, raw or in an envelope, however a frame holds them', () => {
    const eth = { ...mark, s: 'ETHUSDT' }
    const both = [factOf(derivative), factOf({ ...derivative, symbol: 'ETHUSDT' })]
    expect(events(markPrices, [mark, eth])).toEqual(both)
    expect(events(markPrices, { stream: '!markPrice@arr@1s', data: [mark, eth] })).toEqual(both)
    expect(events(markPrices, { stream: 'btcusdt@markPrice', data: mark })).toEqual([factOf(derivative)])
    expect(events(markPrices, mark)).toEqual([factOf(derivative)])
  })

  it('of a thousand coins keep the venue’s name and units', () => {
    const pepe = { ...mark, s: '1000PEPEUSDT', p: '0.0103', i: '0.0104', r: '-0.00012' }
    expect(events(markPrices, pepe)).toEqual([
      factOf({
        ...derivative,
        symbol: '1000PEPEUSDT',
        mark: { mark: '0.0103', index: '0.0104', time },
        rate: { ...derivative.rate, rate: '-0.00012' },
      }),
    ])
  })

  it('of the years without an index, and of markets without funding, say what they say', () => {
    expect(events(markPrices, { ...mark, i: undefined, P: undefined })).toMatchObject([
      { fact: { mark: { index: null } } },
    ])
    const { rate: _rate, ...without } = derivative
    expect(events(markPrices, { ...mark, r: '', T: 0 })).toEqual([factOf(without)])
    expect(events(markPrices, { ...mark, T: 0 })).toMatchObject([{ fact: { rate: { next: null } } }])
  })

  it('of other quotes and of dated futures are left out, but the channel lives', () => {
    expect(
      events(markPrices, [
        { ...mark, s: 'BTCUSDC' },
        { ...mark, s: 'BTCUSDT_260925', r: '', T: 0 },
      ]),
    ).toEqual([alive])
    expect(events(markPrices, [{ ...mark, s: 'BTCUSDC' }, mark])).toEqual([factOf(derivative)])
    expect(events(markPrices, [])).toEqual([alive])
  })

  it.each([
    ['no symbol', { s: undefined }],
    ['a price as number', { p: 11185.8 }],
    ['a price that is none', { p: 'NaN' }],
    ['a negative price', { i: '-1' }],
    ['neither mark nor index', { p: '0.00', i: undefined }],
    ['a rate as number', { r: 0.0003 }],
    ['a rate with an exponent', { r: '3e-4' }],
    ['a settlement as text', { T: '1562306400000' }],
    ['a settlement in seconds', { T: 1562306400 }],
    ['no time', { E: undefined }],
    ['a time in microseconds', { E: 1562305380000000 }],
  ])('with %s are refused, and their neighbours are not', (_, change) => {
    expect(events(markPrices, [{ ...mark, ...change }, mark, 5])).toEqual([
      badField,
      factOf(derivative),
      { kind: 'refused', reason: 'not-an-object' },
    ])
  })
})

describe('Binance liquidations', () => {
  const order = {
    s: 'BTCUSDT',
    S: 'SELL',
    o: 'LIMIT',
    f: 'IOC',
    q: '0.020',
    p: '9910',
    ap: '9905.5',
    X: 'FILLED',
    l: '0.004',
    z: '0.014',
    T: 1568014460893,
  }
  const message = { e: 'forceOrder', E: 1568014461900, o: order }
  const fact = {
    kind: 'liquidation',
    symbol: 'BTCUSDT',
    id: '1568014461',
    side: 'long',
    size: '0.014',
    price: '9905.5',
    priceKind: 'average_fill',
    completeness: 'sampled',
    time: 1568014460893000,
  }

  it('are what was filled, at its average price; a sell closes a long', () => {
    expect(events(liquidations, message)).toEqual([factOf(fact)])
    expect(events(liquidations, { stream: '!forceOrder@arr', data: message })).toEqual([factOf(fact)])
    expect(events(liquidations, { ...message, o: { ...order, S: 'BUY' } })).toEqual([
      factOf({ ...fact, side: 'short' }),
    ])
  })

  it('of one market and second are one, of the next second another', () => {
    const idOf = (E: number): unknown => events(liquidations, { ...message, E })
    expect(idOf(1568014461999)).toMatchObject([{ fact: { id: '1568014461' } }])
    expect(idOf(1568014462000)).toMatchObject([{ fact: { id: '1568014462' } }])
  })

  it.each([
    ['not done', { X: 'PARTIALLY_FILLED' }],
    ['new', { X: 'NEW', z: '0', ap: '0' }],
    ['of another quote', { s: 'BTCUSDC' }],
    ['of a dated future', { s: 'BTCUSDT_260925' }],
  ])('that are %s are left out, but the channel lives', (_, change) => {
    expect(events(liquidations, { ...message, o: { ...order, ...change } })).toEqual([alive])
  })

  it.each([
    ['no order', { o: undefined }],
    ['no time', { E: 0 }],
    ['an unknown side', { o: { ...order, S: 'LONG' } }],
    ['no state', { o: { ...order, X: undefined } }],
    ['nothing filled', { o: { ...order, z: '0' } }],
    ['a size as number', { o: { ...order, z: 0.014 } }],
    ['no average', { o: { ...order, ap: '' } }],
    ['no time of its own', { o: { ...order, T: null } }],
  ])('with %s are refused', (_, change) => {
    expect(events(liquidations, { ...message, ...change })).toEqual([badField])
  })
})

describe('Binance spot tickers', () => {
  const message = {
    e: '24hrTicker',
    E: 1672515782136,
    s: 'PEPEUSDT',
    p: '0.0015',
    P: '-250.00',
    c: '0.0025',
    Q: '10',
    b: '0.0024',
    B: '10',
    a: '0.0026',
    A: '100',
    v: '10000',
    q: '18',
  }
  const fact = {
    kind: 'ticker',
    symbol: 'PEPEUSDT',
    bid: '0.0024',
    ask: '0.0026',
    last: '0.0025',
    change24h: -250,
    volume24h: '10000',
    quoteVolume24h: '18',
    time: 1672515782136000,
  }

  it('tell the book’s top, the last price and the day’s figures', () => {
    expect(events(spotTickers, { stream: 'pepeusdt@ticker', data: message })).toEqual([factOf(fact)])
  })

  it('of an empty side of the book have none, and of a market without trades no volume', () => {
    expect(events(spotTickers, { ...message, b: '0.00000000', v: '0.00', q: '0' })).toEqual([
      factOf({ ...fact, bid: null, volume24h: '0.00', quoteVolume24h: '0' }),
    ])
  })

  it.each([
    ['no symbol', { s: '' }],
    ['a price as number', { c: 0.0025 }],
    ['no price at all', { c: '0.00', b: '0.00', a: '0.00' }],
    ['a bid that is none', { b: 'none' }],
    ['a change that is none', { P: 'NaN' }],
    ['a negative volume', { v: '-1' }],
    ['no time', { E: undefined }],
  ])('with %s are refused', (_, change) => {
    expect(events(spotTickers, { ...message, ...change })).toEqual([badField])
  })
})

describe('the other frames of these channels', () => {
  it.each([spotTickers, markPrices, liquidations])('are understood on $name', (stream) => {
    const parse = (frame: string): FrameEvent[] => stream.parse(frame)
    expect(parse('{"result":null,"id":14}')).toEqual([{ kind: 'subscribed', symbols: null, id: 7 }])
    expect(parse('{"result":null,"id":15}')).toEqual([{ kind: 'unsubscribed', symbols: null, id: 7 }])
    expect(parse('{"code":2,"msg":"no","id":14}')).toMatchObject([{ kind: 'rejected', id: 7 }])
    expect(parse('{"stream":"!serverShutdown","data":{"E":1}}')).toMatchObject([{ kind: 'closing' }])
    expect(parse('{"e":"serverShutdown","E":1}')).toMatchObject([{ kind: 'closing' }])
    expect(parse('{"e":"aggTrade"}')).toEqual([{ kind: 'refused', reason: 'unknown-event' }])
    expect(parse('{"stream":"x","data":5}')).toEqual([{ kind: 'refused', reason: 'not-an-object' }])
    expect(parse('5')).toEqual([{ kind: 'refused', reason: 'not-an-object' }])
    expect(parse('{"e":')).toEqual([{ kind: 'refused', reason: 'not-json' }])
  })

  it('are asked for by name: whole-market streams as they are, a pair’s in lower case', () => {
    const frames = (stream: typeof markPrices, symbol: string): unknown =>
      stream.request('subscribe', [symbol], 1).map((frame): unknown => JSON.parse(frame))
    expect(frames(markPrices, '!markPrice@arr@1s')).toEqual([
      { method: 'SUBSCRIBE', params: ['!markPrice@arr@1s'], id: 2 },
    ])
    expect(frames(liquidations, '!forceOrder@arr')).toEqual([
      { method: 'SUBSCRIBE', params: ['!forceOrder@arr'], id: 2 },
    ])
    expect(frames(spotTickers, '1000SATSUSDT')).toEqual([
      { method: 'SUBSCRIBE', params: ['1000satsusdt@ticker'], id: 2 },
    ])
    expect(spotTickers.request('unsubscribe', [], 1)).toEqual([])
  })
})
