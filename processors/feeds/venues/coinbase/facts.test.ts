import { describe, expect, it } from 'vitest'
import type { FactRow, FrameEvent } from '../events.ts'
import type { Poll, RestAnswer } from '../venue.ts'
import { coinbase } from './venue.ts'

const now = Date.UTC(2026, 10, 20, 10, 30, 20)

function parse(message: unknown): FrameEvent[] {
  return coinbase.streams.flatMap((stream) => stream.parse(JSON.stringify(message)))
}

function poll(name: string): Poll {
  const found = coinbase.polls.find((one) => one.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

function rows(answer: RestAnswer<FactRow> | undefined): readonly FactRow[] {
  return answer?.kind === 'rows' ? answer.rows : []
}

describe('Coinbase tickers', () => {
  const message = {
    type: 'ticker',
    sequence: 1,
    product_id: 'USDT-USD',
    price: '1.0002',
    open_24h: '1',
    volume_24h: '5000.1',
    best_bid: '1.0001',
    best_ask: '1.0003',
    time: '2026-11-20T10:30:19.122581Z',
  }

  it('have the top of the book, the last price, and a change from that of 24 hours ago', () => {
    const [event] = parse(message)
    expect(event).toMatchObject({
      fact: { kind: 'ticker', symbol: 'USDT-USD', bid: '1.0001', ask: '1.0003', last: '1.0002', volume24h: '5000.1' },
    })
    expect(event).toMatchObject({
      fact: { change24h: expect.closeTo(0.02, 10), time: (now - 1_000) * 1_000 + 122_581 },
    })
  })

  it.each([{ price: '' }, { time: 'today' }, { product_id: '' }, { best_bid: 'x' }])(
    'with %o are refused',
    (change) => {
      expect(parse({ ...message, ...change })).toEqual([{ kind: 'refused', reason: 'bad-field' }])
    },
  )

  it('are subscribed with heartbeats, which show that a quiet product lives', () => {
    const [text = ''] = coinbase.streams.flatMap((stream) => stream.request('subscribe', ['BTC-USD'], 1))
    expect(JSON.parse(text)).toEqual({
      type: 'subscribe',
      channels: [
        { name: 'ticker', product_ids: ['BTC-USD'] },
        { name: 'heartbeat', product_ids: ['BTC-USD'] },
      ],
    })
    const beat = { type: 'heartbeat', sequence: 90, last_trade_id: 20, product_id: 'BTC-USD', time: message.time }
    expect(parse(beat)).toEqual([{ kind: 'heartbeat', symbol: 'BTC-USD', lastId: 20 }])
  })

  it('are subscribed where the venue lists them under their channel', () => {
    const channels = [
      { name: 'heartbeat', product_ids: ['ETH-USD'] },
      { name: 'ticker', product_ids: ['BTC-USD'] },
    ]
    expect(parse({ type: 'subscriptions', channels })).toEqual([
      { kind: 'subscribed', symbols: ['BTC-USD'], id: null, whole: true },
    ])
  })

  it.each([
    [
      { type: 'match', trade_id: 1 },
      { kind: 'refused', reason: 'unknown-event' },
    ],
    [
      { type: 'error', message: 'Failed to subscribe', reason: 'NOT-USD is not a valid product' },
      { kind: 'rejected', symbols: ['NOT-USD'], id: null },
    ],
    [7, { kind: 'refused', reason: 'not-an-object' }],
  ])('are told from %o', (other, event) => {
    expect(parse(other)).toMatchObject([event])
  })
})

describe('Coinbase’s whole market', () => {
  const product = {
    product_id: 'BTC-USD',
    quote_currency_id: 'USD',
    price: '65086.18',
    price_percentage_change_24h: '-0.096',
    volume_24h: '2867.5',
  }

  it('is last prices in dollars, of no time, beside which no old book may stand', () => {
    const products = [product, { ...product, product_id: 'BTC-USDC', quote_currency_id: 'USDC' }]
    expect(rows(poll('spot-tickers').parse('SPOT', { products }, now))).toEqual([
      {
        kind: 'ticker',
        symbol: 'BTC-USD',
        bid: null,
        ask: null,
        last: '65086.18',
        change24h: -0.096,
        volume24h: '2867.5',
        time: null,
      },
    ])
  })

  it('is refused row by row', () => {
    const products = [{ ...product, price: '' }, product, 7]
    expect(rows(poll('spot-tickers').parse('SPOT', { products }, now))).toMatchObject([
      { refused: 'bad-field' },
      { kind: 'ticker' },
      { refused: 'bad-field' },
    ])
  })

  it('is asked for on the host that has it', () => {
    expect(poll('spot-tickers').call('SPOT', now)).toMatchObject({ base: 'https://api.coinbase.com' })
  })
})

describe('Coinbase candles', () => {
  const second = now / 1_000

  it('are read with low before high, oldest first, closed minutes only', () => {
    const body = [
      [second, 1, 1, 1, 1, 1],
      [second - 60, 1e-7, 4, 2, 3.5, 0.5],
      [second - 120, 2, 2, 2, 2, 7],
      [second - 180, '2', null, 2, 2, 7],
    ]
    expect(rows(poll('candles').parse('BTC-USD', body, now))).toMatchObject([
      { refused: 'bad-field' },
      { minute: (now - 120_000) * 1_000 },
      {
        kind: 'candle',
        symbol: 'BTC-USD',
        minute: (now - 60_000) * 1_000,
        open: '2',
        high: '4',
        low: '0.0000001',
        close: '3.5',
        volume: '0.5',
        takerBuy: null,
        trades: null,
      },
    ])
  })

  it('are asked for of the last four minutes that are over', () => {
    expect(poll('candles').call('BTC-USD', now).path).toBe(
      '/products/BTC-USD/candles?granularity=60&start=2026-11-20T10:26:00.000Z&end=2026-11-20T10:29:59.999Z',
    )
  })

  it.each([
    [{ message: 'Public rate limit exceeded' }, { kind: 'limited' }],
    [{ message: 'NotFound' }, { kind: 'error', code: 'NotFound' }],
    [null, { kind: 'error', code: 'bad-body' }],
  ])('are told from the refusal %o', (body, answer) => {
    for (const name of ['candles', 'spot-tickers']) expect(poll(name).parse('BTC-USD', body, now)).toMatchObject(answer)
  })
})
