import { describe, expect, it } from 'vitest'
import { trades } from './trades.ts'

const arg = { instType: 'USDT-FUTURES', channel: 'trade', instId: 'BTCUSDT' }
const row = { ts: '1695716760565', price: '27000.5', size: '0.001', side: 'buy', tradeId: '1098394344925597696' }
const trade = {
  symbol: 'BTCUSDT',
  id: Number(1098394344925597696n % 2n ** 52n),
  count: 1,
  sequence: null,
  price: '27000.5',
  size: '0.001',
  taker: 'buy',
  time: 1695716760565000,
}
const frame = (data: unknown, action = 'update'): string => JSON.stringify({ action, arg, data, ts: 1695716761589 })

describe('Bitget trades', () => {
  it('are of the taker’s side, under the low bits of their ids', () => {
    expect(trades.parse(frame([row, { ...row, side: 'sell' }]))).toEqual([
      { kind: 'trade', trade },
      { kind: 'trade', trade: { ...trade, taker: 'sell' } },
    ])
  })

  it('of a snapshot were before the subscription', () => {
    expect(trades.parse(frame([row], 'snapshot'))).toEqual([])
  })

  it.each([
    { ts: 1 },
    { price: '0' },
    { size: 7 },
    { side: 'B' },
    { tradeId: 'x' },
    { tradeId: 7 },
    { symbol: 'ETHUSDT' },
  ])('with %o are refused alone', (change) => {
    expect(trades.parse(frame([{ ...row, ...change }, row]))).toEqual([
      { kind: 'refused', reason: 'bad-field' },
      { kind: 'trade', trade },
    ])
  })

  it('of REST say their side with a capital and their symbol', () => {
    const body = { code: '00000', msg: 'success', requestTime: 1, data: [{ ...row, side: 'Buy', symbol: 'BTCUSDT' }] }
    expect(trades.backfill.parse('BTCUSDT', body)).toEqual({ kind: 'rows', rows: [trade] })
    expect(trades.backfill.parse('BTCUSDT', { code: '429', msg: 'Too Many Requests' })).toEqual({ kind: 'limited' })
    for (const code of ['40010', '40015', '40200'])
      expect(trades.backfill.parse('BTCUSDT', { code, msg: 'later' })).toEqual({
        kind: 'failed',
        message: `${code} later`,
      })
    expect(trades.backfill.parse('BTCUSDT', { code: '40034', msg: 'no' })).toEqual({
      kind: 'error',
      code: '40034',
      message: 'no',
    })
  })
})

describe('other Bitget frames', () => {
  it.each([
    [{ event: 'subscribe', arg }, [{ kind: 'subscribed', symbols: ['BTCUSDT'], id: null }]],
    [{ event: 'unsubscribe', arg }, [{ kind: 'unsubscribed', symbols: ['BTCUSDT'], id: null }]],
    [
      { event: 'error', arg, code: 30001, msg: 'doesn’t exist' },
      [{ kind: 'rejected', symbols: ['BTCUSDT'], id: null, message: 'doesn’t exist' }],
    ],
    [{ event: 'login' }, [{ kind: 'refused', reason: 'unknown-event' }]],
    [{ arg: { ...arg, channel: 'ticker' }, data: [] }, [{ kind: 'refused', reason: 'unknown-event' }]],
  ])('%o are understood', (message, events) => {
    expect(trades.parse(JSON.stringify(message))).toEqual(events)
    expect(trades.parse('pong')).toEqual([{ kind: 'pong' }])
  })

  it('list perpetuals of coins in USDT, a multiplied one at its multiplier', () => {
    const contract = {
      symbol: 'BTCUSDT',
      baseCoin: 'BTC',
      quoteCoin: 'USDT',
      symbolType: 'perpetual',
      symbolStatus: 'normal',
      pricePlace: '1',
      priceEndStep: '5',
      isRwa: 'NO',
    }
    const bonk = { ...contract, symbol: '1000BONKUSDT', baseCoin: '1000BONK', symbolStatus: 'maintain' }
    const rwa = { ...contract, symbol: 'TSLAUSDT', baseCoin: 'TSLA', isRwa: 'YES' }
    const data = [contract, bonk, rwa, { ...contract, symbolType: 'delivery' }, 7]
    expect(trades.listing.parse({ code: '00000', data })).toMatchObject({
      rows: [
        { symbol: 'BTCUSDT', base: 'BTC', sizeFactor: 1, tick: 0.5, live: true },
        { symbol: '1000BONKUSDT', base: 'BONK', sizeFactor: 1000, priceFactor: 1000, live: false },
      ],
    })
  })
})
