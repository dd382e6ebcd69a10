import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { Records } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { priceVenues, tradeVenues, usualTradeVenues } from '../../schemas/venues.ts'
import { startChild, type Child } from '../../infra/local/child.ts'
import { openDatabase } from '../views/clickhouse.ts'
import { createMetrics } from '../metrics.ts'
import { startCuttingProxy, type CuttingProxy } from '../console/testing/cutting-proxy.ts'
import type { Present } from '../present/present.ts'
import { PresentTable } from '../present/present-table.ts'
import { listenTo, type Events } from '../testing/events.ts'
import { FakeDatabase } from '../testing/fake-database.ts'
import { fakePresent } from '../testing/fake-present.ts'
import { fillLog, fillViews } from '../testing/facts.ts'
import { fillAsset, fillTokens } from '../testing/market-facts.ts'
import { fillMarketLog } from '../testing/market-log.ts'
import { ReplayedApi } from '../testing/replayed-api.ts'
import { surroundings, type Surroundings } from '../testing/surroundings.ts'
import { Unread } from '../log/unread.ts'
import { readAudits } from '../views/health.ts'
import type { Database } from '../views/database.ts'
import { allFunding, fundingOf } from '../views/funding.ts'
import {
  readSettlements,
  marks,
  openInterests,
  readFirst,
  readNewest,
  spotPrices,
  topTraders,
  type Reading,
} from '../views/readings.ts'
import { readLiquidated } from '../views/liquidated.ts'
import { countableOf, countedOf, liquidationsOf, observedOf } from '../views/liquidations.ts'
import { priceOf, heldAgainstAt, tickersOf } from '../views/prices.ts'
import { ratiosOf } from '../views/perpetuals.ts'

const PARTITIONS = 2
/** A scan that is kept for a moment; whether all is well. */
const isOfNoMoment = /extreme|healthz|readyz|metrics|screener/
const MINUTE = 60_000_000
const HOUR = 60 * MINUTE
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** A moment of this run; every record lies around it. */
const now = Date.now() * 1000

let folder: string
let own: Surroundings
let real: Database & { close(): Promise<void> }
let api: Child | undefined
let table: PresentTable
let line: CuttingProxy
let start: (name: string) => Promise<Child>
let send: <Type extends 'composite_price' | 'liquidation'>(
  topic: TopicName,
  type: Type,
  value: Records[Type],
) => Promise<void>
const fake = new FakeDatabase()

beforeAll(async () => {
  const { brokers, registryUrl, clickhouse } = inject('parts')
  folder = mkdtempSync(path.join(tmpdir(), 'api-market-'))
  own = await surroundings(inject('parts'), { name: 'api-market', partitions: PARTITIONS })
  const { env, log, codec, database, namespace } = own
  real = openDatabase({ ...clickhouse, database }, createMetrics())
  fillViews(fake, now)
  fillAsset(fake.market, 'btc', { now, price: 100 })
  fillAsset(fake.market, 'eth', { now, price: 7 })
  fillTokens(fake.market, now)
  const target = { log, codec, partitions: PARTITIONS, now }
  await fillLog(target, fake)
  await fillMarketLog(target, fake.market)
  await vi.waitFor(arrived, { timeout: 60_000, interval: 100 })
  const where = { brokers, namespace, registryUrl, clientId: 'api-test-present', partitions: PARTITIONS }
  table = new PresentTable({ ...where, log: pino({ level: 'silent' }), unread: new Unread() })
  await table.read(60_000)
  line = await startCuttingProxy(clickhouse.url)
  start = (name) =>
    startChild({
      name,
      command: [process.execPath, file('../main.ts')],
      env: { ...env, CLICKHOUSE_URL: line.url },
      logFile: path.join(folder, `${name}.log`),
      ready: 'message',
      readyWithinMs: 60_000,
      stopWithinMs: 5_000,
    })
  send = async (topic, type, value) => {
    const record = { key: value.asset, value: codec.encode(topic, type, value), time: Date.now() }
    await log.writer().send(topic, partitionOf(value.asset, PARTITIONS), [record])
  }
  api = await start('api')
}, 180_000)

