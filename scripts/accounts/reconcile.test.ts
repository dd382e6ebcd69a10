import { describe, expect, it } from 'vitest'
import type { Parameters } from '../../infra/clickhouse/client.ts'
import { MemoryBroker, stillClock } from '../../processors/kernel/testing/memory-log.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import { localCodec } from '../../schemas/codec.ts'
import type { Flow, LogGap, Message, Trade } from '../../schemas/records.ts'
import { lostAndDoubled } from './compare.ts'
import type { Books } from './books.ts'
import { isSound, reconcile, type Report } from './reconcile.ts'
import { reportText } from './show.ts'
import { always, nothing, type Totals, type Window } from './totals.ts'

const PARTITIONS = 2
const BUCKET = 10_000_000
const instrument = 'binance:perp:BTCUSDT'
const partition = partitionOf('btc', PARTITIONS)
const codec = localCodec()
const UNIT = 10n ** 18n

/** One trade of size 1 in each bucket from 0 up to 10, by the source; `log`, `flow`, `clickhouse`: those that ours have. */
interface Had {
  readonly log: readonly number[]
  readonly flow: readonly number[]
  readonly clickhouse: readonly number[]
  readonly gaps?: readonly LogGap[]
  /** The first bucket that the source counts. */
  readonly begin?: number
}

const all = Array.from({ length: 10 }, (_, bucket) => bucket)

async function judged({ log, flow, clickhouse, gaps = [], begin: first = 0 }: Had): Promise<Report> {
  const begin = first * BUCKET
  const counted = all.filter((bucket) => bucket >= first)
  const broker = new MemoryBroker(stillClock)
  const enter = (topic: 'market.trades' | 'derived.flow' | 'control.gaps', key: string, message: Message): void => {
    const value = codec.encode(topic, message.type, message.value)
    broker.append(topic, partition, [{ key, value, time: 0 }])
  }
  for (const bucket of log) enter('market.trades', 'btc', { type: 'trade', value: trade(bucket) })
  for (const bucket of flow) enter('derived.flow', `${bucket}`, { type: 'flow', value: flowOf(bucket) })
  for (const gap of gaps) enter('control.gaps', 'cvd', { type: 'log_gap', value: gap })
  const books: Books = {
    reader: broker.connect().reader(),
    codec,
    partitions: PARTITIONS,
    clickhouse: clickhouseOf(clickhouse),
    source: {
      name: 'test',
      totals: async () => new Map([[instrument, totals(counted)]]),
      within: async (_instrument, { from, to }) =>
        totals(counted.filter((bucket) => isIn(bucket, { from, to: to + 1 }))),
      begins: async () => new Map([[instrument, begin]]),
      align: (stretch) => stretch,
    },
  }
  return reconcile(books, always, 0)
}

function isIn(bucket: number, { from, to }: Window): boolean {
  return bucket * BUCKET >= from && bucket * BUCKET < to
}

function totals(buckets: readonly number[]): Totals {
  return { ...nothing, count: buckets.length, buy: BigInt(buckets.length) * UNIT }
}

/** Answers the query for totals, in its own words: as JSON. */
function clickhouseOf(buckets: readonly number[]): Books['clickhouse'] {
  return {
    async rows<Row>(_query: string, bounds?: Parameters): Promise<Row[]> {
      const window = { from: Number(bounds?.['from']), to: Number(bounds?.['to']) }
      const trades = buckets.filter((bucket) => isIn(bucket, window)).length
      return JSON.parse(`[{"instrument":"${instrument}","trades":"${trades}","buy":"${trades}","sell":"0"}]`) as Row[]
    },
  }
}

function trade(bucket: number): Trade {
  const ids = { first_id: bucket + 1, last_id: bucket + 1, count: 1, sequence: null }
  const amounts = { price: 100, size: 1, quote: 100, size_factor: 1, price_factor: 1, taker: 'buy' } as const
  const times = { time: bucket * BUCKET, received: bucket * BUCKET }
  return { instrument, asset: 'btc', ...ids, ...amounts, ...times, origin: 'stream', gap_id: null }
}

