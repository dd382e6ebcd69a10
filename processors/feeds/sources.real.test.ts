import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { type RegistryCodec } from '../../infra/kafka/codec.ts'
import { ownTopics, type OwnTopics } from '../../infra/kafka/testing/topics.ts'
import type { Log } from '../../infra/kafka/seam.ts'
import { startChild, type Child } from '../../infra/local/child.ts'
import { startSimulator, venueEnv } from '../../infra/simulator/start.ts'
import type { Mark, Records, RecordType } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { partsOf } from '../../schemas/venues.ts'

const PARTITIONS = 4
const main = fileURLToPath(new URL('main.ts', import.meta.url))
const waiting = { timeout: 90_000, interval: 1_000 }

let own: OwnTopics
let folder: string
let codec: RegistryCodec
let log: Log
let simulator: Child
let feeds: Child

beforeAll(async () => {
  own = await ownTopics(inject('parts'), 'sources', PARTITIONS)
  ;({ log, codec } = own)
  folder = mkdtempSync(path.join(tmpdir(), 'sources-'))
  simulator = await startSimulator({
    dataDir: path.join(folder, 'sim'),
    port: 0,
    logFile: path.join(folder, 'sim.log'),
    env: { SIMULATOR_RATE: '50', SIMULATOR_FILLERS: '20', LOG_FORMAT: 'json' },
  })
  feeds = await startChild({
    name: 'feeds',
    command: [process.execPath, main],
    env: {
      ...own.env,
      ...venueEnv(simulator.url),
      FEED_NAME: 'feeds',
      SYMBOLS: 'BTC,ETH',
      LISTINGS_SECONDS: '5',
    },
    logFile: path.join(folder, 'feeds.log'),
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 12_000,
  })
})

afterAll(async () => {
  await Promise.all([feeds.stop(), simulator.stop()])
  await log.close()
  if (process.env['KEEP'] === undefined) rmSync(folder, { recursive: true, force: true })
})

it('has a spot price of each chain venue, with what the stable coins are worth', { timeout: 100_000 }, async () => {
  await vi.waitFor(async () => {
    const tickers = await read('market.tickers', 'spot_ticker')
    expect(venuesOf(tickers, 'btc')).toEqual(['binance', 'bybit', 'coinbase', 'kraken', 'okx'])
    expect(tickers.some(({ asset, quote }) => asset === 'usdt' && quote === 'USD')).toBe(true)
    expect(tickers.filter(({ quote }) => quote === 'USDT').some(({ quote_usd: usd }) => usd !== 1)).toBe(true)
  }, waiting)
})

it.each([
  ['a running rate', 'rate'],
  ['a mark', 'mark'],
  ['an index', 'index'],
  ['a premium', 'premium'],
  ['an open interest', 'open_interest'],
] as const)('has %s of each funding venue', { timeout: 100_000 }, async (_what, field) => {
  await vi.waitFor(async () => {
    const tickers = await read('market.funding', 'derivative_ticker')
    const saying = tickers.filter((ticker) => ticker[field] !== null)
    expect(venuesOf(saying, 'btc')).toEqual(['binance', 'bybit', 'okx'])
  }, waiting)
})

it('has settled rates, terms and ratios of each venue that has them', { timeout: 100_000 }, async () => {
  await vi.waitFor(async () => {
    const settlements = await read('market.funding', 'settlement')
    expect(venuesOf(settlements, 'btc')).toEqual(['binance', 'bybit', 'okx'])
    const own = settlements.filter(({ instrument }) => instrument === 'bybit:perp:BTCUSDT')
    expect(own.length).toBeGreaterThanOrEqual(10)
    expect(own.every(({ time }) => time % 60_000_000 === 0)).toBe(true)
    expect(new Set(own.map(({ time }) => time)).size).toBe(own.length)
    expect(venuesOf(await read('market.funding', 'contract_terms'), 'btc')).toEqual(['binance', 'bybit', 'okx'])
    expect(venuesOf(await read('market.funding', 'long_short_ratio'), 'btc')).toEqual(['binance', 'gate', 'okx'])
  }, waiting)
})

it('has candles of each trade venue, and tokens that are ours', { timeout: 150_000 }, async () => {
  await vi.waitFor(
    async () => {
      const tokens = await read('market.tokens', 'token')
      expect(tokens.find(({ id }) => id === 'bitcoin')?.asset).toBe('btc')
      const candles = await read('market.candles', 'candle')
      expect(venuesOf(candles, 'btc')).toEqual(['binance', 'bybit', 'coinbase', 'okx'])
    },
    { timeout: 140_000, interval: 1_000 },
  )
})

it('has liquidations of each venue that publishes them', { timeout: 200_000 }, async () => {
  await vi.waitFor(
    async () => {
      const liquidations = await read('market.liquidations', 'liquidation')
      const venues = new Set(liquidations.map(({ instrument }) => partsOf(instrument).venue))
      expect([...venues].toSorted((a, b) => a.localeCompare(b))).toEqual(['binance', 'bybit', 'okx'])
    },
    { timeout: 190_000, interval: 1_000 },
  )
})

it('says in its marks that each venue lives for each of its topics', { timeout: 100_000 }, async () => {
  const live = {
    'market.tickers': ['binance', 'bybit', 'coinbase', 'kraken', 'okx'],
    'market.funding': ['binance', 'bybit', 'gate', 'okx'],
    'market.liquidations': ['binance', 'bybit', 'okx'],
    'market.candles': ['binance', 'bybit', 'coinbase', 'okx'],
  } as const
  for (const [topic, venues] of Object.entries(live)) {
    await vi.waitFor(async () => {
      const newest = (await read(topic as keyof typeof live, 'mark')).at(-1) as Mark
      const living = newest.venues.filter(({ state }) => state === 'live').map(({ venue }) => venue)
      expect(living.toSorted((a, b) => a.localeCompare(b))).toEqual(venues)
    }, waiting)
  }
})

/** All records of a type, as the log has them. */
async function read<Type extends RecordType>(topic: TopicName, type: Type): Promise<Records[Type][]> {
  const reader = log.reader()
  const values: Records[Type][] = []
  const partitions = topic === 'market.tokens' ? 1 : PARTITIONS
  for (let partition = 0; partition < partitions; partition++) {
    for await (const records of reader.toEnd(topic, partition)) {
      for (const { value } of records) {
        const message = value === null ? undefined : codec.decode(value)
        if (message?.type === type) values.push(message.value as Records[Type])
      }
    }
  }
  await reader.close()
  return values
}

function venuesOf(records: readonly { instrument: string; asset: string }[], asset: string): string[] {
  const venues = records.filter((record) => record.asset === asset).map(({ instrument }) => partsOf(instrument).venue)
  return [...new Set(venues)].toSorted((a, b) => a.localeCompare(b))
}