afterAll(async () => {
  await api?.stop()
  await line.close()
  await table.close()
  await real.close()
  await own.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What is still asked of ClickHouse has to be there. */
async function arrived(): Promise<void> {
  const settlements = await readSettlements(real, { asset: 'eth', venue: 'okx', from: 0, to: now, limit: 100 })
  expect(settlements).toHaveLength(12)
}

const window = { from: now - 24 * HOUR, now: now - 20_000_000 }
/** Of the last hour and of all. */
const figuresOf = (present: Present, asset: string | null): unknown[] => {
  const { now } = window
  return [now - HOUR, window.from].map((from) => countedOf(countableOf(present, asset, { from, now }).sums))
}
/** Fields by name: a record that was read has them in the order of its schema. */
const text = (rows: readonly unknown[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row as object).toSorted(([a], [b]) => (a < b ? -1 : 1)))).toSorted()

function held(): Present {
  if (table.now === undefined) throw new Error('the log was read')
  return table.now
}

function expected(): Present {
  const present = fakePresent(fake, PARTITIONS).now
  if (present === undefined) throw new Error('facts are there at once')
  return present
}

describe('the present of the log is what the same fold gives of its facts', () => {
  it.each<[string, (present: Present) => readonly unknown[], number]>([
    ['the funding of an asset', (present) => fundingOf(present, 'btc'), 3],
    ['the funding of all markets', allFunding, 6],
    ['the spot markets of an asset', (present) => tickersOf(present, 'eth'), 5],
    ['the spot markets of some assets', (present) => tickersOf(present, 'btc', 'sol'), 5],
    ['tokens', (present) => [...present.common.token.values()], 2],
    ['top traders’ positions', (present) => ratiosOf(present, 'btc'), 3],
    ['liquidation risk', (present) => [...present.of('btc').risk.values()].filter(({ asset }) => asset === 'btc'), 1],
    ['settled rates', (present) => [...present.of('eth').settled.values()].filter(({ asset }) => asset === 'eth'), 3],
    ['all liquidations', (present) => [...liquidationsOf(present, null, { from: now - 24 * HOUR, now })], 6],
    [
      'an asset’s liquidations',
      (present) => [...liquidationsOf(present, 'eth', { from: now - 24 * HOUR, now: now - HOUR })],
      1,
    ],
    ['an asset without any', (present) => ratiosOf(present, "x'; drop table y --"), 0],
  ])('for %s', (_, read, count) => {
    const rows = read(expected())
    expect(rows).toHaveLength(count)
    expect(text(read(held()))).toEqual(text(rows))
  })

  it.each<[string, (present: Present) => unknown]>([
    ['the composite price', (present) => priceOf(present, 'eth')],
    ['a spot market at a moment', (present) => heldAgainstAt(present, 'eth', now)],
    ['a price that there is not', (present) => priceOf(present, 'sol')],
    ['what was observed since', (present) => observedOf(present, 'btc', { since: now - 2 * HOUR, until: now - HOUR })],
    ['the figures of liquidations', (present) => figuresOf(present, null)],
    ['no figures', (present) => figuresOf(present, 'sol')],
  ])('for %s', (_, read) => {
    expect(read(held())).toEqual(read(expected()))
  })

  it('for who feeds it, what is subscribed and how far it is', () => {
    const { channels, times, subscriptions } = held().world()
    expect(channels.filter(({ writer }) => writer === 'feeds-b').length).toBeGreaterThanOrEqual(21)
    expect(times.get('market.tickers/1')).toBe(now)
    const streamed = tradeVenues.map(({ venue }) => venue)
    expect(
      [...subscriptions.values()]
        .flat()
        .map(({ venue }) => venue)
        .toSorted(),
    ).toEqual(streamed.toSorted())
    const spot = tradeVenues.filter(({ market }) => market === 'spot').map(({ venue }) => venue)
    const listed = held().catalogue(usualTradeVenues).venuesOf('btc', 'spot')
    expect(new Set(listed)).toEqual(new Set([...priceVenues, ...spot]))
  })
})

const seriesOf = [
  ['open interest', openInterests],
  ['mark prices', marks],
  ['spot prices', spotPrices],
  ['top traders', topTraders],
] as const
const byVenue = (said: ReadonlyMap<string, Reading>): Reading[] =>
  [...said.values()].toSorted((a, b) => a.venue.localeCompare(b.venue))

describe('ClickHouse gives what the plainest computation gives', () => {
  it.each<[string, (database: Database) => Promise<unknown>]>([
    [
      'the newest settlements',
      (database) => readSettlements(database, { asset: 'btc', venue: 'bybit', from: 0, to: now, limit: 5 }),
    ],
    [
      'the oldest settlements from a start',
      (database) => {
        const range = { asset: 'btc', venue: 'bybit', from: now - 50 * HOUR, to: now - 9 * HOUR, limit: 3 }
        return readSettlements(database, range, 'oldest')
      },
    ],
    ...seriesOf.map(([name, series]): [string, (database: Database) => Promise<unknown>] => [
      `what venues said of ${name}`,
      async (database) => {
        const range = { asset: 'btc', from: now - 50 * MINUTE, to: now, held: [] }
        const [narrow, wide] = await Promise.all(
          [MINUTE, 8 * HOUR].map((width) => readNewest(database, series, { ...range, width })),
        )
        return [narrow, wide].map((buckets) =>
          [...(buckets ?? [])].toSorted(([a], [b]) => a - b).map(([time, said]) => [time, byVenue(said)]),
        )
      },
    ]),
    [
      'what venues said in an earlier hour, and first',
      async (database) => {
        const range = { asset: 'eth', from: now - 150 * MINUTE, to: now - 100 * MINUTE, held: [], width: HOUR }
        const buckets = await readNewest(database, openInterests, range)
        const firsts = [openInterests, marks].map((series) => readFirst(database, series, 'eth'))
        return [[...buckets.values()].map(byVenue), await Promise.all(firsts)]
      },
    ],
    [
      'liquidations by bucket, venue and side',
      async (database) => {
        const range = { asset: 'btc', from: now - 26 * HOUR, to: now - 10 * MINUTE, now }
        const rows = [MINUTE, HOUR, 7 * 24 * HOUR].map((width) =>
          readLiquidated(database, fakePresent(new FakeDatabase(), PARTITIONS).now ?? held(), { ...range, width }),
        )
        return (await Promise.all(rows)).map((each) => each.toSorted((a, b) => a.bucket - b.bucket))
      },
    ],
  ])('for %s, in order', async (_, read) => {
    const rows = await read(fake)
    expect(JSON.stringify(rows)).toMatch(/\d{3}/) // there is something to compare
    expect(await read(real)).toEqual(rows)
  })

  it('for the audit', async () => {
    expect(await readAudits(real)).toEqual(await readAudits(fake))
  })
})

describe('the API on the real parts', () => {
  const ofNow = [
    '/funding-rate/extreme',
    '/funding-rate/ETHUSDT',
    '/api/v1/market/bitcoin',
    '/api/v1/prices?symbols=btc,eth',
    '/price/BTC',
    '/liquidation/heatmap/BTC',
    '/cvd/BTC?period=24h',
    '/liquidation/recent?symbol=ETHUSDT',
    '/futures/funding-compare/BTC',
    '/futures/basis/ETH',
    '/futures/predicted-funding/BTC',
    '/futures/long-short/BTC',
    '/futures/open-interest/BTC',
    '/screener?where=open_interest_usd>0',
    '/readyz',
  ]
  const ask = async (target: string): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(`${api?.url}${target}`)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  beforeAll(async () => {
    const isReady = async (): Promise<void> => {
      if ((await ask('/readyz')).status !== 200) throw new Error('the log is being read')
    }
    await vi.waitFor(isReady, { timeout: 60_000, interval: 100 })
  }, 70_000)

  const ofRanges = [
    '/funding-rate/history/BTC?exchange=okx&limit=3',
    '/futures/open-interest/history/BTC?interval=1m',
    '/futures/basis/history/BTC?interval=30m',
    '/futures/long-short/history/BTC',
    '/liquidation/history/BTC?interval=3m',
    '/liquidation/heatmap/history/BTC?interval=5m',
  ]
  it.each([...ofNow, ...ofRanges])('answers %s', async (target) => {
    const { status, body } = await ask(target)
    expect([status, body]).toEqual([200, expect.any(Object)])
  })

  it('answers about now with what the log alone gives up to where the answer was cut', async () => {
    const { codec, log } = own
    const replayed = await ReplayedApi.start({ reader: log.reader(), codec, partitions: PARTITIONS })
    const known = fake.market.prices.find(({ asset }) => asset === 'btc')
    if (known === undefined) throw new Error('BTC has a price')
    const positions = new Set<string>()
    try {
      for (const price of [100.5, 99.5, 100.25])
        for (const target of ofNow) {
          const value = { ...known, price, time: Date.now() * 1000, v: positions.size }
          await send('alerts.inputs', 'composite_price', value)
          const response = await fetch(`${api?.url}${target}`, { headers: { prefer: 'log-position' } })
          const position = response.headers.get('log-position')
          const told = await response.text()
          expect([target, position === null]).toEqual([target, isOfNoMoment.test(target)])
          if (position === null) continue
          positions.add(position)
          expect([target, await replayed.of({ target, text: told, position })]).toEqual([target, told])
        }
    } finally {
      await replayed.stop()
    }
    expect(positions.size).toBeGreaterThan(2)
  })

  it('answers about now while ClickHouse is stopped, and says that ranges are unavailable', async () => {
    line.cut()
    const until = Date.now() + 5_000
    do {
      for (const target of ofNow) expect([target, (await ask(target)).status]).toEqual([target, 200])
    } while (Date.now() < until)
    expect(await ask('/healthz')).toMatchObject({ status: 200, body: { ranges: 'unavailable' } })
    expect((await ask('/funding-rate/history/BTC?exchange=bybit&limit=4')).status).toBe(503)
    line.mend()
    await vi.waitFor(async () => expect((await ask('/healthz')).body).toMatchObject({ ranges: 'available' }))
  })
})

describe('the stream on the real parts', () => {
  const target = '/stream?symbols=BTC&channels=price,liquidations'
  const within = { timeout: 5_000, interval: 10 }
  const streams: Events[] = []
  let other: Child | undefined
  afterAll(async () => {
    for (const stream of streams) stream.close()
    await other?.stop()
  })

  const listen = async (to: Child | undefined, headers: Record<string, string> = {}): Promise<Events> => {
    const stream = await listenTo(`${to?.url}${target}`, headers)
    streams.push(stream)
    await vi.waitFor(() => expect(stream.names).toContain('ready'), within)
    return stream
  }
  const pricesAt = async (price: number): Promise<void> => {
    const known = fake.market.prices.find(({ asset }) => asset === 'btc')
    if (known === undefined) throw new Error('BTC has a price')
    await send('alerts.inputs', 'composite_price', { ...known, price, time: Date.now() * 1000, v: price })
  }
  const liquidate = async (size: number, time = Date.now() * 1000): Promise<void> => {
    const known = fake.market.liquidations.find(({ asset }) => asset === 'btc')
    if (known === undefined) throw new Error('BTC was liquidated')
    const { partition: _p, offset: _o, ...value } = known
    const received = Date.now() * 1000
    await send('market.liquidations', 'liquidation', { ...value, id: `of ${size}`, size, time, received })
  }
  const said = (stream: Events): string[] =>
    stream.heard.map(({ name, data }) => `${name} ${String(data['size'] ?? data['price'] ?? data['resumed'])}`)

  it('tells what is written to the log, and goes on behind a cut, on another instance too', async () => {
    other = await start('api-2')
    const first = await listen(api)
    const begun = first.heard.length
    await pricesAt(101)
    await liquidate(1)
    await vi.waitFor(() => expect(said(first).slice(begun)).toContain('liquidations 1'), within)
    await vi.waitFor(() => expect(said(first).slice(begun)).toContain('price 101'), within)
    expect(said(first).slice(begun).toSorted()).toEqual(['liquidations 1', 'price 101'])
    first.close()
    await pricesAt(102)
    for (const size of [2, 3]) await liquidate(size)
    for (const instance of [api, other]) {
      const next = await listen(instance, { 'last-event-id': first.last })
      await vi.waitFor(() => expect(next.heard.length).toBeGreaterThanOrEqual(4), within)
      const expected = ['liquidations 2', 'liquidations 3', 'price 102', 'ready true']
      expect(said(next).toSorted()).toEqual(expected)
      next.close()
    }
  })

  it('tells a liquidation that a venue told again once, also where the instance is a new one', async () => {
    const stream = await listen(api)
    const begun = stream.heard.length
    const time = Date.now() * 1000
    await liquidate(4, time)
    await vi.waitFor(() => expect(said(stream).slice(begun)).toContain('liquidations 4'), within)
    const third = await start('api-3')
    try {
      const fresh = await listen(third)
      for (const size of [4, 5]) await liquidate(size, time)
      for (const one of [stream, fresh]) {
        await vi.waitFor(() => expect(said(one)).toContain('liquidations 5'), within)
        expect(said(one).filter((text) => text === 'liquidations 4')).toHaveLength(1)
      }
    } finally {
      await third.stop()
    }
  })

  it('says that what another log told is not held, and all that is known', async () => {
    const stream = await listen(api, { 'last-event-id': '1.AQHoBw' })
    expect(stream.names.slice(0, 2)).toEqual(['missed', 'price'])
    expect(stream.heard.at(-1)).toMatchObject({ name: 'ready', data: { resumed: false } })
  })
})
