import { describe, expect, it } from 'vitest'
import type { FactRow } from '../events.ts'
import type { DataStream, Poll, RestAnswer } from '../venue.ts'
import { okx } from './venue.ts'

const symbol = 'BTC-USDT-SWAP'
/** 2026-11-20T10:30:20Z: the last settlement was at 8:00. */
const now = Date.UTC(2026, 10, 20, 10, 30, 20)
const [ts, time] = [String(now), now * 1_000]

function stream(name: string): DataStream {
  const found = okx.streams.find((one) => one.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

function poll(name: string): Poll {
  const found = okx.polls.find((one) => one.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

const body = (...data: readonly unknown[]): unknown => ({ code: '0', msg: '', data })
const message = (channel: string, ...data: readonly unknown[]): string => JSON.stringify({ arg: { channel }, data })

function rows(answer: RestAnswer<FactRow>): readonly FactRow[] {
  return answer.kind === 'rows' ? answer.rows : []
}

const spot = {
  instType: 'SPOT',
  instId: 'BTC-USDT',
  last: '100',
  askPx: '101',
  bidPx: '99',
  open24h: '80',
  volCcy24h: '5',
  vol24h: '4',
  ts,
}
const funding = {
  formulaType: 'withRate',
  fundingRate: '-0.0001',
  fundingTime: '1795190400000',
  instId: symbol,
  instType: 'SWAP',
  interestRate: '0.00005',
  maxFundingRate: '0.00375',
  minFundingRate: '-0.00375',
  nextFundingTime: '1795204800000',
  premium: '-0.0004010920207754',
  prevFundingTime: '1795176000000',
  settFundingRate: '0.00003',
  settState: 'settled',
  ts,
}

/** Stream and call of the same rows. */
const both: readonly (readonly [string, string, object, readonly object[]])[] = [
  [
    'spot-tickers',
    'tickers',
    spot,
    [
      {
        kind: 'ticker',
        symbol: 'BTC-USDT',
        bid: '99',
        ask: '101',
        last: '100',
        change24h: 25,
        volume24h: '4',
        quoteVolume24h: '5',
        time,
      },
    ],
  ],
  ['spot-tickers', 'tickers', { ...spot, bidPx: '' }, [expect.objectContaining({ bid: null, ask: '101' })]],
  ['spot-tickers', 'tickers', { ...spot, instType: 'SWAP' }, [{ refused: 'unknown-symbol' }]],
  ['spot-tickers', 'tickers', { ...spot, ts: '' }, [{ refused: 'bad-field' }]],
  [
    'mark-price',
    'mark-price',
    { instType: 'SWAP', instId: symbol, markPx: '5', ts },
    [{ kind: 'derivative', symbol, mark: { mark: '5', index: null, time } }],
  ],
  [
    'open-interest',
    'open-interest',
    { instType: 'SWAP', instId: symbol, oi: '2216113.01', oiCcy: '22161.13', ts },
    [{ kind: 'derivative', symbol, openInterest: { size: '2216113.01', time } }],
  ],
  [
    'funding-rate',
    'funding-rate',
    funding,
    [
      { kind: 'derivative', symbol, rate: { rate: '-0.0001', next: 1_795_190_400_000_000, time } },
      { kind: 'settlement', symbol, rate: '0.00003', mark: null, time: 1_795_176_000_000_000 },
    ],
  ],
  [
    'funding-rate',
    'funding-rate',
    { ...funding, settState: 'processing' },
    [expect.objectContaining({ kind: 'derivative' })],
  ],
  [
    'funding-rate',
    'funding-rate',
    { ...funding, prevFundingTime: '' },
    [expect.objectContaining({ kind: 'derivative' })],
  ],
  ['funding-rate', 'funding-rate', { ...funding, fundingRate: '' }, [{ refused: 'bad-field' }]],
  ['funding-rate', 'funding-rate', { ...funding, instType: 'FUTURES' }, []],
]

describe('OKX says', () => {
  it.each(both)('on %s (%s) of %o the same by stream and by call', (name, channel, row, facts) => {
    const events = stream(name).parse(message(channel, row))
    expect(
      events.map((event) => (event.kind === 'fact' ? event.fact : { refused: 'reason' in event && event.reason })),
    ).toEqual(facts)
    expect(rows(poll(name).parse('SWAP', body(row), now))).toEqual(facts)
  })

  it('of an index what it is of the swap of that name, and nothing of its mark', () => {
    const index = { instId: 'BTC-USDT', idxPx: '103895', ts }
    expect(rows(poll('index-price').parse('SWAP', body(index), now))).toEqual([
      { kind: 'derivative', symbol, mark: { mark: null, index: '103895', time } },
    ])
  })

  it('nothing on a channel that was not asked for', () => {
    expect(stream('mark-price').parse(message('tickers', spot))).toEqual([{ kind: 'refused', reason: 'unknown-event' }])
  })

  it('with its pong that a channel with nothing to say lives', () => {
    expect(stream('liquidations').parse('pong')).toMatchObject([{ kind: 'pong' }, { kind: 'heartbeat' }])
  })
})

describe('OKX’s terms', () => {
  const terms = (change: object): unknown => rows(poll('terms').parse('SWAP', body({ ...funding, ...change }), now))[0]

  it('are the interval between two settlements, cap, floor and interest a day', () => {
    expect(terms({})).toEqual({
      kind: 'terms',
      symbol,
      intervalHours: 4,
      cap: 0.00375,
      floor: -0.00375,
      interestDaily: 0.0003,
    })
  })

  it.each([
    [{ interestRate: '', formulaType: 'withRate' }, 0.0003],
    [{ interestRate: '', formulaType: 'noRate' }, 0],
    [{ interestRate: '0' }, 0],
    [{ interestRate: '0.0001', nextFundingTime: '1795219200000' }, 0.0003],
  ])('with %o have an interest of %f a day', (change, interestDaily) => {
    expect(terms(change)).toMatchObject({ interestDaily })
  })

  it('are not told where the interval is none', () => {
    expect(terms({ nextFundingTime: funding.fundingTime })).toEqual({ refused: 'bad-field' })
    expect(terms({ maxFundingRate: 'x' })).toEqual({ refused: 'bad-field' })
    expect(terms({ maxFundingRate: '' })).not.toHaveProperty('cap')
  })

  it('are a highest leverage out of the list of markets', () => {
    const swap = { instType: 'SWAP', instId: symbol, settleCcy: 'USDT', lever: '100' }
    const data = [swap, { ...swap, instId: 'BTC-USD-SWAP', settleCcy: 'BTC' }]
    expect(rows(poll('leverage').parse('SWAP', body(...data), now))).toEqual([
      { kind: 'terms', symbol, maxLeverage: 100 },
    ])
  })
})

describe('OKX’s liquidations', () => {
  const detail = { bkLoss: '0', bkPx: '0.0726', ccy: '', posSide: 'net', side: 'sell', sz: '2', ts }
  const liquidations = (...details: readonly unknown[]): string =>
    message('liquidation-orders', { instId: symbol, instType: 'SWAP', details })

  it('close a long where the order sells; equals are numbered, so that a repeated message changes nothing', () => {
    const text = liquidations(detail, detail, { ...detail, side: 'buy' })
    const said = { symbol, size: '2', price: '0.0726', priceKind: 'bankruptcy', completeness: 'sampled', time }
    expect(stream('liquidations').parse(text)).toMatchObject([
      { fact: { ...said, side: 'long', id: `${ts}-sell-0.0726-2-1` } },
      { fact: { ...said, side: 'long', id: `${ts}-sell-0.0726-2-2` } },
      { fact: { ...said, side: 'short', id: `${ts}-buy-0.0726-2-1` } },
    ])
    expect(stream('liquidations').parse(text)).toEqual(stream('liquidations').parse(text))
  })

  it('are judged one by one', () => {
    expect(stream('liquidations').parse(liquidations({ ...detail, sz: '0' }, detail))).toMatchObject([
      { kind: 'refused', reason: 'bad-field' },
      { kind: 'fact' },
    ])
  })

  it('are asked for once for all swaps, and that is what is acknowledged', () => {
    const liquidated = stream('liquidations')
    expect(liquidated.scope).toMatchObject({ of: 'whole', symbol: 'SWAP' })
    const [text = ''] = liquidated.request('subscribe', ['SWAP'], 7)
    const arg = { channel: 'liquidation-orders', instType: 'SWAP' }
    expect(JSON.parse(text)).toEqual({ id: '7', op: 'subscribe', args: [arg] })
    expect(liquidated.parse(JSON.stringify({ id: '7', event: 'subscribe', arg }))).toEqual([
      { kind: 'subscribed', symbols: ['SWAP'], id: 7 },
    ])
  })
})
