import { describe, expect, it } from 'vitest'
import type { Parameters } from '../../infra/clickhouse/client.ts'
import { MemoryBroker, stillClock } from '../../processors/kernel/testing/memory-log.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import { emptyFields, localCodec } from '../../schemas/codec.ts'
import type { Flow, Gap, LogGap, Message, Trade } from '../../schemas/records.ts'
import { lostAndDoubled } from './compare.ts'
import type { Books } from './books.ts'
import { isSound, reconcile, stillWindow, type Report } from './reconcile.ts'
import { reportJson, reportText } from './show.ts'
import { addTo, type BucketsOf } from './buckets.ts'
import { always, nothing, type Totals, type Window } from './totals.ts'

const PARTITIONS = 2
const BUCKET = 10_000_000
const instrument = 'binance:perp:BTCUSDT'
const partition = partitionOf('btc', PARTITIONS)
const codec = localCodec()
const UNIT = 10n ** 18n

/** A purchase of size 1 at 100 at the begin of the bucket of this number, or one that differs from it; `after`: microseconds. */
type Traded =
  number | ({ readonly bucket: number } & Partial<Record<'id' | 'price' | 'quote' | 'high' | 'after', number>>)

/** One trade of size 1 in each bucket from 0 up to 10, by the source; `log`, `flow`, `clickhouse`: those that ours have. */
interface Had {
  readonly log: readonly Traded[]
  readonly flow: readonly Traded[]
  readonly clickhouse: readonly Traded[]
  readonly gaps?: readonly LogGap[]
  /** The first bucket that the source counts. */
  readonly begin?: number
  /** It tells its whole sums alone, as candles do. */
  readonly hasNoBuckets?: boolean
  /** It cannot read this instrument. */
  readonly isUnread?: boolean
  readonly feedGaps?: readonly Gap[]
  /** The first bucket of which the source still knows what traded in a range of time. */
  readonly keptFrom?: number
  readonly window?: Window
}

const all = Array.from({ length: 10 }, (_, bucket) => bucket)

async function judged(had: Had): Promise<Report> {
  const { log, flow, clickhouse, gaps = [], feedGaps = [], begin: first = 0, hasNoBuckets = false, isUnread } = had
  const { keptFrom = 0, window = always } = had
  const begin = first * BUCKET
  const counted = all.filter((bucket) => bucket >= first)
  const broker = new MemoryBroker(stillClock)
  const enter = (topic: 'market.trades' | 'derived.flow' | 'control.gaps', key: string, message: Message): void => {
    const value = codec.encode(topic, message.type, message.value)
    broker.append(topic, partition, [{ key, value, time: 0 }])
  }
  for (const traded of log) enter('market.trades', 'btc', { type: 'trade', value: trade(traded) })
  for (const value of feedGaps) enter('market.trades', 'btc', { type: 'gap', value })
  for (const [key, traded] of flow.entries()) enter('derived.flow', `${key}`, { type: 'flow', value: flowOf(traded) })
  for (const gap of gaps) enter('control.gaps', 'cvd', { type: 'log_gap', value: gap })
  const books: Books = {
    reader: broker.connect().reader(),
    codec,
    partitions: PARTITIONS,
    clickhouse: clickhouseOf(clickhouse),
    source: {
      name: 'test',
      totals: async (asked) => {
        const kept = asked.from === 0 ? counted : counted.filter((bucket) => bucket >= keptFrom && isIn(bucket, asked))
        return new Map([[instrument, isUnread === true ? 'unread' : totals(kept)]])
      },
      within: async (_instrument, { from, to }) =>
        totals(counted.filter((bucket) => bucket >= keptFrom && isIn(bucket, { from, to: to + 1 }))),
      begins: async () => new Map([[instrument, begin]]),
      align: (stretch) => stretch,
      ...(!hasNoBuckets && { buckets: async (window) => bucketsOf(counted.filter((at) => isIn(at, window))) }),
    },
  }
  return reconcile(books, window, 0)
}

