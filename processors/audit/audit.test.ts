import { describe, expect, it } from 'vitest'
import type { Audit, Message, Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Task } from '../kernel/task.ts'
import { codec, round, testTask, testTaskOn } from '../kernel/testing/task.ts'
import { generationOf, versionOf } from '../kernel/version.ts'
import { processorsNamed } from '../topology.ts'
import { AUDIT } from './audit.ts'
import { candle, AuditTestDriver, flow, mark, SECOND, T0 } from './testing/records.ts'
import { HORIZON, MINUTE, MINUTES_MAX, SETTLE } from './state.ts'

/** The mark that closes T0's minute, and the one before. */
const CLOSES = T0 + MINUTE + SETTLE
/** The mark of the candles that ends T0's minute's horizon. */
const ENDS = T0 + MINUTE + HORIZON

describe('a minute', () => {
  it('is compared when its rows are closed and its candle is there, whichever is last', () => {
    const candleLast = new AuditTestDriver().flow(flow(), mark(CLOSES)).candles(candle())
    const flowLast = new AuditTestDriver().candles(candle()).flow(flow(), mark(CLOSES - 1))
    expect(flowLast.audits).toEqual([])
    flowLast.flow(mark(CLOSES))
    expect(candleLast.audits).toEqual(flowLast.audits)
    expect(candleLast.audits).toEqual([
      {
        instrument: 'binance:perp:BTCUSDT',
        asset: 'btc',
        minute: T0,
        ours_volume: 2,
        theirs_volume: 2,
        volume_difference: 0,
        ours_delta: 0,
        theirs_delta: 0,
        delta_difference: 0,
        ours_trades: 2,
        theirs_trades: 2,
        state: 'equal',
        time: CLOSES,
        v: versionOf(1, 0),
      },
    ])
  })

  it('has the time of a candle that came after it was closed, and the version of that candle', () => {
    const late = candle({ received: CLOSES + 9 })
    const fed = new AuditTestDriver().flow(flow(), mark(CLOSES)).candles(mark(T0), late)
    expect(fed.audits).toMatchObject([{ time: CLOSES + 9, v: versionOf(1, 1) }])
  })

  it('is the sum of its buckets and their parts, each by its highest version; what is not final does not count', () => {
    const fed = new AuditTestDriver().flow(
      flow({ buy: 5, v: 3 }),
      flow({ buy: 9, v: 2 }),
      flow({ part: 77, buy: 0.25, sell: 0, sell_count: 0 }),
      flow({ bucket: T0 + 50 * SECOND, buy: 0, sell: 2, buy_count: 0 }),
      flow({ bucket: T0 + 60 * SECOND, buy: 1000 }),
      flow({ bucket: T0 - 10 * SECOND, buy: 1000 }),
      flow({ part: 5, buy: 1000, final: false }),
      flow({ instrument: 'bybit:perp:BTCUSDT', buy: 1000 }),
      mark(CLOSES),
    )
    expect(fed.candles(candle({ volume: 8.25, taker_buy: 5.25 })).audits).toMatchObject([
      { ours_volume: 8.25, ours_delta: 2.25, ours_trades: 4, state: 'equal' },
    ])
  })

  it('does not take rows that come after the mark that closed it, whether the candle was there or not', () => {
    for (const first of [true, false]) {
      const fed = new AuditTestDriver()
      if (first) fed.candles(candle())
      fed.flow(flow(), mark(CLOSES), flow({ part: 7, buy: 3, v: 9 }))
      if (!first) fed.candles(candle())
      expect(fed.audits).toMatchObject([{ ours_volume: 2, state: 'equal' }])
      expect(fed.counts).toMatchObject({ late_rows: 1 })
    }
  })

  it('in which nothing traded by our count is compared all the same', () => {
    const fed = new AuditTestDriver().flow(mark(CLOSES)).candles(candle())
    expect(fed.audits).toMatchObject([{ ours_volume: 0, theirs_volume: 2, volume_difference: -1, state: 'different' }])
  })

  it('is compared once: by the first candle in the log', () => {
    const fed = new AuditTestDriver()
      .candles(candle(), candle({ volume: 3 }))
      .flow(flow(), mark(CLOSES))
      .candles(candle())
    expect(fed.audits).toMatchObject([{ theirs_volume: 2 }])
    expect(fed.counts).toMatchObject({ repeated_candles: 2 })
  })

  it('is the same after a restart at any point', () => {
    const fed = new AuditTestDriver()
      .flow(flow())
      .restart()
      .candles(candle())
      .restart()
      .flow(flow({ v: 2, buy: 1 }))
      .restart()
    expect(fed.flow(mark(CLOSES)).restart().candles(candle()).audits).toMatchObject([
      { ours_volume: 2, state: 'equal' },
    ])
    const waiting = new AuditTestDriver().flow(flow(), mark(CLOSES)).restart().candles(candle()).restart()
    expect(waiting.audits).toMatchObject([{ ours_volume: 2, state: 'equal' }])
  })
})

