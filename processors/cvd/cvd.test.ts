import { describe, expect, it } from 'vitest'
import { versionOf } from '../kernel/version.ts'
import { CvdTestDriver, mark, SECOND, T0, trade } from './testing/records.ts'
import { HORIZON } from './state.ts'

const MINUTE = 60 * SECOND
const bybit = { instrument: 'bybit:perp:BTCUSDT' }

describe('a row', () => {
  it('has buys and sells apart, prices by venue time and the ids that it covers', () => {
    const { row } = new CvdTestDriver().batch(
      trade({ first_id: 5, time: T0 + 3, price: 101, size: 2 }),
      trade({ first_id: 6, last_id: 7, time: T0 + 4, price: 99, size: 0.5, taker: 'sell' }),
      trade({ first_id: 4, time: T0 + 1, price: 103, size: 1 }),
    )
    expect(row).toEqual({
      asset: 'btc',
      instrument: 'binance:perp:BTCUSDT',
      bucket: T0,
      part: 0,
      buy: 3,
      sell: 0.5,
      buy_quote: 305,
      sell_quote: 49.5,
      buy_count: 2,
      sell_count: 1,
      open: 103,
      high: 103,
      low: 99,
      close: 99,
      open_time: T0 + 1,
      close_time: T0 + 4,
      first_id: 4,
      last_id: 7,
      final: false,
      v: versionOf(1, 2),
    })
  })

  it('opens with the first and closes with the last of equal times', () => {
    const { row } = new CvdTestDriver().batch(
      trade({ first_id: 1, price: 1 }),
      trade({ first_id: 2, price: 2 }),
      trade({ first_id: 3, price: 3 }),
    )
    expect(row).toMatchObject({ open: 1, close: 3 })
  })

  it('is written once for a batch, with the version of the last trade in it', () => {
    const fed = new CvdTestDriver().batch(trade({ first_id: 1 }), trade({ first_id: 2 }))
    expect(fed.emitted).toHaveLength(1)
    expect(fed.row?.v).toBe(versionOf(1, 1))
  })

  it.each([
    ['the last microsecond of its bucket', T0 + 10 * SECOND - 1, T0],
    ['the first of the next', T0 + 10 * SECOND, T0 + 10 * SECOND],
  ])('holds %s', (_, time, bucket) => {
    expect(new CvdTestDriver().batch(trade({ time })).row?.bucket).toBe(bucket)
  })

  it.each([
    ['just before 2 s after its end', T0 + 12 * SECOND - 1, false],
    ['2 s after its end', T0 + 12 * SECOND, true],
  ])('is final or not %s', (_, time, final) => {
    expect(new CvdTestDriver().batch(trade()).batch(mark(time)).row?.final).toBe(final)
  })

  it('is final with the version of the mark that closed it, and stays final', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(T0 + 20 * SECOND))
    expect(fed.row).toMatchObject({ final: true, v: versionOf(1, 1) })
    fed.batch(trade({ first_id: 2 }))
    expect(fed.row).toMatchObject({ final: true, buy: 2, v: versionOf(1, 2) })
  })

  it('comes before the mark that closed it', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(T0 + 20 * SECOND))
    const types = fed.emitted.filter(({ topic }) => topic === 'derived.flow').map(({ message }) => message?.type)
    expect(types).toEqual(['flow', 'flow_hour', 'cvd', 'mark'])
  })
})

describe('a backfilled trade', () => {
  it('is in a part of its own, named by its gap', () => {
    const fed = new CvdTestDriver().batch(trade(), trade({ first_id: 7, origin: 'backfill', gap_id: 7 }))
    expect(fed.rows.map(({ part, buy }) => [part, buy])).toEqual([
      [0, 1],
      [7, 1],
    ])
  })

  it('makes a row that is final at once in a bucket that has closed', () => {
    const fed = new CvdTestDriver().batch(mark(T0 + MINUTE), trade({ origin: 'backfill', gap_id: 7 }))
    expect(fed.row).toMatchObject({ part: 7, final: true })
  })

  it('of an archive counts with the stream', () => {
    expect(new CvdTestDriver().batch(trade({ origin: 'import' })).row?.part).toBe(0)
  })
})