function isIn(traded: Traded, { from, to }: Window): boolean {
  const { bucket } = whole(traded)
  return bucket * BUCKET >= from && bucket * BUCKET < to
}

function whole(traded: Traded): Record<'bucket' | 'id' | 'price' | 'quote' | 'high' | 'after', number> {
  const { bucket, ...more } = typeof traded === 'number' ? { bucket: traded } : traded
  const price = more.price ?? 100
  return { bucket, id: bucket + 1, price, quote: price, high: price, after: 0, ...more }
}

function totals(traded: readonly Traded[]): Totals {
  return { ...nothing, count: traded.length, buy: BigInt(traded.length) * UNIT }
}

function bucketsOf(traded: readonly Traded[]): BucketsOf {
  const found: BucketsOf = new Map()
  for (const { bucket, price, after } of traded.map(whole)) {
    const amounts = { count: 1, buy: 1, sell: 0, buyQuote: price, sellQuote: 0 }
    addTo(found, instrument, bucket * BUCKET, { ...amounts, low: price, high: price, times: after })
  }
  return found
}

/** Answers the queries for totals and for buckets, in their own words: as JSON. */
function clickhouseOf(traded: readonly Traded[]): Books['clickhouse'] {
  return {
    async rows<Row>(query: string, bounds?: Parameters): Promise<Row[]> {
      const window = { from: Number(bounds?.['from']), to: Number(bounds?.['to']) }
      const within = traded.filter((one) => isIn(one, window))
      const lines = query.includes('buy_quote')
        ? [...(bucketsOf(within).get(instrument) ?? [])].map(([bucket, { count, buyQuote, sellQuote, ...same }]) => {
            return { instrument, bucket, trades: count, buy_quote: buyQuote, sell_quote: sellQuote, ...same }
          })
        : [{ instrument, trades: `${within.length}`, buy: `${within.length}`, sell: '0' }]
      return JSON.parse(JSON.stringify(lines)) as Row[]
    },
  }
}

function trade(traded: Traded): Trade {
  const { bucket, id, price, quote, after } = whole(traded)
  const ids = { first_id: id, last_id: id, count: 1, sequence: null }
  const amounts = { price, size: 1, quote, size_factor: 1, price_factor: 1, taker: 'buy' } as const
  const times = { time: bucket * BUCKET + after, received: bucket * BUCKET }
  return { instrument, asset: 'btc', ...ids, ...amounts, ...times, origin: 'stream', gap_id: null }
}

