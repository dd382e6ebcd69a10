import { describe, expect, it } from 'vitest'
import type { FactRow } from '../events.ts'
import type { DataStream, Poll, RestAnswer } from '../venue.ts'
import { halved } from './facts.ts'
import { bybit } from './venue.ts'

/** 2026-11-20T10:30:20Z: the last settlement was at 8:00. */
const now = Date.UTC(2026, 10, 20, 10, 30, 20)
const at = now * 1_000

function stream(name: string): DataStream {
  const found = bybit.streams.find((one) => one.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

function poll(name: string): Poll {
  const found = bybit.polls.find((one) => one.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

function body(list: readonly unknown[], more: object = {}): unknown {
  return { retCode: 0, retMsg: 'OK', result: { symbol: 'BTCUSDT', list, ...more }, time: now }
}

function rows(answer: RestAnswer<FactRow>): readonly FactRow[] {
  return answer.kind === 'rows' ? answer.rows : []
}

const message = (topic: string, data: unknown): string =>
  JSON.stringify({ topic: `${topic}.BTCUSDT`, type: 'snapshot', ts: now, data })

describe('Bybit spot tickers', () => {
  const data = {
    symbol: 'BTCUSDT',
    lastPrice: '65140.5',
    volume24h: '2953.8',
    turnover24h: '191907024',
    price24hPcnt: '-0.0179',
  }
  const ticker = {
    kind: 'ticker',
    symbol: 'BTCUSDT',
    last: '65140.5',
    change24h: -1.79,
    volume24h: '2953.8',
    quoteVolume24h: '191907024',
    time: at,
  }

  it('are of the stream the last price without a book, the change in percent', () => {
    expect(stream('spot-tickers').parse(message('tickers', data))).toEqual([{ kind: 'fact', fact: ticker }])
  })

  it('are of the call the same, whatever book it shows', () => {
    const row = { ...data, bid1Price: '65140', ask1Price: '65141' }
    expect(rows(poll('spot-tickers').parse('spot', body([row]), now))).toEqual([ticker])
  })

  it.each([{ lastPrice: '' }, { lastPrice: '0' }, { price24hPcnt: 'x' }, { volume24h: '-1' }, { symbol: 7 }])(
    'with %o are refused',
    (change) => {
      expect(stream('spot-tickers').parse(message('tickers', { ...data, ...change }))).toEqual([
        { kind: 'refused', reason: 'bad-field' },
      ])
    },
  )

  it('are asked for ten in a request, all with its number', () => {
    const symbols = Array.from({ length: 23 }, (_, n) => `A${n}USDT`)
    const requests = stream('spot-tickers').request('subscribe', symbols, 7)
    const args = requests.map((text): unknown => JSON.parse(text))
    expect(args).toMatchObject([{ req_id: '7', op: 'subscribe' }, { req_id: '7' }, { req_id: '7' }])
    expect(requests.map((text) => text.match(/tickers\./g)?.length)).toEqual([10, 10, 3])
  })
})

describe('Bybit derivative tickers', () => {
  const parse = (data: unknown): unknown => stream('tickers').parse(message('tickers', data))
  const fact = (groups: object): unknown => [
    { kind: 'fact', fact: { kind: 'derivative', symbol: 'BTCUSDT', ...groups } },
  ]

  it.each([
    [{ fundingRate: '-0.005' }, { rate: { rate: '-0.005', next: null, time: at } }],
    [
      { fundingRate: '0.0001', nextFundingTime: '1795190400000' },
      { rate: { rate: '0.0001', next: 1_795_190_400_000_000, time: at } },
    ],
    [{ markPrice: '65117.4' }, { mark: { mark: '65117.4', index: null, time: at } }],
    [{ indexPrice: '65137.7' }, { mark: { mark: null, index: '65137.7', time: at } }],
    [{ openInterest: '59891.73' }, { openInterest: { size: '29945.865', time: at } }],
    [{ openInterest: '8', singleOpenInterest: '4' }, { openInterest: { size: '4', time: at } }],
  ])('of a delta %o say that and no more', (delta, groups) => {
    expect(parse({ symbol: 'BTCUSDT', bid1Price: '1', ...delta })).toEqual(fact(groups))
  })

  it('of a delta without anything of ours say nothing', () => {
    expect(parse({ symbol: 'BTCUSDT', bid1Price: '1', bid1Size: '2' })).toEqual([])
  })

  it('with one bad group are refused whole', () => {
    expect(parse({ symbol: 'BTCUSDT', markPrice: '1', fundingRate: 'x' })).toEqual([
      { kind: 'refused', reason: 'bad-field' },
    ])
  })

  it('leave futures that end out of the whole market', () => {
    const list = [
      { symbol: 'BTCUSDT', markPrice: '1', deliveryTime: '0' },
      { symbol: 'BTC-29SEP23', markPrice: '1', deliveryTime: '1695974400000' },
    ]
    expect(rows(poll('tickers').parse('linear', body(list), now))).toMatchObject([{ symbol: 'BTCUSDT' }])
  })

  it.each([
    ['59891.732', '29945.8660'],
    ['1', '0.5'],
    ['0', '0.0'],
    ['0.00000001', '0.000000005'],
    ['999999999999999.9', '499999999999999.95'],
  ])('halve %s exactly', (both, one) => {
    expect(halved(both)).toBe(one)
  })
})

describe('Bybit liquidations', () => {
  const row = { T: now - 400, s: 'BTCUSDT', S: 'Buy', v: '0.5', p: '64000.1' }

  it('close a long where the side is Buy, each with the message’s time and its place as identity', () => {
    const events = stream('liquidations').parse(message('allLiquidation', [row, { ...row, S: 'Sell' }]))
    const said = { kind: 'liquidation', size: '0.5', price: '64000.1', priceKind: 'bankruptcy', completeness: 'all' }
    expect(events).toMatchObject([
      { fact: { ...said, side: 'long', id: `${now}-0`, time: at - 400_000 } },
      { fact: { ...said, side: 'short', id: `${now}-1` } },
    ])
  })

  it('are judged one by one, and a place stays the same', () => {
    expect(stream('liquidations').parse(message('allLiquidation', [{ ...row, v: '0' }, row]))).toMatchObject([
      { kind: 'refused', reason: 'bad-field' },
      { fact: { id: `${now}-1` } },
    ])
  })

  it('that do not come are no silence: the answered ping is a sign of life', () => {
    const pong = '{"success":true,"ret_msg":"pong","conn_id":"a","req_id":"","op":"ping"}'
    expect(stream('liquidations').parse(pong)).toMatchObject([{ kind: 'pong' }, { kind: 'heartbeat' }])
  })

  it('are subscribed within the characters of a connection', () => {
    for (const one of bybit.streams) {
      const symbols = Array.from({ length: one.socket.maxSymbolsPerConnection }, (_, n) => `10000000EXAMPLE${n}`)
      const args = one.request('subscribe', symbols, 1).flatMap((text) => /"args":(.*)\}$/.exec(text)?.[1] ?? [])
      expect(args.join('').length).toBeLessThanOrEqual(21_000)
    }
  })
})
