import { describe, expect, it } from 'vitest'
import { Fed, mark, SECOND, T0, trade } from './given.ts'

const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Buys and sells of the bucket at T0, then a mark that closes it: what 1h has become. */
function classAfter(buy: number, sell: number): string | undefined {
  const fed = new Fed().batch(
    trade({ first_id: 1, size: buy }),
    trade({ first_id: 2, size: sell, taker: 'sell' }),
    mark(T0 + 12 * SECOND),
  )
  return fed.signals.find(({ period }) => period === '1h')?.to
}

describe('a signal', () => {
  it.each([
    [57.5, 42.5, 'bullish_pressure'],
    [57.50001, 42.49999, 'strong_bullish_pressure'],
    [52.5, 47.5, 'neutral'],
    [52.50001, 47.49999, 'bullish_pressure'],
    [47.5, 52.5, 'neutral'],
    [47.49999, 52.50001, 'bearish_pressure'],
    [42.5, 57.5, 'bearish_pressure'],
    [42.49999, 57.50001, 'strong_bearish_pressure'],
  ])('of %d bought and %d sold is %s', (buy, sell, expected) => {
    expect(classAfter(buy, sell)).toBe(expected)
  })

  it('tells what it follows from', () => {
    const fed = new Fed().batch(trade({ size: 3 }), trade({ first_id: 2, taker: 'sell' }), mark(T0 + 12 * SECOND))
    expect(fed.signals[0]).toMatchObject({
      asset: 'btc',
      kind: 'cvd',
      period: '1h',
      from: 'insufficient_data',
      to: 'strong_bullish_pressure',
      value: 0.5,
      evidence: { buy: 3, sell: 1 },
      time: T0 + 10 * SECOND,
    })
    expect(fed.signals.map(({ period }) => period)).toEqual(['1h', '4h', '24h', '7d'])
  })

  it('sums all instruments of the asset and no other’s', () => {
    const fed = new Fed().batch(
      trade(),
      trade({ instrument: 'okx:perp:BTC-USDT-SWAP', taker: 'sell' }),
      trade({ asset: 'eth', instrument: 'binance:perp:ETHUSDT' }),
      mark(T0 + 12 * SECOND),
    )
    const oneHour = fed.signals.filter(({ period }) => period === '1h')
    expect(oneHour.map(({ asset, to }) => [asset, to])).toEqual([
      ['btc', 'neutral'],
      ['eth', 'strong_bullish_pressure'],
    ])
  })

  it('comes only with a change of class', () => {
    const fed = new Fed().batch(trade(), mark(T0 + 12 * SECOND))
    const before = fed.signals.length
    fed.batch(trade({ first_id: 2, time: T0 + 12 * SECOND }), mark(T0 + 22 * SECOND), mark(T0 + 32 * SECOND))
    expect(fed.signals).toHaveLength(before)
  })

  it('does not look before a bucket has closed', () => {
    expect(new Fed().batch(trade(), mark(T0 + 12 * SECOND - 1)).signals).toEqual([])
  })

  it.each([
    ['1h', HOUR],
    ['4h', 4 * HOUR],
    ['24h', 24 * HOUR],
    ['7d', 7 * 24 * HOUR],
  ])('of %s forgets what is older', (period, length) => {
    const fed = new Fed().batch(trade(), mark(T0 + 12 * SECOND))
    const now = (): string | undefined => fed.signals.findLast((signal) => signal.period === period)?.to
    fed.batch(mark(T0 + length + 2 * SECOND))
    expect(now()).toBe('strong_bullish_pressure')
    fed.batch(mark(T0 + length + 12 * SECOND))
    expect(now()).toBe('insufficient_data')
  })

  it('is corrected by what a backfill brings for an earlier bucket', () => {
    const fed = new Fed().batch(trade(), mark(T0 + MINUTE))
    fed.batch(trade({ first_id: 2, taker: 'sell', origin: 'backfill', gap_id: 2 }), mark(T0 + MINUTE + 10 * SECOND))
    expect(fed.signals.filter(({ period }) => period === '7d').map(({ to }) => to)).toEqual([
      'strong_bullish_pressure',
      'neutral',
    ])
  })

  it('counts a trade that is later than the state’s horizon', () => {
    const fed = new Fed().batch(mark(T0 + 5 * HOUR), trade({ taker: 'sell' }), mark(T0 + 5 * HOUR + 10 * SECOND))
    expect(fed.signals.map(({ period, to }) => [period, to])).toEqual([
      ['24h', 'strong_bearish_pressure'],
      ['7d', 'strong_bearish_pressure'],
    ])
  })
})
