import { createServer } from 'node:http'
import { pino } from 'pino'
import { partitionOf } from '../../schemas/catalogue.ts'
import { fundingVenues, priceVenues, ratioVenues, usualTradeVenues } from '../../schemas/venues.ts'
import { closeServer, listen } from '../../infra/http/ops.ts'
import { createApp, type AppOptions } from '../request/pipeline.ts'
import { RateLimiter } from '../request/limits.ts'
import { createMetrics } from '../metrics.ts'
import { routes } from '../routes.ts'
import { createServices, type ServiceParts, type Services } from '../services.ts'
import { channelBoard } from '../stream/channels.ts'
import type { HeardBoard } from '../stream/heard.ts'
import { Unread } from '../log/unread.ts'
import { Wants, type WriteWant } from '../present/wants.ts'
import type { LogGapRow } from '../views/log-gaps.ts'
import { FakeAlertLog, fakeAlerts } from './fake-alerts.ts'
import { fakePresent } from './fake-present.ts'
import { FakeDatabase, type FakeFlow } from './fake-database.ts'
import { fillAsset, fillTokens, liveChannels, marketTopics } from './market-facts.ts'
import type { Mailer } from '../../infra/mail.ts'

/** 2026-01-02T03:04:05Z, microseconds. */
export const NOW = 1_767_323_045_000_000
const SECOND = 1_000_000
const PARTITIONS = 12
/** Of idle connections, milliseconds. */
const KEPT_MS = 120_000

export interface Harness {
  readonly url: string
  /** Hears of what is put into the views in memory. */
  readonly channels: HeardBoard
  readonly database: FakeDatabase
  readonly services: Services
  readonly alerts: FakeAlertLog
  /** Assets that were asked for, in order. */
  readonly wanted: string[]
  /** Moves the host's clock and the marks of the log. */
  advance(ms: number): void
  /** Moves the host's clock alone: the feeds are silent. */
  hang(ms: number): void
  get(path: string, init?: RequestInit): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }>
  /** What a GET that is answered with 200 says; throws where it is another answer. */
  body(path: string): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

export interface HarnessOptions {
  readonly mode?: 'demo' | 'live' | 'tape'
  readonly counted?: ServiceParts['counted']
  readonly limit?: { perSecond: number; burst: number }
  readonly inFlightMax?: number
  readonly trustProxy?: boolean
  readonly allowedHosts?: AppOptions['allowedHosts']
  readonly alertControl?: 'token' | 'open'
  readonly write?: WriteWant
  readonly peers?: ServiceParts['peers']
  readonly payments?: ServiceParts['payments']
  readonly secrets?: ServiceParts['alerts']['secrets']
  /** What takes mail (default: whatever it is given). */
  readonly mailer?: Mailer
  /** Where the present comes from (default: the facts of `database`). */
  readonly source?: ServiceParts['source']
  /** The host's clock (default: one that `advance` and `hang` move). */
  readonly now?: () => number
  /** The steady clock (default: as `now`). */
  readonly steady?: () => number
  readonly handlers?: Parameters<typeof createApp>[0]
}