function flowOf(bucket: number): Flow {
  const prices = { open: 100, high: 100, low: 100, close: 100, open_time: 0, close_time: 0, first_id: 1, last_id: 1 }
  const amounts = { buy: 1, sell: 0, buy_quote: 100, sell_quote: 0, buy_count: 1, sell_count: 0 }
  return {
    asset: 'btc',
    instrument,
    bucket: bucket * BUCKET,
    part: 0,
    ...amounts,
    ...prices,
    final: false,
    v: bucket + 1,
  }
}

/** The log lost trades of bucket 4 and 5. */
const gap: LogGap = {
  reader: 'cvd',
  topic: 'market.trades',
  partition,
  reason: 'retention',
  position: 4,
  next: 6,
  shift: 0,
  missing: 2,
  from_time: 4 * BUCKET + 6_000_000,
  to_time: 5 * BUCKET + 1,
  time: 9 * BUCKET,
}
const without = (...gone: readonly number[]): readonly number[] => all.filter((bucket) => !gone.includes(bucket))

describe('accounts of a log that has lost something', () => {
  it('are equal where nothing is lost', async () => {
    const report = await judged({ log: all, flow: all, clickhouse: all })
    expect(report.rows.map(({ verdict }) => verdict)).toEqual(['OK'])
  })

  it('are not equal where there is none', async () => {
    const report = { ...(await judged({ log: all, flow: all, clickhouse: all })), rows: [] }
    expect(isSound(report)).toBe(false)
    expect(reportText(report, 'candles')).toContain('Nothing was recorded')
  })

  it('judge what was filled from before the source counts by each other', async () => {
    const had = { log: all, flow: all, clickhouse: all, begin: 3 }
    expect(isSound(await judged(had))).toBe(true)
    expect(isSound(await judged({ ...had, flow: without(1) }))).toBe(false)
    expect(isSound(await judged({ ...had, log: without(5), flow: without(5), clickhouse: without(5) }))).toBe(false)
  })

  it.each<[string, Had]>([
    ['the log has nothing of that time', { log: without(4, 5), flow: without(4, 5), clickhouse: without(4, 5) }],
    ['the flow alone lacks it', { log: all, flow: without(4, 5), clickhouse: all }],
    ['each has another part of it', { log: without(4), flow: without(5), clickhouse: without(4, 5) }],
  ])('are explained by a recorded gap: %s', async (_what, had) => {
    const report = await judged({ ...had, gaps: [gap] })
    expect(report.rows.map(({ verdict }) => verdict)).toEqual(['explained by gap'])
    expect(report.logGaps).toEqual([gap])
    expect(isSound(report)).toBe(true)
  })

  it.each<[string, Had, number]>([
    ['no gap is recorded', { log: all, flow: without(4, 5), clickhouse: all }, 2],
    ['more is missing than the gap tells', { log: all, flow: without(4, 5, 6), clickhouse: all, gaps: [gap] }, 1],
    ['ClickHouse lacks it beside the gap', { log: all, flow: all, clickhouse: without(8), gaps: [gap] }, 1],
    [
      'the gap is of another partition',
      { log: all, flow: without(4, 5), clickhouse: all, gaps: [{ ...gap, partition: 1 - partition }] },
      2,
    ],
    [
      'the gap is of a reader that counts nothing',
      { log: all, flow: without(4, 5), clickhouse: all, gaps: [{ ...gap, reader: 'audit' }] },
      2,
    ],
  ])('are wrong where %s', async (_what, had, lost) => {
    const report = await judged(had)
    expect(isSound(report)).toBe(false)
    expect(lostAndDoubled(report.rows)).toEqual({ lost, doubled: 0 })
  })
})
