import { describe, expect, it } from 'vitest'
import type { FlowHour } from '../../schemas/records.ts'
import type { Output } from '../kernel/processor.ts'
import { versionOf } from '../kernel/version.ts'
import { cvd } from './cvd.ts'
import { CvdTestDriver, mark, SECOND, T0, trade } from './testing/records.ts'

const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

describe('an hour', () => {
  it('sums up its buckets that have closed', () => {
    const fed = new CvdTestDriver().batch(
      trade({ first_id: 5, time: T0 + 3, price: 101, size: 2 }),
      trade({ first_id: 6, last_id: 7, time: T0 + 10 * SECOND, price: 99, size: 0.5, taker: 'sell' }),
      trade({ first_id: 8, time: T0 + 20 * SECOND, price: 500 }),
      mark(T0 + 22 * SECOND),
    )
    expect(fed.hours).toEqual([
      {
        asset: 'btc',
        instrument: 'binance:perp:BTCUSDT',
        hour: T0,
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
        final: false,
        v: versionOf(1, 3),
      },
    ])
  })

  it('is written when a bucket closes and only where it changed', () => {
    const fed = new CvdTestDriver().batch(
      trade(),
      mark(T0 + 12 * SECOND),
      mark(T0 + 13 * SECOND),
      mark(T0 + 40 * SECOND),
    )
    expect(fed.emitted.filter(({ message }) => message?.type === 'flow_hour')).toHaveLength(1)
  })

  it('is final once its last bucket has closed, though nothing traded in it', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(T0 + 12 * SECOND), mark(T0 + HOUR + SECOND))
    expect(fed.hours).toMatchObject([{ final: false }])
    fed.batch(mark(T0 + HOUR + 2 * SECOND))
    expect(fed.hours).toMatchObject([{ final: true, buy: 1, v: versionOf(1, 3) }])
  })

  it('counts what is filled in later, at the next mark that closes a bucket', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(T0 + HOUR + 2 * SECOND))
    fed.batch(trade({ first_id: 7, origin: 'backfill', gap_id: 7 }))
    expect(fed.hours).toMatchObject([{ buy: 1 }])
    fed.batch(mark(T0 + HOUR + 12 * SECOND))
    expect(fed.hours).toMatchObject([{ part: 0, buy: 2, final: true }])
  })

  it('has a trade whose bucket has left the state as a row of its own, at once', () => {
    const fed = new CvdTestDriver().batch(
      trade({ first_id: 9, time: T0 + 59 * MINUTE }),
      mark(T0 + 2 * HOUR + 30 * MINUTE),
    )
    fed.batch(trade({ first_id: 1 }))
    expect(fed.hours).toMatchObject([
      { hour: T0, part: 0, buy: 1 },
      { hour: T0, part: -3, buy: 1, final: true, v: versionOf(1, 2) },
    ])
  })

  it('goes on after a restart, with what was not written yet', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(T0 + 12 * SECOND), trade({ first_id: 2, time: T0 + 1 }))
    fed.restart(new Map()).batch(mark(T0 + 22 * SECOND))
    expect(fed.hours).toMatchObject([{ buy: 2 }])
  })

  it('is erased when all of its buckets have left the state', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(T0 + 12 * SECOND))
    const parts = new Map<string, Buffer>()
    fed.save(parts)
    const hours = (): string[] => [...parts.keys()].filter((key) => key.startsWith('hour'))
    expect(hours()).toHaveLength(1)
    fed.batch(mark(T0 + 3 * HOUR)).save(parts)
    expect(hours()).toEqual([])
  })
})

it('is said in the end as it is said on the way, where nobody reads what is not final', () => {
  const messages = [
    trade({ first_id: 1, time: T0 + SECOND }),
    mark(T0 + 12 * SECOND),
    trade({ first_id: 2, time: T0 + 11 * SECOND }),
    mark(T0 + 22 * SECOND),
    trade({ first_id: 3, time: T0 + 2 * SECOND }), // of a closed bucket: its hour waits for the next mark that closes one
    mark(T0 + 23 * SECOND),
  ]
  const said = (isUnread: boolean, until: number): [rows: number, last: FlowHour | undefined] => {
    const state = cvd.empty()
    const rows: FlowHour[] = []
    const emit = ({ message }: Output): void => void (message?.type === 'flow_hour' && rows.push(message.value))
    for (const [offset, message] of messages.slice(0, until).entries()) {
      const entry = { topic: 'market.trades', offset, time: 0, message } as const
      cvd.apply(state, entry, { partition: 0, v: versionOf(1, offset), partitionTime: 0, isUnread }, emit)
    }
    cvd.flush?.(state, emit)
    cvd.flush?.(state, emit)
    return [rows.length, rows.at(-1)]
  }
  for (let until = 1; until <= messages.length; until++)
    expect(said(true, until)[1], `${until} records`).toEqual(said(false, until)[1])
  expect(said(true, messages.length)[0]).toBe(1)
  expect(said(false, messages.length)[0]).toBe(2)
})
