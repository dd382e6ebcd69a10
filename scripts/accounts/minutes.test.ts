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
    ])
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
