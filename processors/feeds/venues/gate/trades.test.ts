import { describe, expect, it } from 'vitest'
import { normaliser, fromStream } from '../../trades/stream.ts'
import { resolveInstruments } from '../instruments.ts'
import { trades } from './trades.ts'

const row = {
  size: -108,
  id: 27753479,
  create_time: 1545136464,
  create_time_ms: 1545136464123,
  price: '96.4',
  contract: 'BTC_USDT',
}
const trade = {
  symbol: 'BTC_USDT',
  id: 27753479,
  count: 1,
  sequence: null,
  price: '96.4',
  size: '108',
  taker: 'sell',
  time: 1545136464123000,
}
const frame = (result: unknown): string =>
  JSON.stringify({ time: 1545136464, channel: 'futures.trades', event: 'update', result })

describe('Gate trades', () => {
  it('are sold where the size is negative, which may be a number or a text', () => {
    expect(trades.parse(frame([row, { ...row, size: '0.5' }]))).toEqual([
      { kind: 'trade', trade },
      { kind: 'trade', trade: { ...trade, size: '0.5', taker: 'buy' } },
    ])
  })

  it('that are internal are beside the book', () => {
    expect(
      trades.parse(
        frame([
          { ...row, is_internal: true },
          { ...row, is_internal: false },
        ]),
      ),
    ).toEqual([
      { kind: 'refused', reason: 'off-book' },
      { kind: 'trade', trade },
    ])
  })

  it.each([
    { size: 0 },
    { size: '--1' },
    { size: null },
    { price: 'x' },
    { id: '7' },
    { contract: '' },
    { create_time_ms: 15 },
    { is_internal: 1 },
  ])('with %o are refused alone', (change) => {
    expect(trades.parse(frame([{ ...row, ...change }, row]))).toEqual([
      { kind: 'refused', reason: 'bad-field' },
      { kind: 'trade', trade },
    ])
  })

  it('of REST have their time in seconds', () => {
    expect(trades.backfill.parse('BTC_USDT', [{ ...row, create_time_ms: 1545136464.123 }])).toEqual({
      kind: 'rows',
      rows: [trade],
    })
    expect(trades.backfill.parse('ETH_USDT', [row])).toEqual({ kind: 'rows', rows: [{ refused: 'bad-field' }] })
  })

  it('are scaled exactly by the contract’s size and the multiplier of its name', () => {
    const rows = [
      { name: '1000PEPE_USDT', type: 'direct', contract_type: '', quanto_multiplier: '10', status: 'trading' },
      { name: 'BTC_USDT', type: 'direct', contract_type: '', quanto_multiplier: '0.0001', status: 'trading' },
    ]
    const listed = trades.listing.parse(rows)
    const markets = [
      { venue: 'gate', market: 'perp', source: 'venue', rows: listed.kind === 'rows' ? listed.rows : [], prices: [] },
    ] as const
    const [pepe, btc] = resolveInstruments(markets, new Map(), 0).instruments
    if (pepe === undefined || btc === undefined) throw new Error('not listed')
    const said = { ...trade, taker: 'sell', price: '0.0094', size: '7' } as const
    expect(normaliser(pepe)(said, said.time, fromStream)).toMatchObject({
      asset: 'pepe',
      price: 0.0000094,
      size: 70_000,
    })
    expect(normaliser(btc)({ ...said, price: '96.4' }, said.time, fromStream)).toMatchObject({
      price: 96.4,
      size: 0.0007,
    })
  })
})

describe('other Gate frames', () => {
  const reply = { time: 1, channel: 'futures.trades', event: 'subscribe', id: 7 }

  it.each([
    [{ ...reply, error: null, result: { status: 'success' } }, [{ kind: 'subscribed', symbols: null, id: 7 }]],
    [
      { ...reply, event: 'unsubscribe', result: { status: 'success' } },
      [{ kind: 'unsubscribed', symbols: null, id: 7 }],
    ],
    [
      { ...reply, error: { code: 2, message: 'unknown contract FOO_USDT' }, result: null },
      [{ kind: 'rejected', symbols: ['FOO_USDT'], id: 7, message: 'unknown contract FOO_USDT' }],
    ],
    [{ time: 1, channel: 'futures.pong', event: '', result: null }, [{ kind: 'pong' }]],
    [{ time: 1, channel: 'futures.tickers', event: 'update' }, [{ kind: 'refused', reason: 'unknown-event' }]],
    [{ ...reply, event: 'update', result: {} }, [{ kind: 'refused', reason: 'bad-field' }]],
  ])('%o are understood', (message, events) => {
    expect(trades.parse(JSON.stringify(message))).toEqual(events)
  })
})
