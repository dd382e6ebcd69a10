import { describe, expect, it } from 'vitest'
import { trades } from './trades.ts'

const row = {
  symbol: 'PEPE/USD',
  side: 'sell',
  price: 1e-7,
  qty: 12345678.90123456,
  ord_type: 'limit',
  trade_id: 103436769,
  timestamp: '2026-07-07T23:00:05.562702Z',
}
const trade = {
  symbol: 'PEPE/USD',
  id: 103436769,
  count: 1,
  sequence: null,
  price: '0.0000001',
  size: '12345678.90123456',
  taker: 'sell',
  time: Date.UTC(2026, 6, 7, 23, 0, 5) * 1000 + 562_702,
}
const frame = (data: unknown, type = 'update'): string => JSON.stringify({ channel: 'trade', type, data })

describe('Kraken trades', () => {
  it('are of the taker’s side, each by itself, and exact', () => {
    const bought = { ...row, side: 'buy', trade_id: 103436770 }
    expect(trades.parse(frame([row, bought]))).toEqual([
      { kind: 'trade', trade },
      { kind: 'trade', trade: { ...trade, taker: 'buy', id: 103436770 } },
    ])
  })

  it('of a snapshot were before the subscription: they say how far the ids are', () => {
    expect(trades.parse(frame([row], 'snapshot'))).toEqual([
      { kind: 'heartbeat', symbol: 'PEPE/USD', lastId: 103436769 },
    ])
  })

  it.each([
    { price: 0 },
    { price: 'x' },
    { qty: -1 },
    { qty: 1e21 },
    { side: 'b' },
    { trade_id: '7' },
    { timestamp: 1783465205 },
    { symbol: '' },
  ])('with %o are refused alone', (change) => {
    expect(trades.parse(frame([{ ...row, ...change }, row]))).toEqual([
      { kind: 'refused', reason: 'bad-field' },
      { kind: 'trade', trade },
    ])
  })

  it('are asked for without their snapshot', () => {
    expect(trades.request('subscribe', ['BTC/USD'], 7).map((text) => JSON.parse(text) as unknown)).toEqual([
      { method: 'subscribe', params: { channel: 'trade', snapshot: false, symbol: ['BTC/USD'] }, req_id: 7 },
    ])
  })
})

describe('Kraken’s past trades', () => {
  it('are paged by time, the nanosecond before it included, under REST’s names', () => {
    expect(trades.backfill.page('BTC/USD', 5, 9, 1_762_795_433_971_744).path).toBe(
      '/0/public/Trades?pair=XBTUSD&since=1762795433971743999&count=1000',
    )
  })

  it('are rows under the pair’s own name', () => {
    const rows = [
      ['0.0000001', '12345678.90123456', 1783465205.562702, 's', 'l', '', 103436769],
      ['0.0000001', '1', 1783465205.562702, 'x', 'l', '', 103436770],
      ['0', '1', 1783465205.562702, 'b', 'l', '', 103436771],
      ['1', '1', 'now', 'b', 'l', '', 103436772],
    ]
    const refused = { refused: 'bad-field' }
    expect(
      trades.backfill.parse('PEPE/USD', { error: [], result: { PEPEUSD: rows, last: '1783465205562702000' } }),
    ).toEqual({ kind: 'rows', rows: [trade, refused, refused, refused] })
    expect(trades.backfill.parse('PEPE/USD', { error: ['EAPI:Rate limit exceeded'] })).toEqual({ kind: 'limited' })
  })
})
