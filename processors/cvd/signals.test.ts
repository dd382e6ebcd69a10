import { describe, expect, it } from 'vitest'
import type { Message } from '../../schemas/records.ts'
import { CvdTestDriver, gap, logGap, longAgo, mark, SECOND, T0, trade } from './testing/records.ts'

const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const OKX = { instrument: 'okx:perp:BTC-USDT-SWAP' }
const ETH = { asset: 'eth', instrument: 'binance:perp:ETHUSDT' }

/** Since before every period. */
const fedLongAgo = (): CvdTestDriver => new CvdTestDriver().batch(longAgo(), longAgo(OKX), longAgo(ETH))

/** Buys and sells of the bucket at T0, then a mark that closes it: what 1h has become. */
function classAfter(buy: number, sell: number): string | undefined {
  const fed = fedLongAgo().batch(
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
    const fed = fedLongAgo().batch(trade({ size: 3 }), trade({ first_id: 2, taker: 'sell' }), mark(T0 + 12 * SECOND))
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
    const fed = fedLongAgo().batch(trade(), trade({ ...OKX, taker: 'sell' }), trade(ETH), mark(T0 + 12 * SECOND))
    const oneHour = fed.signals.filter(({ period }) => period === '1h')
    expect(oneHour.map(({ asset, to }) => [asset, to])).toEqual([
      ['btc', 'neutral'],
      ['eth', 'strong_bullish_pressure'],
    ])
  })

  it('comes only with a change of class', () => {
    const fed = fedLongAgo().batch(trade(), mark(T0 + 12 * SECOND))
    const before = fed.signals.length
    fed.batch(trade({ first_id: 2, time: T0 + 12 * SECOND }), mark(T0 + 22 * SECOND), mark(T0 + 32 * SECOND))
    expect(fed.signals).toHaveLength(before)
  })

  it('does not look before a bucket has closed', () => {
    expect(fedLongAgo().batch(trade(), mark(T0 + 12 * SECOND - 1)).signals).toEqual([])
  })

  it.each([
    ['1h', HOUR],
    ['4h', 4 * HOUR],
    ['24h', 24 * HOUR],
    ['7d', 7 * 24 * HOUR],
  ])('of %s forgets what is older', (period, length) => {
    const fed = fedLongAgo().batch(trade(), mark(T0 + 12 * SECOND))
    const now = (): string | undefined => fed.signals.findLast((signal) => signal.period === period)?.to
    fed.batch(mark(T0 + length + 2 * SECOND))
    expect(now()).toBe('strong_bullish_pressure')
    fed.batch(mark(T0 + length + 12 * SECOND))
    expect(now()).toBe('insufficient_data')
  })

  it('is corrected by what a backfill brings for an earlier bucket', () => {
    const fed = fedLongAgo().batch(trade(), mark(T0 + MINUTE))
    fed.batch(trade({ first_id: 2, taker: 'sell', origin: 'backfill', gap_id: 2 }), mark(T0 + MINUTE + 10 * SECOND))
    expect(fed.signals.filter(({ period }) => period === '7d').map(({ to }) => to)).toEqual([
      'strong_bullish_pressure',
      'neutral',
    ])
  })

  it('counts a trade that is later than the state’s horizon', () => {
    const fed = fedLongAgo().batch(mark(T0 + 5 * HOUR), trade({ taker: 'sell' }), mark(T0 + 5 * HOUR + 10 * SECOND))
    expect(fed.signals.map(({ period, to }) => [period, to])).toEqual([
      ['24h', 'strong_bearish_pressure'],
      ['7d', 'strong_bearish_pressure'],
    ])
  })
})

