import { describe, expect, it } from 'vitest'
import type { InstrumentAccount } from './log-account.ts'
import { decimalOf } from './totals.ts'
import { candleReaders, Candles } from './source-candles.ts'

const start = 1_700_000_040_000

describe('the candles of a venue', () => {
  it.each([
    [
      'binance',
      [[start, '1', '2', '0.5', '1.5', '10.5', start + 59_999, '15', 7, '4.25', '6', '0']],
      { volume: decimalOf('10.5'), buy: decimalOf('4.25') },
    ],
    [
      'bybit',
      { retCode: 0, result: { list: [[String(start), '1', '2', '0.5', '1.5', '10.5', '15']] } },
      { volume: decimalOf('10.5') },
    ],
    [
      'okx',
      { code: '0', data: [[String(start), '1', '2', '0.5', '1.5', '1050', '10.5', '15', '1']] },
      { volume: decimalOf('10.5') },
    ],
    ['coinbase', [[start / 1000, 0.5, 2, 1, 1.5, 10.5]], { volume: decimalOf('10.5') }],
  ] as const)('of %s are read in its own order of columns', (venue, body, expected) => {
    expect(candleReaders[venue]?.parse(body)).toEqual([{ startMs: start, ...expected }])
  })

  it.each(['binance', 'bybit', 'okx', 'coinbase'] as const)('of %s that are no list are an error', (venue) => {
    expect(() => candleReaders[venue]?.parse({ error: 'busy' })).toThrow('no candles in')
  })

  it('of a venue that has no reader here are told to be unread', async () => {
    const account = { asset: 'btc', sizeFactor: 1 } as InstrumentAccount
    const totals = await new Candles({}).totals(
      { from: 0, to: 60_000_000 },
      new Map([['kraken:spot:BTC/USD', account]]),
    )
    expect([...totals]).toEqual([['kraken:spot:BTC/USD', 'unread']])
  })

  it('are told by whole minutes, so a gap is widened to them', () => {
    const stretch = { from: start * 1000 + 5, to: start * 1000 + 61_000_000 }
    expect(new Candles({}).align(stretch)).toEqual({ from: start * 1000, to: (start + 120_000) * 1000 - 1 })
  })
})
