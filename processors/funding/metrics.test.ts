import { describe, expect, it } from 'vitest'
import type { Metric } from '../../schemas/records.ts'
import { CoreTestDriver, only } from '../kernel/testing/core-test-driver.ts'
import { funding } from './funding.ts'
import type { FundingState } from './state.ts'
import { mark, MINUTE, premium, rate, ratio, says, SECOND, T0, terms } from './testing/records.ts'

const fed = (): CoreTestDriver<FundingState> => new CoreTestDriver(funding, 'market.funding').batch(terms({}))
const metrics = (given: CoreTestDriver<FundingState>): Metric[] => only(given.take(), 'metric')
const told = (given: CoreTestDriver<FundingState>): Record<string, number> =>
  Object.fromEntries(
    metrics(given).flatMap(({ figures }) =>
      figures.map(({ figure, exchange, value }) => [`${figure} ${exchange}`, value]),
    ),
  )

const size = (value: number, after: number) =>
  says({ open_interest: value, open_interest_time: T0 + after, received: T0 + after })

describe('a metric', () => {
  it('has rates and basis in percent, open interest in USD, ratios', () => {
    const given = fed().batch(
      rate(0.0005, 0),
      premium(0.001, 0),
      says({ mark: 102, index: 100, mark_time: T0 + MINUTE }),
      size(5, MINUTE),
      ratio('gate', 1.5, 0),
      mark(MINUTE),
    )
    expect(told(given)).toEqual({
      'funding_rate binance': 0.05,
      'predicted_funding_rate binance': expect.closeTo(0.05, 9) as number,
      'open_interest binance': 510,
      'basis binance': expect.closeTo(2, 9) as number,
      'long_short gate': 1.5,
    })
  })

  it('has what the decimals make, and not a rounding beyond it', () => {
    const given = fed().batch(
      rate(0.0007, MINUTE),
      says({ mark: 101, index: 100, mark_time: T0 + MINUTE }),
      size(0.3, MINUTE),
      mark(MINUTE),
    )
    expect(told(given)).toMatchObject({
      'funding_rate binance': 0.07,
      'open_interest binance': 30.3,
      'basis binance': 1,
    })
  })

  it('leaves out what is stale', () => {
    const given = fed().batch(rate(0.0005, 0), size(5, 121 * SECOND), mark(121 * SECOND))
    expect(metrics(given)).toEqual([])
    expect(told(given.batch(rate(0.0005, 121 * SECOND), mark(130 * SECOND)))).toEqual({ 'funding_rate binance': 0.05 })
  })

  it('comes every 10 s where open interest is streamed, else every minute', () => {
    const times = (given: CoreTestDriver<FundingState>): number[] =>
      metrics(given).map(({ time }) => (time - T0) / SECOND)
    const each = Array.from({ length: 14 }, (_, at) => [rate(0.0001, at * 5 * SECOND), mark(at * 5 * SECOND)]).flat()
    expect(times(fed().batch(...each))).toEqual([0, 60])
    const streamed = fed().batch(size(5, 0), ...each.slice(0, 10))
    expect(times(streamed)).toEqual([0, 10, 20])
    expect(times(streamed.restart().batch(rate(0.0002, 25 * SECOND), mark(25 * SECOND)))).toEqual([])
  })
})