/** The API over views in memory, with a clock of its own. BTC is streamed by all four venues, and has been for an hour. */
export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const database = new FakeDatabase()
  const alerts = new FakeAlertLog()
  let now = NOW / 1000
  listAsset(database, 'btc')
  streamAsset(database, 'btc', NOW - 3600 * SECOND)
  mark(database, NOW)
  database.flows.push(flow({ bucket: NOW - 3600 * SECOND - 5 * SECOND }))
  fillAsset(database.market, 'btc', { now: NOW, price: 100 })
  fillTokens(database.market, NOW)
  const wanted: string[] = []
  const write: WriteWant = async (asset, times) => {
    await options.write?.(asset, times)
    wanted.push(asset)
  }
  const channels = channelBoard(PARTITIONS)
  const services = createServices({
    board: channels.board,
    mode: options.mode ?? 'live',
    version: '1.2.3',
    partitions: PARTITIONS,
    preSubscribed: new Set(['btc']),
    counted: options.counted ?? usualTradeVenues,
    peers: options.peers ?? [],
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    database,
    wants: new Wants(write),
    unread: new Unread(),
    alerts: fakeAlerts(alerts, options),
    payments: options.payments ?? null,
    now: options.now ?? (() => now),
    steady: options.steady ?? options.now ?? (() => now),
    source: options.source ?? fakePresent(database, PARTITIONS),
  })
  const limiter = new RateLimiter({ perSecond: 0, burst: 1, callersMax: 1000, ...options.limit })
  const appOptions: AppOptions = {
    services,
    limiter,
    inFlightMax: options.inFlightMax ?? 100,
    trustProxy: options.trustProxy ?? false,
    allowedHosts: options.allowedHosts ?? [],
  }
  const handle = createApp(options.handlers ?? routes, appOptions).callback()
  // A busy machine's test asks again later than a connection is kept by default, just as it is closed.
  const server = createServer({ keepAliveTimeout: KEPT_MS }, (request, response) => void handle(request, response))
  const url = `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}`
  const get: Harness['get'] = async (path, init) => {
    const response = await fetch(url + path, init)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true && text !== ''
    const body = (isJson ? JSON.parse(text) : { text }) as Record<string, unknown>
    return { status: response.status, headers: response.headers, body }
  }
  return {
    url,
    channels,
    database,
    services,
    alerts,
    wanted,
    advance(ms) {
      now += ms
      mark(database, now * 1000)
    },
    hang(ms) {
      now += ms
    },
    get,
    async body(path) {
      const { status, body } = await get(path)
      if (status !== 200) throw new Error(`${path} was answered ${status}: ${JSON.stringify(body)}`)
      return body
    },
    stop: () => {
      services.streams.close()
      return closeServer(server)
    },
  }
}

/** One part of a bucket of BTC on Binance; anything may be said otherwise. */
export function flow(given: Partial<FakeFlow>): FakeFlow {
  const bucket = given.bucket ?? NOW - (NOW % (10 * SECOND))
  const defaults = { asset: 'btc', venue: 'binance', bucket, part: 0, buy: 1, sell: 1, price: 100 }
  return { ...defaults, open_time: bucket + SECOND, close_time: bucket + 2 * SECOND, ...given }
}

/** The log lost what lay between two times of BTC's trades before they were counted; anything may be said otherwise. */
export function lostTrades(given: Partial<LogGapRow>): LogGapRow {
  const position = { reader: 'cvd', topic: 'market.trades', partition: partitionOf('btc', PARTITIONS) }
  return { ...position, reason: 'retention', from: NOW, to: NOW, missing: 7, time: NOW, ...given }
}

/** Every venue lists the asset: the perpetual venues and the spot markets of the price chain. */
export function listAsset(database: FakeDatabase, asset: string): void {
  const list = (venue: string, market: string): number =>
    database.instruments.push({ asset, venue, market, base: asset.toUpperCase(), live: true })
  for (const venue of new Set([...fundingVenues, ...ratioVenues])) list(venue, 'perp')
  for (const venue of priceVenues) list(venue, 'spot')
}

/** All four venues acknowledged its subscription. */
export function streamAsset(database: FakeDatabase, asset: string, since: number): void {
  for (const { venue, market } of usualTradeVenues)
    database.subscriptions.push({
      writer: 'feeds',
      instrument: `${venue}:${market}:${asset}`,
      asset,
      venue,
      state: 'acknowledged',
      since,
    })
}

/** The feeds' and the processors' newest marks: everything is up at `time`. */
export function mark(database: FakeDatabase, time: number): void {
  database.reports = usualTradeVenues.map(({ venue }) => ({
    writer: 'feeds',
    venue,
    state: 'live',
    sockets: venue === 'bybit' ? 2 : 1,
    since: NOW - 7200 * SECOND,
    time,
  }))
  database.times = Array.from({ length: PARTITIONS }, (_, partition) => partition).flatMap((partition) =>
    ['market.trades', 'derived.flow', 'alerts.inputs', ...marketTopics].map((topic) => ({ topic, partition, time })),
  )
  database.derived = ['cvd', 'prices', 'funding', 'liquidations', 'liquidated', 'alerts'].map((processor) => ({
    processor,
    time,
  }))
  database.channels = liveChannels(time, NOW - 7200 * SECOND)
}
