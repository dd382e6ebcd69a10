import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CvdTestDriver, mark, SECOND, T0 } from '../../processors/cvd/testing/records.ts'
import { takeIn } from '../../processors/present/present.ts'
import { emptyPresent } from '../../processors/present/state.ts'
import type { Flow, FlowFive, FlowHour, Micros, Records } from '../../schemas/records.ts'
import { partsOf, usualTradeVenues } from '../../schemas/venues.ts'
import { Present } from '../present/present.ts'
import { batches, rowsOf } from '../testing/flow-logs.ts'
import type { Database } from '../views/database.ts'
import { flowPositions, tradedOf } from '../views/flow.ts'
import { readFlow, type FlowRow } from '../views/history.ts'
import { readCandles, type CandleRow } from '../views/ohlcv.ts'
import { floorTo } from '../views/range.ts'
import { bounded, LAW_MS } from '../../processors/kernel/testing/law.ts'

const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

type TimedFlow = Omit<Flow, 'bucket' | 'final'> & { readonly at: Micros }

/** The newest version of each row of hours or five minutes. */
function sumsOf<Type extends 'flow_hour' | 'flow_five'>(fed: CvdTestDriver, type: Type): Records[Type][] {
  const rows = new Map<string, Records[Type]>()
  for (const { key, message } of fed.emitted) {
    const { v = 0 } = rows.get(key) ?? {}
    if (message?.type === type && message.value.v >= v) rows.set(key, message.value as Records[Type])
  }
  return [...rows.values()]
}

/** The three tables, read by the bounds of the queries as these say. */
class Tables implements Database {
  readonly #rows: readonly Flow[]
  readonly #hours: readonly FlowHour[]
  readonly #fives: readonly FlowFive[]
  /** Whether rows of buckets were asked for. */
  areBucketsAsked = false

  constructor(fed: CvdTestDriver) {
    this.#rows = rowsOf(fed)
    this.#hours = sumsOf(fed, 'flow_hour')
    this.#fives = sumsOf(fed, 'flow_five')
  }

  query(sql: string, params: Readonly<Record<string, unknown>>): Promise<readonly unknown[]> {
    const value = (name: string): number => Number(params[name] ?? 0)
    const isCandles = sql.includes('argMin')
    const from = isCandles ? value('from') : value('anchor')
    const begin = isCandles ? from : value('whole')
    const hours = sql.includes('FROM flow_hours_log')
      ? this.#hours.filter(({ hour }) => hour >= begin && hour < value('hours'))
      : []
    const firstFive = Math.max(begin, value('hours'), value('begun'))
    const fives = sql.includes('FROM flow_fives_log')
      ? this.#fives.filter(({ start }) => start >= firstFive && start < value('fives'))
      : []
    const isBucket = (bucket: Micros): boolean =>
      bucket >= value('fives') || bucket < value('whole') || (bucket >= value('hours') && bucket < value('begun'))
    const asksBuckets = sql.includes('FROM flow_log')
    this.areBucketsAsked ||= asksBuckets
    const rows = asksBuckets ? this.#rows.filter(({ bucket }) => isBucket(bucket) && bucket < value('to')) : []
    const read: TimedFlow[] = [
      ...hours.map(({ hour: at, ...row }) => ({ ...row, at })),
      ...fives.map(({ start: at, ...row }) => ({ ...row, at })),
      ...rows.map(({ bucket: at, ...row }) => ({ ...row, at })),
    ].filter((row) => row.asset === params['asset'] && row.at >= from)
    return Promise.resolve(isCandles ? candlesOf(read, value('width')) : flowsOf(read, value('from'), value('width')))
  }
}

const sum = (rows: readonly TimedFlow[], of: (row: TimedFlow) => number): number =>
  rows.reduce((total, row) => total + of(row), 0)