describe('a period of which the log holds less than a quarter', () => {
  const now = (fed: CvdTestDriver): (string | undefined)[] =>
    ['1h', '4h', '24h', '7d'].map((name) => fed.signals.findLast(({ period }) => period === name)?.to)
  const none = undefined
  const strong = 'strong_bullish_pressure'
  const short = 'insufficient_data'
  /** Buys once a minute from T0 on, `minutes` long, and the mark that closes the last. */
  const minutes = (count: number, from = T0): Message[] => [
    ...Array.from({ length: count }, (_, at) => trade({ first_id: at + 1, time: from + at * MINUTE })),
    mark(from + count * MINUTE + 2 * SECOND),
  ]

  it.each([
    [7, [none, none, none, none]],
    [14, [none, none, none, none]],
    [15, [strong, none, none, none]],
    [59, [strong, none, none, none]],
    [60, [strong, strong, none, none]],
    [360, [strong, strong, strong, none]],
    [42 * 60, [strong, strong, strong, strong]],
  ])('has no signal: after %i minutes there are %j', (count, expected) => {
    expect(now(new CvdTestDriver().batch(...minutes(count)))).toEqual(expected)
  })

  it('is measured by the mean over the instruments', () => {
    const other = trade({ ...OKX, time: T0 + 5 * MINUTE })
    const before = new CvdTestDriver().batch(other, ...minutes(17))
    expect(now(before)).toEqual([none, none, none, none])
    expect(now(before.batch(mark(T0 + 17 * MINUTE + 32 * SECOND)))).toEqual([strong, none, none, none])
  })

  it('takes what is missing for not covered, and what was filled for covered', () => {
    const hole = { from_time: T0, to_time: T0 + 50 * MINUTE }
    const fed = new CvdTestDriver().batch(trade(), gap(hole), trade({ first_id: 9, time: T0 + 50 * MINUTE }))
    fed.batch(mark(T0 + HOUR + 2 * SECOND))
    expect(now(fed)).toEqual([none, none, none, none])
    fed.batch(gap({ ...hole, state: 'filled' }), mark(T0 + HOUR + 12 * SECOND))
    expect(now(fed)).toEqual([strong, strong, none, none])
  })

  it('takes what the log itself has lost for not covered, of every instrument', () => {
    const fed = new CvdTestDriver().batch(trade(), trade(OKX), logGap(T0, T0 + 50 * MINUTE))
    fed.batch(trade({ first_id: 9, time: T0 + 50 * MINUTE }), mark(T0 + HOUR + 2 * SECOND))
    expect(now(fed)).toEqual([none, none, none, none])
  })

  it('takes the time in which nobody was subscribed for not covered', () => {
    const ended = { instrument: 'binance:perp:BTCUSDT', asset: 'btc', state: 'ended' as const, time: T0 }
    const fed = new CvdTestDriver().batch(longAgo(), mark(T0, [ended]), ...minutes(14, T0 + 2 * HOUR))
    expect(now(fed)).toEqual([none, strong, strong, strong])
    fed.batch(mark(T0 + 2 * HOUR + 15 * MINUTE + 2 * SECOND))
    expect(now(fed)).toEqual([strong, strong, strong, strong])
  })

  it('is known after a restart', () => {
    const hole = gap({ from_time: T0, to_time: T0 + 50 * MINUTE })
    const ended = { ...OKX, asset: 'btc', state: 'ended' as const, time: T0 }
    const begin = (): CvdTestDriver =>
      new CvdTestDriver().batch(longAgo(OKX), trade(), hole, mark(T0 + MINUTE, [ended]))
    const sell = trade({ first_id: 99, taker: 'sell', size: 99, time: T0 + HOUR + 4 * MINUTE })
    const end = [...minutes(14, T0 + 50 * MINUTE).slice(0, -1), sell, mark(T0 + HOUR + 5 * MINUTE + 2 * SECOND)]
    const restarted = begin()
      .restart(new Map())
      .batch(...end)
    expect(restarted.signals).toEqual(begin().batch(...end).signals)
    expect(restarted.signals.findLast(({ period }) => period === '1h')?.to).toBe('strong_bearish_pressure')
  })

  it('has none any more, though it had one', () => {
    const fed = fedLongAgo().batch(trade(), mark(T0 + 12 * SECOND))
    fed.batch(
      gap({ from_time: T0, to_time: T0 + 55 * MINUTE }),
      gap({ ...OKX, from_time: T0, to_time: T0 + 55 * MINUTE }),
    )
    fed.batch(trade({ first_id: 2, time: T0 + 55 * MINUTE }), mark(T0 + HOUR))
    expect(fed.signals.findLast(({ period }) => period === '1h')?.to).toBe(short)
  })
})
