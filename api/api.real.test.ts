import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { periods, windowOf } from '../processors/cvd/periods.ts'
import { periodNames } from '../processors/cvd/state.ts'
import { startChild, type Child } from '../infra/local/child.ts'
import { tradeVenues, usualTradeVenues } from '../schemas/venues.ts'
import { openDatabase } from './views/clickhouse.ts'
import { createMetrics } from './metrics.ts'
import { FakeDatabase, instrumentOf, type FakeCandle } from './testing/fake-database.ts'
import { fillLog, fillViews, putCvd, putMarks } from './testing/facts.ts'
import { surroundings, type Surroundings } from './testing/surroundings.ts'
import { readUnsubscribed } from './views/covered.ts'
import { TtlCache } from './request/cache.ts'
import type { Database } from './views/database.ts'
import { readGaps } from './views/gaps.ts'
import type { FlowPositions } from './views/flow.ts'
import { readFlow } from './views/history.ts'
import { readPast, type Past } from './views/past.ts'
import { readPartitionTime } from './views/partition-times.ts'
import { floorTo } from './views/range.ts'
import { readCandles } from './views/ohlcv.ts'
import { microsSql, timeParam } from './views/time.ts'

const PARTITIONS = 2
const SECOND = 1_000_000
const HOUR = 3_600 * SECOND
/** Longer than these tests take. */
const AHEAD_MS = 900_000
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** A moment of this run; every record lies around it. */
const now = Date.now() * 1000
const open = now - (now % (10 * SECOND))

let folder: string
let own: Surroundings
let real: Database & { close(): Promise<void> }
let api: Child | undefined
const fake = new FakeDatabase()

beforeAll(async () => {
  own = await surroundings(inject('parts'), { name: 'api', partitions: PARTITIONS })
  const { env, log, codec, database } = own
  folder = mkdtempSync(path.join(tmpdir(), 'api-'))
  real = openDatabase({ ...inject('parts').clickhouse, database }, createMetrics())
  fillViews(fake, now)
  fake.pasts = candles()
  fake.gaps = [...crowdedGaps(), ...fake.gaps]
  await fillLog({ log, codec, partitions: PARTITIONS, now }, fake)
  await vi.waitFor(arrived, { timeout: 60_000, interval: 100 })
  api = await startChild({
    name: 'api',
    command: [process.execPath, file('main.ts')],
    env,
    logFile: path.join(folder, 'api.log'),
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 5_000,
  })
}, 180_000)

afterAll(async () => {
  await api?.stop()
  await real.close()
  await own.close()
  rmSync(folder, { recursive: true, force: true })
})

const ended = ['binance:perp:BTC']

/** Each topic is read on its own: all of them have to be there. */
async function arrived(): Promise<void> {
  const times = await Promise.all([0, 1].map((partition) => readPartitionTime(real, 'derived.flow', partition)))
  const [flows] = await real.query('SELECT countIf(v = 2) AS rows FROM flow_10s', {})
  const [pasts] = await real.query('SELECT uniqExact(instrument, seconds, start) AS rows FROM venue_candles_log', {})
  const gaps = await readGaps({ database: real, partitions: PARTITIONS }, 'btc', 0, now)
  const rows = [flows, pasts].map((counted) => Number((counted as { rows: unknown }).rows))
  expect([...times, ...rows, gaps.length]).toEqual([now, now, fake.flows.length, fake.pasts.length, 3])
  const unsubscribed = await readUnsubscribed(fake, 'btc', ended)
  expect(await readUnsubscribed(real, 'btc', ended)).toHaveLength(unsubscribed.length)
}

async function isReady(): Promise<void> {
  if ((await get('/readyz')).status !== 200) throw new Error('the log is being read')
}

