import { describe, expect, it } from 'vitest'
import type { Metric } from '../../schemas/records.ts'
import { only } from '../kernel/testing/core-test-driver.ts'
import { CvdTestDriver, mark, SECOND, T0, trade } from './testing/records.ts'

const OKX = { instrument: 'okx:perp:BTC-USDT-SWAP' }
const metrics = ({ emitted }: CvdTestDriver): Metric[] => only(emitted, 'metric')
const told = (metric: Metric | undefined, figure: string): readonly (readonly [string | null, number])[] =>
  (metric?.figures ?? []).filter((one) => one.figure === figure).map(({ exchange, value }) => [exchange, value])

describe('a metric', () => {
  it('has each venue’s volume of the bucket that closed, and what was counted before', () => {
    const fed = new CvdTestDriver().batch(
      trade({ size: 3 }),
      trade({ first_id: 2, taker: 'sell' }),
      trade({ ...OKX, size: 5 }),
      mark(T0 + 12 * SECOND),
      trade({ first_id: 3, time: T0 + 13 * SECOND, size: 7 }),
      mark(T0 + 22 * SECOND),
    )
    const [first, second] = metrics(fed)
    expect([first?.asset, first?.core, first?.time, second?.time]).toEqual([
      'btc',
      'cvd',
      T0 + 10 * SECOND,
      T0 + 20 * SECOND,
    ])
    expect([told(first, 'buy'), told(first, 'sell'), told(first, 'buy_usd')]).toEqual([
      [
        ['binance', 3],
        ['okx', 5],
      ],
      [
        ['binance', 1],
        ['okx', 0],
      ],
      [
        ['binance', 300],
        ['okx', 500],
      ],
    ])
    expect(told(second, 'buy')).toEqual([['binance', 7]])
    expect(told(second, 'cvd')).toEqual([
      ['binance', 9],
      ['okx', 5],
    ])
  })

  it('tells the classes of all periods as they are behind the bucket', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(T0 + 12 * SECOND))
    expect(told(metrics(fed)[0], 'cvd_class_1h')).toEqual([[null, 5]])
  })

  it('comes only of assets that have traded, and stands before the mark of its time', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(T0 + 12 * SECOND), mark(T0 + 22 * SECOND))
    expect(metrics(fed)).toHaveLength(1)
    const outputs = fed.emitted.map(({ topic, message }) => `${topic} ${message?.type}`)
    expect(outputs.indexOf('alerts.inputs metric')).toBeLessThan(outputs.indexOf('derived.flow mark'))
  })
})
