import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { dropDatabase } from '../infra/clickhouse/test-database.ts'
import { clickhouseEnv } from '../infra/config/clickhouse.ts'
import { loadCodec } from '../infra/kafka/codec.ts'
import { connectLog } from '../infra/kafka/kafkajs.ts'
import type { Log } from '../infra/kafka/seam.ts'
import { startChild, type Child } from '../infra/local/child.ts'
import { openDatabase } from './clickhouse.ts'
import { createMetrics } from './metrics.ts'
import { FakeDatabase } from './testing/fake-database.ts'
import { fillLog, fillViews } from './testing/facts.ts'
import { fillAsset, fillTokens } from './testing/market-facts.ts'
import { fillMarketLog } from './testing/market-log.ts'
import { readAudits } from './views/audits.ts'
import type { Database } from './views/database.ts'
import { readAllFunding, readFunding } from './views/funding.ts'
import { readLiquidations, readLiquidationStats } from './views/liquidations.ts'
import { readPrice } from './views/prices.ts'
import { readRatios } from './views/ratios.ts'
import { readObserved, readRisk } from './views/risk.ts'
import { readSettlements } from './views/settlements.ts'
import { readTickerAt, readTickers, readTickersOf } from './views/tickers.ts'
import { readTokens } from './views/tokens.ts'
import { readInstruments, readWorld } from './views/world.ts'

const PARTITIONS = 2
const HOUR = 3_600_000_000
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** A moment of this run; every record lies around it. */
const now = Date.now() * 1000

const database = `api_market_${randomUUID().slice(0, 8)}`
let folder: string
let log: Log
let real: Database & { close(): Promise<void> }
let api: Child | undefined
const fake = new FakeDatabase()

beforeAll(async () => {
  const { brokers, registryUrl, clickhouse } = inject('parts')
  folder = mkdtempSync(path.join(tmpdir(), 'api-market-'))
  const env = {
    MODE: 'demo',
    NAMESPACE: `${database}.`,
    PARTITIONS: String(PARTITIONS),
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    ...clickhouseEnv(clickhouse),
    CLICKHOUSE_DATABASE: database,
    API_PORT: '0',
    RATE_LIMIT_PER_SECOND: '0',
    SERVICE_SECRET: 'a-secret-of-the-tests-that-is-long-enough',
    LOG_FORMAT: 'json',
  }
  await promisify(execFile)(process.execPath, [file('../infra/prepare.ts')], { env: { ...process.env, ...env } })
  const codec = await loadCodec(registryUrl)
  log = await connectLog({ brokers, namespace: env.NAMESPACE, clientId: 'api-test' })
  const at = { ...clickhouse, database }
  real = openDatabase(at, createMetrics())
  fillViews(fake, now)
  fillAsset(fake.market, 'btc', { now, price: 100 })
  fillAsset(fake.market, 'eth', { now, price: 7 })
  fillTokens(fake.market, now)
  const target = { log, codec, partitions: PARTITIONS, now }
  await fillLog(target, fake)
  await fillMarketLog(target, fake.market)
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
  await dropDatabase(inject('parts').clickhouse, database)
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Each topic is read on its own: what was written last to each has to be there. */
async function arrived(): Promise<void> {
  const { channels } = await readWorld(real)
  const liquidations = await readLiquidations(real, null, { from: 0, now, limit: 1000 })
  const risk = await readRisk(real, 'eth')
  const rates = await readAllFunding(real)
  const tokens = await readTokens(real)
  const tickers = await readTickersOf(real, ['btc', 'eth'])
  const instruments = await readInstruments(real)
  const settlements = await readSettlements(real, { asset: 'eth', venue: 'okx', from: 0, to: now, limit: 100 })
  const seen = [channels.length >= 21, liquidations.length, risk?.price, rates.length, tokens.length]
  expect([...seen, tickers.length, settlements.length, instruments.length]).toEqual([true, 8, 7, 6, 2, 10, 12, 21])
}

const windows = { hour: now - HOUR, day: now - 24 * HOUR, now: now - 20_000_000 }
const spot = { asset: 'eth', venue: 'binance', quote: 'USDT' }
const text = (rows: readonly unknown[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted()

describe('ClickHouse gives what the plainest computation gives', () => {
  it.each<[string, (database: Database) => Promise<readonly unknown[]>, number]>([
    ['the funding of an asset', (database) => readFunding(database, 'btc'), 3],
    ['the funding of all markets', (database) => readAllFunding(database), 6],
    ['the spot markets of an asset', (database) => readTickers(database, 'eth'), 5],
    ['the spot markets of some assets', (database) => readTickersOf(database, ['btc', 'sol']), 5],
    ['tokens', (database) => readTokens(database), 2],
    ['top traders’ positions', (database) => readRatios(database, 'btc'), 3],
    ['an asset without any', (database) => readRatios(database, "x'; drop table y --"), 0],
  ])('for %s', async (_, read, count) => {
    const expected = await read(fake)
    expect(expected).toHaveLength(count)
    expect(text(await read(real))).toEqual(text(expected))
  })

  it.each<[string, (database: Database) => Promise<unknown>]>([
    ['the composite price', (database) => readPrice(database, 'eth')],
    ['a spot market at a moment', (database) => readTickerAt(database, spot, now)],
    ['a spot market that there is not', (database) => readTickerAt(database, { ...spot, quote: 'EUR' }, now)],
    ['a price that there is not', (database) => readPrice(database, 'sol')],
    ['liquidation risk', (database) => readRisk(database, 'btc')],
    [
      'what was observed since',
      (database) => readObserved(database, 'btc', { since: now - 2 * HOUR, until: now - HOUR }),
    ],
    ['all liquidations', (database) => readLiquidations(database, null, { from: now - 24 * HOUR, now, limit: 4 })],
    [
      'an asset’s liquidations',
      (database) => readLiquidations(database, 'eth', { from: 0, now: now - HOUR, limit: 9 }),
    ],
    ['their figures', (database) => readLiquidationStats(database, null, windows)],
    ['no figures', (database) => readLiquidationStats(database, 'sol', windows)],
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
    ['the audit', (database) => readAudits(database)],
  ])('for %s, in order', async (_, read) => {
    expect(await read(real)).toEqual(await read(fake))
  })
})

it('ClickHouse knows a spot market as it was before its newest word', async () => {
  const [newest, before] = [await readTickerAt(real, spot, now), await readTickerAt(real, spot, now - HOUR)]
  expect([newest?.price, before?.price]).toEqual([7, 1])
})

describe('the API on the real parts', () => {
  it.each([
    '/funding-rate/extreme',
    '/funding-rate/history/BTC?exchange=okx&limit=3',
    '/funding-rate/ETHUSDT',
    '/api/v1/market/bitcoin',
    '/api/v1/prices?symbols=btc,eth',
    '/price/BTC',
    '/liquidation/heatmap/BTC',
    '/liquidation/recent?symbol=ETHUSDT',
    '/futures/funding-compare/BTC',
    '/futures/basis/ETH',
    '/futures/predicted-funding/BTC',
    '/futures/long-short/BTC',
  ])('answers %s', async (target) => {
    const response = await fetch(`${api?.url}${target}`)
    const body: unknown = await response.json()
    expect([response.status, body]).toEqual([200, expect.any(Object)])
  })
})