async function get(target: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${api?.url}${target}`)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

function byVenue<Row extends { venue: string }>(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => `${a.venue}|${JSON.stringify(a)}`.localeCompare(`${b.venue}|${JSON.stringify(b)}`))
}

/**
 * Hours but for two stretches, and minutes of the venues, before the trades and beside them; Coinbase does not say what takers
 * bought, and at some times Binance had no trade.
 */
function candles(): FakeCandle[] {
  const of = (seconds: number, count: number): FakeCandle[] =>
    Array.from({ length: count }, (_, index): FakeCandle[] => {
      const start = floorTo(open, seconds * SECOND) - index * seconds * SECOND
      const about = { asset: 'btc', start, seconds, open: 100 + index, close: 90 + index, volume: 8 }
      const binance = index % 8 === 5 ? { open: 5_000, close: 5_000, volume: 0, takerBuy: 0 } : { takerBuy: 3 }
      return [
        { ...about, venue: 'binance', ...binance, ...(index % 3 === 1 ? { isArchive: true as const } : {}) },
        { ...about, venue: 'coinbase', takerBuy: null },
      ]
    }).flat()
  const isRead = (_: FakeCandle, index: number): boolean => index < 200 || (index >= 220 && index < 700) || index >= 710
  return [...of(3600, 400).filter(isRead), ...of(60, 200)]
}

/** Of another asset: one that is lost for good, and as many later ones as are looked at, all filled. */
function crowdedGaps(): FakeDatabase['gaps'] {
  const lost = { asset: 'eth', venue: 'okx', state: 'unfillable', missing: 4, from: now - HOUR, to: now - HOUR + 1 }
  const filled = { ...lost, venue: 'binance', state: 'filled' }
  const times = Array.from({ length: 1_000 }, (_, index) => now - HOUR + 10 + index)
  return [lost, ...times.map((from) => ({ ...filled, from, to: from + 1 }))]
}

const hoursAgo = (hours: number): number => floorTo(open, HOUR) - hours * HOUR
const pastOf = (venue: string, until: number): Past => {
  return { instrument: instrumentOf({ venue, asset: 'btc' }), venue, since: hoursAgo(399), until, holes: [] }
}
/** None, and some whose trades count from times on that lie among them. */
const pasts: readonly (readonly Past[])[] = [
  [],
  [pastOf('binance', hoursAgo(2)), pastOf('coinbase', hoursAgo(30))],
  [pastOf('binance', Infinity)],
]
/** Of buckets that are no whole hours trades may begin to count at any minute. */
const pastsOf = (width: number): readonly (readonly Past[])[] => {
  const minutes = (hours: number, count: number): number => hoursAgo(hours) + count * 60 * SECOND
  const within = [pastOf('binance', minutes(2, 17)), pastOf('coinbase', minutes(1, 4))]
  return width % HOUR === 0 ? pasts : [...pasts, within]
}
const ofTakers = (past: readonly Past[]): Past[] => past.filter(({ venue }) => venue === 'binance')

/** Nothing is taken from memory. */
const positionsOf = (sumsTo: number): FlowPositions => ({
  now,
  hoursTo: floorTo(sumsTo, HOUR),
  fivesTo: floorTo(sumsTo, 300 * SECOND),
  storedTo: Infinity,
  held: [],
})

describe('ClickHouse gives what the plainest computation gives', () => {
  const same = async <Rows>(read: (database: Database) => Promise<Rows>, tidy = (rows: Rows): unknown => rows) => {
    const expected = await read(fake)
    expect(tidy(await read(real))).toEqual(tidy(expected))
    return expected
  }

  it.each([60, 3600])('for what was read back, buckets of %i s', async (seconds) => {
    const traded = ['binance', 'coinbase'].map((venue) => {
      return { instrument: instrumentOf({ venue, asset: 'btc' }), venue, first: hoursAgo(1) + 1, newest: now }
    })
    const subject = { asset: 'btc', traded, counted: [{ venue: 'binance' }, { venue: 'coinbase' }] }
    for (const of of ['all', 'takers'] as const) {
      const past = await same(
        (database) =>
          readPast({ database, cache: new TtlCache({ keysMax: 1, clock: Date.now }) }, subject, seconds * SECOND, of),
        (rows) => rows.toSorted((a, b) => a.venue.localeCompare(b.venue)),
      )
      expect(past.map(({ holes }) => holes.length)).toEqual(past.map(() => (seconds === 60 ? 0 : 2)))
    }
  })

  it.each([60, 180, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 604_800])(
    'for the flow in buckets of %i s',
    async (seconds) => {
      const width = seconds * SECOND
      const from = floorTo(open, width) - 20 * width
      const range = { asset: 'btc', width, from, to: from + 21 * width, anchor: undefined }
      for (const past of pastsOf(width).map(ofTakers))
        for (const sumsTo of [0, open]) {
          const asked = { ...range, past, positions: positionsOf(sumsTo) }
          const rows = await same((database) => readFlow(database, asked), byVenue)
          expect(rows.length).toBeGreaterThan(4)
        }
    },
  )

  it.each([70, 3600, 3670, 50_000])('for the flow from an anchor %i s ago on', async (ago) => {
    const [width, anchor] = [300 * SECOND, floorTo(open, HOUR) - ago * SECOND]
    const range = { asset: 'btc', width, from: floorTo(open, width) - 2 * width, to: open + width, anchor }
    for (const past of pastsOf(width).map(ofTakers))
      for (const sumsTo of [0, open]) {
        const asked = { ...range, past, positions: positionsOf(sumsTo) }
        const rows = await same((database) => readFlow(database, asked), byVenue)
        expect(rows.length).toBeGreaterThan(1)
      }
  })

  it.each([
    ['binance', 'oldest', 5],
    ['all', 'oldest', 1000],
    ['all', 'newest', 7],
    ['coinbase', 'newest', 1000],
    ['kraken', 'newest', 10],
    ["o'; drop table x --", 'newest', 10],
  ] as const)('for candles of %s, the %s %i', async (venue, side, limit) => {
    const instruments = tradeVenues
      .filter((row) => venue === 'all' || row.venue === venue)
      .map((row) => instrumentOf({ venue: row.venue, asset: 'btc' }))
    const range = { asset: 'btc', instruments, limit, from: open - (open % (24 * HOUR)) - 48 * HOUR, to: open + HOUR }
    const venueOf = (name: string): boolean => venue === 'all' || venue === name
    for (const width of [300 * SECOND, HOUR, 24 * HOUR, 7 * 24 * HOUR])
      for (const past of pastsOf(width))
        for (const sumsTo of [0, open]) {
          const asked = {
            ...range,
            width,
            past: past.filter(({ venue }) => venueOf(venue)),
            positions: positionsOf(sumsTo),
          }
          await same((database) => readCandles(database, asked, side))
        }
  })

  it('for the time in which nobody was subscribed', async () => {
    const [stretch] = await same((database) => readUnsubscribed(database, 'btc', ended))
    expect(stretch).toMatchObject({ instrument: 'binance:perp:BTC', from: now - 30 * HOUR })
    expect(await same((database) => readUnsubscribed(database, 'btc', ['okx:perp:BTC']))).toEqual([])
    expect(await same((database) => readUnsubscribed(database, 'eth', ended))).toEqual([])
  })

  it('for gaps', async () => {
    expect(
      await same((database) => readGaps({ database, partitions: PARTITIONS }, 'btc', now - 2 * HOUR, now)),
    ).toHaveLength(2)
    expect(
      await same((database) => readGaps({ database, partitions: PARTITIONS }, 'btc', now - 80 * SECOND, now)),
    ).toHaveLength(1)
    expect(
      await same((database) => readGaps({ database, partitions: PARTITIONS }, 'btc', now - 80 * SECOND + 1, now)),
    ).toHaveLength(0)
  })

  it('for gaps of which some stay, however many were filled since', async () => {
    const [first, ...others] = await readGaps({ database: real, partitions: PARTITIONS }, 'eth', 0, now)
    expect(first).toMatchObject({ venue: 'okx', state: 'unfillable' })
    expect(others).toHaveLength(999)
  })
})

describe('the API on the real parts', () => {
  // However long all else took, the venues are not stale: feeds and CVD have told that they live.
  let time: number
  beforeAll(async () => {
    await vi.waitFor(isReady, { timeout: 60_000, interval: 100 })
    time = (Date.now() + AHEAD_MS) * 1000
    const target = { ...own, partitions: PARTITIONS, now }
    await putCvd(target, fake, time)
    await putMarks(target, time)
    await vi.waitFor(async () => {
      const times = await Promise.all([0, 1].map((partition) => readPartitionTime(real, 'derived.flow', partition)))
      if (times.some((told) => told !== time)) throw new Error('no marks yet')
    })
  }, 90_000)

  it.each(periodNames)('answers CVD of %s with the sums that ClickHouse has of trades and candles', async (period) => {
    const { status, body } = await get(`/cvd/btcusdt?period=${period}`)
    expect(status).toBe(200)
    const { from, to } = windowOf(periods[period], time)
    const within = `bucket >= ${timeParam('from')} AND bucket < ${timeParam('to')}`
    const until = `(SELECT mapFromArrays(groupArray(instrument), groupArray(taker_until))
      FROM venue_past(asset = 'btc', unit = 3600) WHERE takers)[instrument]`
    const own = `asset = 'btc' AND venue IN {venues:Array(String)}`
    const sums = `SELECT sumIf(buy, of_period) AS buy_volume, sumIf(sell, of_period) AS sell_volume,
      sumIf(buy_quote, of_period) AS buy_volume_usd, sumIf(buy - sell, part >= 0) AS cvd FROM (
        SELECT buy, sell, buy_quote, 0 AS part, ${within} AND ${microsSql('bucket')} >= ${until} AS of_period
          FROM flow_10s WHERE ${own}
        UNION ALL SELECT assumeNotNull(taker_buy), volume - assumeNotNull(taker_buy), assumeNotNull(taker_buy) *
          (high + low + close) / 3, -1, 1 FROM venue_candles WHERE ${own} AND seconds = 3600 AND taker_buy IS NOT NULL
            AND start >= ${timeParam('from')} AND ${microsSql('start')} < ${until})`
    const venues = usualTradeVenues.map(({ venue }) => venue)
    const wanted = (await real.query(sums, { from, to, venues }))[0] as Record<string, number>
    expect(body).toMatchObject({
      ...wanted,
      buy_volume_usd: expect.closeTo(wanted['buy_volume_usd'] ?? 0, 6) as number,
    })
    const isPast = period === '7d'
    expect(body).toMatchObject({ source: isPast ? 'mixed' : 'trades', exchanges: { bybit: { source: 'trades' } } })
  })

  it('answers CVD with what is known of its venues', async () => {
    const { body } = await get('/cvd/BTC?period=7d')
    expect(body).toMatchObject({ symbol: 'BTC', exchanges: { binance: { status: 'live' }, okx: { status: 'gap' } } })
  })

  it('answers history and candles', async () => {
    const history = await get('/cvd/history/BTC?interval=1d&limit=3')
    expect(history.status).toBe(200)
    expect(history.body['points']).toHaveLength(3)
    const candles = await get('/ohlcv/BTC?interval=1d&exchange=all')
    expect(candles.status).toBe(200)
    expect(candles.body['candles']).toEqual(expect.arrayContaining([expect.objectContaining({ completeness: 'gap' })]))
  })

  it('writes a want for a symbol that nobody streams', async () => {
    const { status, body } = await get('/cvd/wif')
    expect([status, body['status']]).toEqual([202, 'warming_up'])
    const wants: unknown[] = []
    for await (const records of own.log.reader().toEnd('control.subscriptions', 0))
      for (const { key, value } of records)
        wants.push([key?.toString(), value === null ? null : own.codec.decode(value)])
    const value = {
      asset: 'wif',
      wanter: 'api',
      asked: expect.any(Number) as number,
      until: expect.any(Number) as number,
    }
    expect(wants).toEqual([['wif|api', { type: 'subscription', value }]])
  })

  it('is ready, and knows its health and metrics', async () => {
    expect((await get('/readyz')).body).toMatchObject({ status: 'ready' })
    expect((await get('/healthz')).body).toMatchObject({ mode: 'demo', parts: { clickhouse: 'ok' }, open_gaps: 1 })
    expect(await (await fetch(`${api?.url}/metrics`)).text()).toContain('mda_api_query_seconds_count{service="api"}')
  })
})
