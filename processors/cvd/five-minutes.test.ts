import { describe, expect, it } from 'vitest'
import { versionOf } from '../kernel/version.ts'
import { CvdTestDriver, mark, SECOND, T0, trade } from './testing/records.ts'

const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const END = T0 + 5 * MINUTE

/** Two trades of the first five minutes, none in the last bucket. */
const traded = () =>
  new CvdTestDriver().batch(
    trade({ first_id: 5, time: T0 + 3, price: 101, size: 2 }),
    trade({ first_id: 6, last_id: 7, time: T0 + 10 * SECOND, price: 99, size: 0.5, taker: 'sell' }),
    mark(T0 + 22 * SECOND),
  )

describe('five minutes', () => {
  it('are said once the last of their buckets has closed, though nothing traded in it', () => {
    const fed = traded().batch(mark(END + SECOND))
    expect(fed.fives).toEqual([])
    fed.batch(mark(END + 2 * SECOND))
    expect(fed.fives).toEqual([
      {
        asset: 'btc',
        instrument: 'binance:perp:BTCUSDT',
        start: T0,
        part: 0,
        buy: 2,
        sell: 0.5,
        buy_quote: 202,
        sell_quote: 49.5,
        buy_count: 1,
        sell_count: 1,
        open: 101,
        high: 101,
        low: 99,
        close: 99,
        open_time: T0 + 3,
        close_time: T0 + 10 * SECOND,
        first_id: 5,
        last_id: 7,
        v: versionOf(1, 2),
      },
    ])
  })

  it('are said once, and again only where they changed', () => {
    const fed = traded().batch(mark(END + 2 * SECOND), mark(END + 12 * SECOND), mark(END + HOUR))
    const said = () => fed.emitted.filter(({ message }) => message?.type === 'flow_five')
    expect(said()).toHaveLength(1)
    fed.batch(trade({ first_id: 8, time: END }), mark(END + HOUR + 10 * SECOND))
    expect(said()).toHaveLength(2)
  })

  it('have what is filled in later with the rows of its bucket, in the same part', () => {
    const fed = traded().batch(mark(END + 2 * SECOND))
    fed.batch(trade({ first_id: 9, origin: 'backfill', gap_id: 9, price: 200, time: T0 + 12 * SECOND }))
    expect(fed.fives).toMatchObject([{ part: 0, buy: 3, high: 200, close: 200, v: versionOf(1, 4) }])
  })

  it('are said of what one mark closes and lets go at once', () => {
    const fed = new CvdTestDriver().batch(trade(), trade({ first_id: 2, time: END }), mark(T0 + 24 * HOUR))
    expect(fed.fives).toMatchObject([
      { start: T0, buy: 1 },
      { start: END, buy: 1 },
    ])
  })

  it('have a trade whose bucket has left the state as a row of its own, at once', () => {
    const fed = traded().batch(mark(T0 + 3 * HOUR))
    fed.batch(trade({ first_id: 1, time: T0 + 20 * SECOND }))
    expect(fed.fives).toMatchObject([
      { start: T0, part: 0, buy: 2 },
      { start: T0, part: -5, buy: 1, v: versionOf(1, 4) },
    ])
  })

  it('are the same behind a restart, and are said again as they were', () => {
    const fed = traded().batch(mark(END + 2 * SECOND))
    const before = fed.fives
    fed.restart(new Map())
    const again: unknown[] = []
    fed.core.restate?.(fed.state, 'derived.flow', { partition: 0, v: 0, partitionTime: 0 }, ({ message }) => {
      if (message?.type === 'flow_five') again.push(message.value)
    })
    expect(again).toEqual(before)
  })
})