function flowOf(traded: Traded): Flow {
  const { bucket, price, quote, high } = whole(traded)
  const prices = { open: price, high, low: price, close: price, open_time: 0, close_time: 0, first_id: 1, last_id: 1 }
  const amounts = { buy: 1, sell: 0, buy_quote: quote, sell_quote: 0, buy_count: 1, sell_count: 0 }
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
const without = (...gone: readonly number[]): number[] => all.filter((bucket) => !gone.includes(bucket))

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

/** Trade 3 is at another price, in another bucket, or lost while trade 5 is there twice. */
const dear = [...without(3), { bucket: 3, price: 101 }]
const late = [...without(3), { bucket: 4, id: 4 }]
const early = [...without(3), { bucket: 3, after: 1 }]
const balanced = [...without(3), { bucket: 5, id: 11 }]

describe('accounts whose sums over the whole time are equal', () => {
  it('are compared bucket by bucket, parts of a bucket added up', async () => {
    const twice = [...all, { bucket: 5, id: 11 }]
    const source = { log: all, flow: all, clickhouse: all }
    expect((await judged(source)).rows[0]?.buckets).toEqual({ compared: 10, off: 0, lost: 0, doubled: 0, first: [] })
    const [row] = (await judged({ log: twice, flow: twice, clickhouse: twice, hasNoBuckets: true })).rows
    expect(row?.buckets).toMatchObject({ compared: 10, off: 0 })
  })

  it.each<[string, Had, string[], number]>([
    ['all prices of ours are other ones', { log: dear, flow: dear, clickhouse: dear }, ['log'], 0],
    ['a price of ClickHouse is another one', { log: all, flow: all, clickhouse: dear }, ['clickhouse'], 0],
    ['a price of the flow is another one', { log: all, flow: dear, clickhouse: all }, ['flow'], 0],
    ['all of ours have another time in the bucket', { log: early, flow: all, clickhouse: early }, ['log'], 0],
    ['ClickHouse has another time in the bucket', { log: all, flow: all, clickhouse: early }, ['clickhouse'], 0],
    [
      'the high of the flow is another one',
      { log: all, flow: [...without(3), { bucket: 3, high: 101 }], clickhouse: all },
      ['flow'],
      0,
    ],
    ['a trade is counted in another bucket of CVD', { log: all, flow: late, clickhouse: all }, ['flow', 'flow'], 1],
    ['ClickHouse has another time', { log: all, flow: all, clickhouse: late }, ['clickhouse', 'clickhouse'], 1],
    ['all of ours have another time', { log: late, flow: late, clickhouse: late }, ['log', 'log'], 1],
    ['one is lost, another there twice', { log: balanced, flow: balanced, clickhouse: balanced }, ['log', 'log'], 1],
  ])('are wrong where %s', async (_what, had, accounts, moved) => {
    const report = await judged(had)
    expect(isSound(report)).toBe(false)
    expect(report.rows.map(({ verdict, differences }) => [verdict, differences])).toEqual([['WRONG', []]])
    expect(report.rows[0]?.buckets.first.map(({ account }) => account)).toEqual(accounts)
    expect(lostAndDoubled(report.rows)).toEqual({ lost: moved, doubled: moved })
  })

  it('say which bucket is wrong, by how much', async () => {
    const report = await judged({ log: all, flow: all, clickhouse: dear })
    expect(reportText(report, 'ledger')).toContain(
      'bucket  binance:perp:BTCUSDT  1970-01-01T00:00:30.000Z  clickhouse: 0 trades, buy 0, sell 0, quote 1, low 1, high 1\n',
    )
    expect(reportText(report, 'ledger')).toContain('Buckets of 10 s: 10 compared, 1 differ.')
    expect(reportJson(report, 'ledger')).toMatchObject({
      ok: false,
      rows: [{ buckets: { compared: 10, off: 1, first: [{ account: 'clickhouse', bucket: 3 * BUCKET, quote: 1 }] } }],
    })
  })

  it('are not judged by bucket where the log has lost something', async () => {
    const other = [...without(4), { bucket: 4, price: 7 }]
    expect(isSound(await judged({ log: all, flow: other, clickhouse: all }))).toBe(false)
    expect(isSound(await judged({ log: all, flow: other, clickhouse: all, gaps: [gap] }))).toBe(true)
  })

  it('may differ in quote volume by what doubles round', async () => {
    const rounded = [...without(3), { bucket: 3, price: 100, quote: 100 + 3e-14 }]
    expect(isSound(await judged({ log: all, flow: rounded, clickhouse: all }))).toBe(true)
  })
})

/** The feeds could not have what was traded in bucket 6. */
const feedGap: Gap = {
  ...emptyFields('gap'),
  instrument,
  asset: 'btc',
  gap_id: 1,
  state: 'unfillable',
  reason: 'refused',
  feed: 'feeds',
  from_time: 6 * BUCKET,
  to_time: 7 * BUCKET - 1,
  time: 9 * BUCKET,
}

describe('accounts of an instrument that the source cannot read', () => {
  it.each<[string, Had]>([
    ['all have all of it', { log: all, flow: all, clickhouse: all }],
    ['the feeds tell a gap', { log: without(6), flow: without(6), clickhouse: without(6), feedGaps: [feedGap] }],
    ['the log has lost something', { log: without(4), flow: without(5), clickhouse: all, gaps: [gap] }],
  ])('are held against each other alone, and counted apart: %s', async (_what, had) => {
    const report = await judged({ ...had, isUnread: true, hasNoBuckets: true })
    expect(report.rows.map(({ verdict }) => verdict)).toEqual(['no candles read'])
    expect(isSound(report)).toBe(true)
    expect(reportText(report, 'candles')).toMatch(/0 equal, 0 explained by a gap, 0 wrong, 1 without candles/)
    expect(reportJson(report, 'candles')).toMatchObject({ rows: [{ source: null, verdict: 'no candles read' }] })
  })

  it.each<[string, Had, number]>([
    ['the flow', { log: all, flow: without(5), clickhouse: all }, 1],
    ['ClickHouse', { log: all, flow: all, clickhouse: without(5) }, 1],
    ['a bucket', { log: all, flow: dear, clickhouse: all }, 0],
  ])('are wrong where %s differs', async (_what, had, lost) => {
    const report = await judged({ ...had, isUnread: true, hasNoBuckets: true })
    expect(isSound(report)).toBe(false)
    expect(lostAndDoubled(report.rows)).toEqual({ lost, doubled: 0 })
  })
})

describe('accounts of a market that stands still', () => {
  it('are compared as far back as the source answers ranges of time, so that an older gap makes nothing wrong', async () => {
    const had = { log: without(6), flow: without(6), clickhouse: without(6), feedGaps: [feedGap], keptFrom: 7 }
    const window = stillWindow(5 * 3_600_000_000 + 7 * BUCKET + 1)
    expect(window).toEqual({ from: 7 * BUCKET, to: Infinity })
    const report = await judged({ ...had, window })
    expect(report.rows.map(({ verdict, source }) => [verdict, source])).toEqual([['OK', totals([7, 8, 9])]])
  })

  it('begin at the start of time where it is younger than that', () => {
    expect(stillWindow(7 * BUCKET).from).toBe(0)
  })
})

/** Trade 6, which the feeds could not have, is there; and once more under another id. */
const doubled = [...all, { bucket: 6, id: 12 }]
const dearInGap = [...without(6), { bucket: 6, price: 101 }]

describe('accounts within a gap of the feeds', () => {
  it.each([true, false])(
    'are explained where ours have less, or all of it; buckets of the source: %s',
    async (tells) => {
      for (const had of [all, without(6)]) {
        const report = await judged({ log: had, flow: had, clickhouse: had, feedGaps: [feedGap], hasNoBuckets: !tells })
        expect(report.rows.map(({ verdict }) => verdict)).toEqual([had === all ? 'OK' : 'explained by gap'])
      }
    },
  )

  it.each([true, false])('are wrong where ours have more; buckets of the source: %s', async (tells) => {
    const had = { log: doubled, flow: doubled, clickhouse: doubled, feedGaps: [feedGap], hasNoBuckets: !tells }
    const report = await judged(had)
    expect(report.rows.map(({ verdict }) => verdict)).toEqual(['WRONG'])
    expect(lostAndDoubled(report.rows)).toEqual({ lost: 0, doubled: 1 })
    expect(reportText(report, 'ledger')).toContain('+1 trades, buy 1, sell 0 within gaps')
  })

  it('are wrong where ours have as many, at another price', async () => {
    const had = { log: dearInGap, flow: dearInGap, clickhouse: dearInGap, feedGaps: [feedGap] }
    expect(isSound(await judged(had))).toBe(false)
  })

  it('may have the trades at both ends of it, which the source has as well', async () => {
    const ends = { ...feedGap, from_time: 5 * BUCKET, to_time: 7 * BUCKET }
    const report = await judged({ log: without(6), flow: without(6), clickhouse: without(6), feedGaps: [ends] })
    expect(report.rows.map(({ verdict }) => verdict)).toEqual(['explained by gap'])
  })

  it('may have what the source began to count later, and no more behind that', async () => {
    const had = { log: all, flow: all, clickhouse: all, begin: 3 }
    const early = { ...feedGap, from_time: 1 * BUCKET, to_time: 5 * BUCKET }
    expect(isSound(await judged({ ...had, feedGaps: [early] }))).toBe(true)
    const more = [...all, { bucket: 4, id: 12 }]
    expect(isSound(await judged({ log: more, flow: more, clickhouse: more, begin: 3, feedGaps: [early] }))).toBe(false)
  })
})
