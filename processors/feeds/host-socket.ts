import type { Registry } from 'prom-client'
import type { Config } from '../../infra/config/config.ts'
import type { SettingName } from '../../infra/config/settings.ts'
import { startOps } from '../../infra/http/ops.ts'
import type { Log } from '../../infra/kafka/seam.ts'
import { sayReady } from '../../infra/lifecycle.ts'
import type { Logger } from '../../infra/log.ts'
import { knownAsset } from '../../schemas/catalogue.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Instrument } from '../../schemas/records.ts'
import { instrumentId, tradeVenues } from '../../schemas/venues.ts'
import { hostClock, tapeClock } from './clock-socket.ts'
import { FeedLog } from './feed-log.ts'
import { LogBuffer, logBufferDefaults } from './log-socket.ts'
import { MarkBook } from './marks.ts'
import { feedMetrics } from './metrics.ts'
import { VenueFeed, type FeedReport } from './venue-feed-socket.ts'
import type { Venue } from './venue.ts'
import { venues } from './venues.ts'
import { streamedAssets, Wants } from './wants.ts'
import { tailWants } from './wants-socket.ts'

export const hostSettings = [
  'KAFKA_BROKERS',
  'SCHEMA_REGISTRY_URL',
  'NAMESPACE',
  'PARTITIONS',
  'FEED_NAME',
  'FEED_CLOCK',
  'VENUES',
  'SYMBOLS',
  'BINANCE_WS_URL',
  'BINANCE_REST_URL',
  'BYBIT_WS_URL',
  'BYBIT_REST_URL',
  'OKX_WS_URL',
  'OKX_REST_URL',
  'COINBASE_WS_URL',
  'COINBASE_REST_URL',
  'FRAMES_DIR',
  'FRAMES_MAX_GB',
  'MEMBERSHIP',
  'OPS_HOST',
  'OPS_PORT',
] as const satisfies readonly SettingName[]

export type HostConfig = Config<(typeof hostSettings)[number]>

export interface HostParts {
  readonly log: Logger
  readonly kafka: Log
  readonly codec: Codec
  readonly metrics: Registry
}

export interface Host {
  readonly url: string
  stop(): Promise<void>
}

/** Starts all feeds of this process. */
export async function startHost(
  config: HostConfig,
  { log, kafka, codec, metrics: registry }: HostParts,
): Promise<Host> {
  const metrics = feedMetrics(registry)
  const clock = config.FEED_CLOCK === 'tape' ? tapeClock() : hostClock
  const partitions = config.PARTITIONS
  const buffer = new LogBuffer(
    kafka.writer(),
    { topic: 'market.trades', partitions, ...logBufferDefaults },
    {
      room: () => {
        for (const feed of feeds) feed.resume()
      },
      error: (error, fatal) => {
        if (fatal) throw new Error('the broker did not take a batch for too long', { cause: error })
        log.warn({ err: error }, 'the broker did not take a batch, trying again')
      },
    },
  )
  const feedLog = new FeedLog(codec, buffer, partitions)
  const book = new MarkBook(config.FEED_NAME, Date.now() * 1_000, partitions)
  const report: FeedReport = {
    frame: (venue) => metrics.frames.inc({ venue }),
    trade: (venue, lag) => {
      metrics.trades.inc({ venue, origin: 'stream' })
      metrics.lag.observe({ venue }, lag / 1e6)
    },
    duplicate: (venue) => metrics.duplicates.inc({ venue }),
    clamped: (venue) => metrics.clamped.inc({ venue }),
    refused: (venue, reason) => metrics.refusals.inc({ venue, reason }),
    change: (change) => book.change(change),
    note: (venue, what, details) => log.info({ venue, ...details }, what),
  }
  const chosen = tradeVenues.filter(({ venue }) => config.VENUES.includes(venue)).map(({ venue }) => venues[venue])
  const feeds = chosen.map(
    (venue) => new VenueFeed({ venue, wsBase: basesOf(config, venue).ws, partitions, clock, log: feedLog, report }),
  )
  const wants = new Wants(streamedAssets(config.SYMBOLS))
  const tail = tailWants(kafka.reader(), codec, wants, (error) => log.warn({ err: error }, 'cannot read wants'))
  await tail.caughtUp
  for (const feed of feeds) feed.list(seeded(feed.venue))
  const beat = (): void => {
    const wanted = wants.assets(Date.now() * 1_000)
    for (const feed of feeds) {
      feed.want(wanted)
      book.venue(feed.venue.name, feed.state, clock.now())
      metrics.sockets.set({ venue: feed.venue.name }, feed.state.sockets)
    }
    metrics.buffered.set(buffer.size)
    const now = clock.now()
    if (now === 0 || buffer.full) return
    for (let partition = 0; partition < partitions; partition++) feedLog.mark(partition, book.next(partition, now))
  }
  const timer = setInterval(beat, 1_000)
  beat()
  const ops = await startOps(registry, () => ({ ok: true, venues: book.states }), {
    host: config.OPS_HOST,
    port: config.OPS_PORT,
  })
  await buffer.drained()
  sayReady(ops.url)
  log.info({ url: ops.url }, 'feeds are up')
  return {
    url: ops.url,
    stop: async () => {
      clearInterval(timer)
      for (const feed of feeds) feed.close()
      await tail.stop()
      await buffer.drained()
      buffer.close()
      await ops.close()
    },
  }
}

function basesOf(config: HostConfig, venue: Venue): { ws: string; rest: string; replaced: boolean } {
  const upper = { binance: 'BINANCE', bybit: 'BYBIT', okx: 'OKX', coinbase: 'COINBASE' } as const
  const name = upper[venue.name]
  const ws = config[`${name}_WS_URL`]
  const rest = config[`${name}_REST_URL`]
  return { ws: ws || venue.urls.ws, rest: rest || venue.urls.rest, replaced: rest !== '' }
}

function seeded(venue: Venue): Map<string, Instrument> {
  const rows = venue.listing.seed.flatMap((listed): [string, Instrument][] => {
    const asset = knownAsset(listed.base)?.id
    if (asset === undefined) return []
    const { symbol, base, quote, settle, tick } = listed
    const instrument: Instrument = {
      instrument: instrumentId(venue.name, venue.market, symbol),
      asset,
      venue: venue.name,
      market: venue.market,
      symbol,
      base,
      quote,
      settle,
      size_factor: listed.sizeFactor,
      price_factor: listed.priceFactor,
      tick,
      status: listed.live ? 'live' : 'closed',
      source: 'seed',
      valid_from: Date.now() * 1_000,
    }
    return [[asset, instrument]]
  })
  return new Map(rows.toReversed())
}