describe('what is held', () => {
  it('ends when both logs have passed it: a minute without a candle is counted', () => {
    const fed = new AuditTestDriver().flow(flow(), mark(CLOSES), mark(ENDS + MINUTE))
    expect(fed.counts).toMatchObject({ minutes: 1, uncompared: 0 })
    fed.candles(mark(ENDS - 1))
    expect(fed.counts).toMatchObject({ minutes: 1 })
    fed.candles(mark(ENDS), candle()).restart()
    expect(fed.counts).toMatchObject({ minutes: 0, uncompared: 1, old_candles: 1 })
    expect(fed.audits).toEqual([])
  })

  it('stays while our rows lag behind the candles', () => {
    const fed = new AuditTestDriver().candles(candle(), mark(ENDS + 10 * MINUTE))
    expect(fed.flow(flow(), mark(CLOSES)).audits).toMatchObject([{ state: 'equal' }])
    expect(fed.counts).toMatchObject({ minutes: 0, uncompared: 0 })
  })

  it('is bounded: the oldest minutes are given up, and what comes for them is refused', () => {
    const fed = new AuditTestDriver()
    for (let n = 0; n <= MINUTES_MAX; n += 1) fed.candles(candle({ minute: T0 + n * MINUTE }))
    expect(fed.counts).toMatchObject({ minutes: MINUTES_MAX, overrun: 1 })
    fed
      .restart()
      .candles(candle())
      .flow(flow(), flow({ bucket: T0 + MINUTE }), mark(CLOSES + MINUTE))
    expect(fed.counts).toMatchObject({ old_candles: 1, late_rows: 1 })
    expect(fed.audits).toMatchObject([{ minute: T0 + MINUTE }])
  })
})

it('forwards the time that both logs have passed every ten seconds of it, behind the audits that it closes', () => {
  const fed = new AuditTestDriver()
    .candles(candle(), mark(T0 + 5))
    .flow(flow(), mark(T0 + 3), mark(CLOSES))
    .candles(mark(CLOSES + 1), mark(CLOSES + 12 * SECOND))
    .flow(mark(CLOSES + 9 * SECOND))
    .restart()
    .flow(mark(CLOSES + 11 * SECOND))
  expect(fed.marks).toEqual([T0 + 3, CLOSES, CLOSES + 11 * SECOND])
  const kinds = fed.emitted.map(({ message }) => message?.type)
  expect(kinds).toEqual(['mark', 'audit', 'mark', 'mark'])
})

it('is left to an older generation where the log begins behind the first candle of its minute', async () => {
  const [row] = processorsNamed([AUDIT])
  if (row === undefined) throw new Error('audit is in the topology')
  const host = testTask()
  const feed = (topic: TopicName, time: Micros, { type, value }: Message): void => {
    host.broker.append(topic, 0, [{ key: 'btc', value: codec.encode(topic, type, value), time: time / 1_000 }])
  }
  const later = T0 + 5 * MINUTE
  for (const bucket of [T0, later]) feed('derived.flow', bucket, flow({ bucket }))
  feed('derived.flow', later, mark(later + MINUTE + SETTLE))
  feed('market.candles', T0 + MINUTE, candle())
  feed('market.candles', T0 + 2 * MINUTE, candle({ volume: 3 })) // the venue tells it once more
  feed('market.candles', later + MINUTE, candle({ minute: later }))
  await round(await Task.open({ ...row, generation: 1 }, 0, host), host)
  host.broker.truncate('market.candles', 0, 1)
  const next = testTaskOn(host.broker)
  await round(await Task.open({ ...row, generation: 2 }, 0, next), next)
  const audits = host.broker.records('derived.audit', 0).flatMap(({ value }): Audit[] => {
    const message = value === null ? undefined : codec.decode(value)
    return message?.type === 'audit' ? [message.value] : []
  })
  expect(audits.map(({ minute, theirs_volume, v }) => [minute, theirs_volume, generationOf(v)])).toEqual([
    [T0, 2, 1],
    [later, 2, 1],
    [later, 2, 2],
  ])
})