function flowsOf(rows: readonly TimedFlow[], from: Micros, width: Micros): object[] {
  const keyOf = ({ instrument, at }: TimedFlow): string =>
    [partsOf(instrument).venue, at < from ? -1 : floorTo(at, width)].join('|')
  return [...Map.groupBy(rows, keyOf)].map(([key, own]) => ({
    venue: key.split('|')[0],
    time_us: Number(key.split('|')[1]),
    buy_sum: sum(own, ({ buy }) => buy),
    sell_sum: sum(own, ({ sell }) => sell),
    late_parts: 0,
    past_least: 0,
    past_most: 0,
  }))
}

function candlesOf(rows: readonly TimedFlow[], width: Micros): object[] {
  const slots = [...Map.groupBy(rows, ({ at }) => floorTo(at, width))].toSorted(([a], [b]) => a - b)
  return slots.map(([time, own]) => ({
    time_us: time,
    o: own.toSorted((a, b) => a.open_time - b.open_time || a.first_id - b.first_id)[0]?.open,
    h: Math.max(...own.map(({ high }) => high)),
    l: Math.min(...own.map(({ low }) => low)),
    c: own.toSorted((a, b) => b.close_time - a.close_time || b.last_id - a.last_id)[0]?.close,
    buy_sum: sum(own, ({ buy }) => buy),
    sell_sum: sum(own, ({ sell }) => sell),
    trades_sum: sum(own, (row) => row.buy_count + row.sell_count),
    late_parts: 0,
    past_least: 0,
    past_most: 0,
  }))
}

/** Which buckets came later is told of buckets only. */
const volumesOf = (rows: readonly (FlowRow | CandleRow)[]): unknown[] =>
  rows.map((row) => ({ ...row, backfilled: null })).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

describe('flow by hours, five minutes, buckets and memory', () => {
  it('is what adding up all rows of buckets gives', { timeout: LAW_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(batches, fc.nat(400), fc.nat(40), async (log, back, lag) => {
        const fed = new CvdTestDriver()
        let time = T0
        for (const batch of log) {
          for (const { type, value } of batch) if (type === 'mark') time = Math.max(time, value.time)
          time += 11 * SECOND // what came late is in the hours when the next bucket closes
          fed.batch(...batch, mark(time))
        }
        const state = emptyPresent()
        for (const [offset, { topic, message }] of fed.emitted.entries())
          if (message !== null) takeIn(state, { topic, offset, message })
        const present = new Present(() => [state], emptyPresent())
        const told = (state.time.get('derived.flow') ?? 0) - lag * SECOND
        for (const asset of ['btc', 'eth']) await compare(fed, present, { asset, told, back })
      }),
      { ...bounded, numRuns: 300 },
    )
  })
})

interface ComparedAt {
  readonly asset: string
  readonly told: Micros
  readonly back: number
}

async function compare(fed: CvdTestDriver, present: Present, { asset, told, back }: ComparedAt): Promise<void> {
  const places = flowPositions(present, asset, told)
  const plain = { ...places, hoursTo: 0, fivesTo: 0, storedTo: Infinity, held: [] }
  const instruments = tradedOf({ present, asset, counted: usualTradeVenues }).map(({ instrument }) => instrument)
  const tables = new Tables(fed)
  for (const width of [MINUTE, 5 * MINUTE, HOUR]) {
    const to = floorTo(places.now, width) + width
    const range = { asset, width, to, from: Math.max(0, to - back * width) }
    for (const anchor of [undefined, range.from - (back % 100) * MINUTE]) {
      const flow = (at: typeof places) => readFlow(tables, { ...range, positions: at, anchor, past: [] })
      expect(volumesOf(await flow(places))).toEqual(volumesOf(await flow(plain)))
    }
    const candles = (at: typeof places, from = tables) =>
      readCandles(from, { ...range, instruments, limit: 1000, positions: at, past: [] }, 'oldest')
    const others = new Tables(fed)
    expect(volumesOf(await candles(places, others))).toEqual(volumesOf(await candles(plain)))
    expect(others.areBucketsAsked && width > MINUTE && places.storedTo < Infinity).toBe(false)
  }
}