describe('a trade later than the state’s horizon', () => {
  const tooLate = T0 + HORIZON + 300 * SECOND

  it('is a final row of its own, named by its offset', () => {
    const fed = new CvdTestDriver().batch(mark(tooLate), trade())
    expect(fed.row).toMatchObject({ part: -2, buy: 1, final: true, bucket: T0 })
  })

  it('is in its part up to the horizon, and as long as its five minutes are kept', () => {
    expect(new CvdTestDriver().batch(mark(tooLate - 1), trade()).row?.part).toBe(0)
  })

  it('is still counted once where ids tell', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(tooLate), trade())
    expect(fed.rows.map(({ part }) => part)).toEqual([0])
    expect(fed.refused.duplicate).toBe(1)
  })

  it('tells since when the log has trades of its instrument', () => {
    const fed = new CvdTestDriver().batch(trade({ first_id: 9, time: tooLate }), mark(tooLate + 12 * SECOND), trade())
    expect(fed.state.instruments.get('binance:perp:BTCUSDT')?.covered.since).toBe(T0)
    expect(fed.cvds[0]?.instruments[0]?.since).toBe(T0)
  })

  it('is refused where ids tell nothing', () => {
    const fed = new CvdTestDriver().batch(mark(tooLate), trade(bybit))
    expect(fed.rows).toEqual([])
    expect(fed.refused.unchecked).toBe(1)
  })
})

describe('a trade that came before', () => {
  it.each([
    ['the same again', { first_id: 3, last_id: 5 }, 'duplicate'],
    ['within it', { first_id: 4, last_id: 4 }, 'duplicate'],
    ['reaching out behind it', { first_id: 5, last_id: 6 }, 'overlap'],
    ['reaching out before it', { first_id: 2, last_id: 3 }, 'overlap'],
    ['around it', { first_id: 2, last_id: 6 }, 'overlap'],
  ] as const)('is refused and counted: %s', (_, ids, refusal) => {
    const fed = new CvdTestDriver().batch(trade({ first_id: 3, last_id: 5 }), trade(ids))
    expect(fed.row?.buy_count).toBe(1)
    expect(fed.refused[refusal]).toBe(1)
  })

  it('is a duplicate in another part as well', () => {
    const fed = new CvdTestDriver().batch(trade(), trade({ origin: 'backfill', gap_id: 1 }))
    expect(fed.rows).toHaveLength(1)
  })

  it('is told by its id within its bucket where ids have no order', () => {
    const fed = new CvdTestDriver().batch(
      trade({ ...bybit, first_id: 9 }),
      trade({ ...bybit, first_id: 8 }),
      trade({ ...bybit, first_id: 9 }),
      trade({ ...bybit, first_id: 9, time: T0 + 10 * SECOND }),
    )
    expect(fed.rows.map(({ buy }) => buy)).toEqual([2, 1])
    expect(fed.refused.duplicate).toBe(1)
  })

  it('is not one on another instrument', () => {
    expect(new CvdTestDriver().batch(trade(), trade({ instrument: 'okx:perp:BTC-USDT-SWAP' })).rows).toHaveLength(2)
  })
})

it('keeps no bucket beyond the horizon, wherever within a bucket marks come', () => {
  const fed = new CvdTestDriver().batch(trade())
  const end = T0 + HORIZON + 312 * SECOND
  for (let time = T0; time <= end; time += 8 * SECOND + 500_000) fed.batch(mark(time))
  expect(fed.state.buckets.size).toBe(0)
})

it('refuses a trade that does not say who took', () => {
  const fed = new CvdTestDriver().batch(trade({ taker: 'unknown' }))
  expect(fed.rows).toEqual([])
  expect(fed.refused.no_taker).toBe(1)
})

describe('marks', () => {
  it('are forwarded where they raise partition time, every ten seconds of it to signals', () => {
    const later = T0 + 10 * SECOND
    const fed = new CvdTestDriver().batch(mark(T0 + 2), mark(T0 + 1), mark(T0 + 2), mark(T0 + 3), mark(later))
    const times = (topic: string): number[] =>
      fed.emitted.flatMap(({ topic: to, message }) =>
        to === topic && message?.type === 'mark' ? [message.value.time] : [],
      )
    expect(times('derived.flow')).toEqual([T0 + 2, T0 + 3, later])
    expect(times('derived.signals')).toEqual([T0 + 2, later])
  })
})
