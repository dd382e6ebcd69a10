import { describe, expect, it } from 'vitest'
import { judge, minutesText } from './minutes.ts'

const M = 1_700_000_040_000_000
const MINUTE = 60_000_000
const window = { from: M, to: M + 3 * MINUTE }
const instrument = 'binance:perp:BTCUSDT'
const ours = new Map([
  [M, { buy: 6, sell: 4, trades: 5 }],
  [M + MINUTE, { buy: 1, sell: 1, trades: 2 }],
])
const theirs = new Map([
  [M, { volume: 10, taker_buy: 6, trades: null }],
  [M + MINUTE, { volume: 2.5, taker_buy: null, trades: null }],
])

describe('minutes beside candles', () => {
  it('are each compared, those without trades too, and told where they differ', () => {
    const report = judge(instrument, window, ours, theirs, [])
    expect(report).toMatchObject({
      compared: 3,
      explained: 0,
      unexplained: [
        { instrument, minute: M + MINUTE, comparison: { volume_difference: -0.2, delta_difference: null } },
      ],
    })
    expect(minutesText(report).split('\n')).toEqual([
      "Minutes beside the venues' candles: 3 compared, 1 different, 0 of these explained by a gap.",
      '2023-11-14T22:15:00.000Z  binance:perp:BTCUSDT  ours 2, theirs 2.5 (-20.0 %)',
      'CVD by candles beside CVD by trades: binance, 1 minutes, mean 0, largest 0 of the volume',
    ])
  })

  it('say how far the two methods of CVD are from each other, where the candle tells and no gap is', () => {
    const told = new Map([
      [M, { volume: 10, taker_buy: 7, trades: null }],
      [M + MINUTE, { volume: 2, taker_buy: 1, trades: null }],
    ])
    expect(judge(instrument, window, ours, told, []).methods).toEqual([
      { venue: 'binance', minutes: 2, sum: 0.2, largest: 0.2 },
    ])
    const gap = { from: M, to: M + 1 }
    expect(judge(instrument, window, ours, told, [gap]).methods).toEqual([
      { venue: 'binance', minutes: 1, sum: 0, largest: 0 },
    ])
  })

  it('are not explained by a gap where ours is more than the candle', () => {
    const more = new Map([[M, { buy: 7, sell: 4, trades: 6 }]])
    const report = judge(instrument, { from: M, to: M + MINUTE }, more, theirs, [{ from: M, to: M + 1 }])
    expect([report.explained, report.unexplained.length]).toEqual([0, 1])
  })

  it.each([
    ['ends in it', { from: M, to: M + MINUTE }, 1],
    ['ends before it', { from: M, to: M + MINUTE - 1 }, 0],
    ['begins in it', { from: M + 2 * MINUTE - 1, to: M + 3 * MINUTE }, 1],
    ['begins behind it', { from: M + 2 * MINUTE, to: M + 3 * MINUTE }, 0],
  ])('a gap that %s explains a difference or not', (_what, gap, explained) => {
    const report = judge(instrument, window, ours, theirs, [gap])
    expect([report.explained, report.unexplained.length]).toEqual([explained, 1 - explained])
  })
})
