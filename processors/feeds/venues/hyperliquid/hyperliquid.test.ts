import { describe, expect, it } from 'vitest'
import { fromStream, normaliser } from '../../trades/stream.ts'
import { resolveInstruments } from '../instruments.ts'
import { trades } from './trades.ts'

const row = {
  coin: 'BTC',
  side: 'A',
  px: '104320.0',
  sz: '0.01500',
  hash: '0x0',
  time: 1769916002000,
  tid: 1125899906842623,
  users: ['0xbuyer', '0xseller'],
}
const trade = {
  symbol: 'BTC',
  id: 1125899906842623,
  count: 1,
  sequence: null,
  price: '104320.0',
  size: '0.01500',
  taker: 'sell',
  time: 1769916002000000,
}
const frame = (data: unknown): string => JSON.stringify({ channel: 'trades', data })

describe('Hyperliquid trades', () => {
  it('are sold by A and bought by B', () => {
    expect(trades.parse(frame([row, { ...row, side: 'B' }]))).toEqual([
      { kind: 'trade', trade },
      { kind: 'trade', trade: { ...trade, taker: 'buy' } },
    ])
  })

  it('without an id get one that follows from what they are', () => {
    const idOf = (change: object): unknown => {
      const [event] = trades.parse(frame([{ ...row, tid: 0, ...change }]))
      return event?.kind === 'trade' ? event.trade.id : event
    }
    const ids = [{}, { px: '1' }, { sz: '1' }, { side: 'B' }, { time: row.time + 1 }].map(idOf)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every((id) => Number.isSafeInteger(id) && Number(id) > 0)).toBe(true)
    expect(idOf({})).toBe(ids[0])
  })

  it.each([{ side: 'buy' }, { px: '0' }, { sz: 1 }, { time: '7' }, { tid: -1 }, { tid: 2 ** 60 }, { coin: '' }])(
    'with %o are refused alone',
    (change) => {
      expect(trades.parse(frame([{ ...row, ...change }, row]))).toEqual([
        { kind: 'refused', reason: 'bad-field' },
        { kind: 'trade', trade },
      ])
    },
  )

  it('are asked for market by market, and by POST for the newest', () => {
    expect(trades.request('subscribe', ['BTC', 'kPEPE'], 7)).toEqual([
      '{"method":"subscribe","subscription":{"type":"trades","coin":"BTC"}}',
      '{"method":"subscribe","subscription":{"type":"trades","coin":"kPEPE"}}',
    ])
    expect(trades.backfill.page('BTC', 0, 0, 0)).toEqual({
      path: '/info',
      cost: 21,
      body: { type: 'recentTrades', coin: 'BTC' },
    })
    expect(trades.backfill.parse('BTC', [row, { ...row, coin: 'ETH' }])).toEqual({
      kind: 'rows',
      rows: [trade, { refused: 'bad-field' }],
    })
    expect(trades.backfill.parse('BTC', null)).toMatchObject({ kind: 'error', code: 'bad-body' })
  })

  it('of a market in thousands are scaled exactly', () => {
    const universe = [{ name: 'kPEPE', szDecimals: 0 }, { name: 'BTC' }, { name: 'OLD', isDelisted: true }]
    const listed = trades.listing.parse({ universe: [...universe, { name: 'xyz:TSLA' }, 7] })
    const rows = listed.kind === 'rows' ? listed.rows : []
    expect(rows.map(({ symbol, base, live }) => [symbol, base, live])).toEqual([
      ['kPEPE', 'PEPE', true],
      ['BTC', 'BTC', true],
      ['OLD', 'OLD', false],
    ])
    const markets = [{ venue: 'hyperliquid', market: 'perp', source: 'venue', rows, prices: [] }] as const
    const [pepe] = resolveInstruments(markets, new Map(), 0).instruments
    if (pepe === undefined) throw new Error('not listed')
    const said = { ...trade, taker: 'sell', price: '0.0094', size: '0.7' } as const
    expect(normaliser(pepe)(said, said.time, fromStream)).toMatchObject({ asset: 'pepe', price: 0.0000094, size: 700 })
    expect(trades.listing.prices?.parse({ BTC: '104320.5', '@1': '2', kPEPE: '0.0094' })).toEqual({
      kind: 'rows',
      rows: [
        { symbol: 'BTC', price: 104320.5 },
        { symbol: 'kPEPE', price: 0.0094 },
      ],
    })
  })
})

describe('other Hyperliquid frames', () => {
  const subscription = { type: 'trades', coin: 'BTC' }

  it.each([
    [
      { channel: 'subscriptionResponse', data: { method: 'subscribe', subscription } },
      [{ kind: 'subscribed', symbols: ['BTC'], id: null }],
    ],
    [
      { channel: 'subscriptionResponse', data: { method: 'unsubscribe', subscription } },
      [{ kind: 'unsubscribed', symbols: ['BTC'], id: null }],
    ],
    [
      { channel: 'error', data: 'Invalid subscription {"type":"trades","coin":"FOO"}' },
      [
        {
          kind: 'rejected',
          symbols: ['FOO'],
          id: null,
          message: 'Invalid subscription {"type":"trades","coin":"FOO"}',
        },
      ],
    ],
    [{ channel: 'pong' }, [{ kind: 'pong' }]],
    [{ channel: 'l2Book', data: {} }, [{ kind: 'refused', reason: 'unknown-event' }]],
    [{ channel: 'trades', data: {} }, [{ kind: 'refused', reason: 'unknown-event' }]],
  ])('%o are understood', (message, events) => {
    expect(trades.parse(JSON.stringify(message))).toEqual(events)
  })
})
