import { setTimeout as delay } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import type { Config } from '../../infra/config/config.ts'
import { startOps } from '../../infra/http/ops.ts'
import type { Log, Membership } from '../../infra/kafka/seam.ts'
import type { Logger } from '../../infra/log.ts'
import type { Codec } from '../../schemas/codec.ts'
import { tradeVenues } from '../../schemas/venues.ts'
import { tapeClock, type FeedClock } from './clock.ts'
import { hostClock, hostNow, hostTime } from './clock-socket.ts'
import { HostWatch, tapeWatch, type ClockWatch } from './clock-watch-socket.ts'
import { FeedLog } from './feed-log.ts'
import { openFrames, type FramesWriter } from './frames-writer.ts'
import { Gates } from './gates.ts'
import { baseOf, type hostSettings } from './host-settings.ts'
import { InstrumentTable } from './instruments-socket.ts'
import { Keeper } from './keeper.ts'
import { Listings } from './listings-socket.ts'
import { LogBuffer, logBufferDefaults } from './log-socket.ts'
import { MarkBook } from './marks.ts'
import { feedMetrics, type FeedMetrics } from './metrics.ts'
import { Ownership, type OwnedVenue } from './ownership-socket.ts'
import { feedReport, repairReport } from './report-socket.ts'
import { RestHosts } from './rest-hosts-socket.ts'
import type { RestClient } from './rest-socket.ts'
import { Sources } from './sources-socket.ts'
import { sources } from './sources.ts'
import { VenueFeed, type FeedReport } from './venue-feed-socket.ts'
import type { Source } from './source.ts'
import type { Venue } from './venue.ts'
import { venues } from './venues.ts'
import { streamedAssets, Wants } from './wants.ts'
import { tailWants } from './wants-socket.ts'

const beatMs = 1_000
const tickMs = 100
/** A stop that waits longer for the broker leaves the rest to the next start. */
const drainMs = 5_000
/** Trades of the first moments would be lost to marks otherwise: how often a tape's clock may mark. */
const tapeMarkEvery = 1_000_000

export type HostConfig = Config<(typeof hostSettings)[number]>

export interface HostParts {
  readonly log: Logger
  readonly kafka: Log
  readonly codec: Codec
  readonly membership: Membership
  readonly metrics: Registry
}

interface Part extends OwnedVenue {
  readonly venue: Venue
  readonly rest: RestClient
  readonly feed: VenueFeed
}

/** All feeds of one process: assembled here, with the two timers that drive them. */
export class Host {
  readonly #config: HostConfig
  readonly #parts: HostParts
  readonly #metrics: FeedMetrics
  readonly #clock: FeedClock
  readonly #watch: ClockWatch
  readonly #buffer: LogBuffer
  readonly #feedLog: FeedLog
  readonly #book: MarkBook
  readonly #frames: FramesWriter | undefined
  readonly #venues: readonly Part[]
  readonly #rests: RestHosts
  readonly #gates = new Gates()
  /** Undefined on a tape, which holds trades only. */
  readonly #sources: Sources | undefined
  #listings: Listings | undefined
  readonly #ownership: Ownership
  readonly #wants: Wants
  readonly #stop = new AbortController()
  #paused = false
  #markedAt = 0
  readonly #roomWaiters: (() => void)[] = []

  constructor(config: HostConfig, parts: HostParts) {
    this.#config = config
    this.#parts = parts
    const { kafka, codec, metrics } = parts
    const partitions = config.PARTITIONS
    this.#metrics = feedMetrics(metrics)
    this.#clock = config.FEED_CLOCK === 'tape' ? tapeClock() : hostClock
    this.#watch = config.FEED_CLOCK === 'tape' ? tapeWatch(this.#clock) : new HostWatch(hostTime, parts.log, metrics)
    const onBuffer = {
      room: () => this.#room(),
      error: (error: unknown, fatal: boolean) => this.#writeError(error, fatal),
    }
    this.#buffer = new LogBuffer(kafka.writer(), { topic: 'market.trades', partitions, ...logBufferDefaults }, onBuffer)
    this.#feedLog = new FeedLog(codec, this.#buffer, partitions)
    this.#book = new MarkBook(config.FEED_NAME, hostNow() * 1_000, partitions)
    this.#frames = openFrames(config, this.#metrics, parts.log)
    this.#wants = new Wants(streamedAssets(config.SYMBOLS))
    const report = this.#report()
    const tape = config.MODE === 'tape' || config.FEED_CLOCK === 'tape'
    const named = tape ? [] : sources.filter(({ name }) => config.VENUES.includes(name))
    const on = tradeVenues.flatMap(({ venue }) => (config.VENUES.includes(venue) ? [venues[venue]] : []))
    this.#rests = new RestHosts(config, on, named)
    this.#sources = tape ? undefined : this.#openSources(named)
    this.#venues = tradeVenues.flatMap(({ venue }, number) =>
      config.VENUES.includes(venue) ? [this.#part(venues[venue], number, report)] : [],
    )
    this.#ownership = new Ownership(this.#venues, { reader: kafka.reader(), codec, partitions }, (error) =>
      parts.log.warn({ err: error }, 'cannot read what the log has, trying again'),
    )
  }

  /** Starts everything; resolves with the ops address when marks are being written. */
  async start(): Promise<{ url: string; stop: () => Promise<void> }> {
    const { kafka, codec, log, metrics, membership } = this.#parts
    await this.#ownership.lookBack()
    const tail = tailWants(kafka.reader(), codec, this.#wants, (error) => log.warn({ err: error }, 'cannot read wants'))
    const table = await InstrumentTable.read(kafka.reader(), codec, kafka.writer())
    const listings = this.#openListings(table)
    await Promise.all([tail.caughtUp, listings.first()])
    membership.onChange((numbers) => {
      this.#ownership.own(numbers)
      this.#sources?.own(numbers)
    })
    const beat = setInterval(() => this.#beat(), beatMs)
    const tick = setInterval(() => this.#tick(), tickMs)
    this.#beat()
    const ops = await startOps(metrics, () => this.#health(), {
      host: this.#config.OPS_HOST,
      port: this.#config.OPS_PORT,
    })
    await this.#buffer.drained()
    const stop = async (): Promise<void> => {
      clearInterval(tick)
      this.#stop.abort()
      listings.stop()
      this.#ownership.stop()
      for (const { feed } of this.#venues) feed.close()
      this.#sources?.stop()
      this.#rests.close()
      this.#beat()
      clearInterval(beat)
      const drained = Promise.all([this.#buffer.drained(), this.#sources?.drained()])
      await Promise.race([drained, delay(drainMs, undefined, { ref: false })])
      this.#buffer.close()
      this.#sources?.close()
      await Promise.all([tail.stop(), this.#frames?.close(), membership.leave(), ops.close()])
    }
    return { url: ops.url, stop }
  }

  #part(venue: Venue, number: number, report: FeedReport): Part {
    const rest = this.#rests.of(venue.name, 'rest')
    const feed = new VenueFeed({
      venue,
      wsBase: baseOf(this.#config, venue.name, 'ws', venue.urls.ws).base,
      gates: this.#gates,
      partitions: this.#config.PARTITIONS,
      clock: this.#clock,
      log: this.#feedLog,
      report,
    })
    return { number, venue, rest, feed, makeKeeper: () => this.#keeper(venue, rest, feed) }
  }

  #keeper(venue: Venue, rest: RestClient, feed: VenueFeed): Keeper {
    return new Keeper(() => feed.streams.values(), {
      venue,
      rest,
      log: this.#feedLog,
      clock: this.#clock,
      feed: this.#config.FEED_NAME,
      wait: (ms) => delay(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined), // a stop ends the wait
      hostNow,
      random: () => Math.random(),
      room: () => this.#whenRoom(),
      report: repairReport(venue.name, this.#parts.log, this.#metrics),
    })
  }

  #report(): FeedReport {
    const { log } = this.#parts
    const onChange = this.#book.change.bind(this.#book)
    const base = feedReport({ log, metrics: this.#metrics, frames: this.#frames, onChange })
    if (this.#config.FEED_CLOCK === 'host') return base
    // On a tape the trades themselves bring the time on, so they also bring the marks.
    return {
      ...base,
      trade: (venue, lag) => {
        base.trade(venue, lag)
        if (this.#clock.now() - this.#markedAt >= tapeMarkEvery) this.#mark()
      },
    }
  }

  #openSources(named: readonly Source[]): Sources {
    const { PARTITIONS: partitions, FEED_NAME: feedName } = this.#config
    const { codec, kafka, log, metrics } = this.#parts
    return new Sources({
      sources: named,
      bases: this.#config,
      rests: this.#rests,
      gates: this.#gates.behind,
      partitions,
      feedName,
      codec,
      writer: kafka.writer(),
      log,
      metrics,
      writeError: (error, fatal) => this.#writeError(error, fatal),
      unknown: (source) => this.#listings?.soon(source),
    })
  }

  #openListings(table: InstrumentTable): Listings {
    const ofTrades = this.#venues.map(({ venue: { name, market, listing }, rest }) => ({ name, market, listing, rest }))
    const markets = [...ofTrades, ...(this.#sources?.markets ?? [])]
    const againMs = this.#config.LISTINGS_SECONDS * 1_000
    this.#listings = new Listings(table, markets, againMs, this.#parts.log, () => this.#apply(table))
    return this.#listings
  }

  #apply(table: InstrumentTable): void {
    this.#sources?.list(table)
    for (const { feed, venue } of this.#venues) feed.list(table.of(venue.name, venue.market))
  }

  #tick(): void {
    this.#ownership.tick(hostNow())
    this.#sources?.tick(hostNow())
    if (!this.#buffer.full || this.#paused) return
    this.#paused = true
    this.#parts.log.warn({ records: this.#buffer.size }, 'the buffer is full, sockets are not read')
    for (const { feed } of this.#venues) feed.pause()
  }

  #room(): void {
    for (const resolve of this.#roomWaiters.splice(0)) resolve()
    if (!this.#paused) return
    this.#paused = false
    for (const { feed } of this.#venues) feed.resume()
  }

  async #whenRoom(): Promise<void> {
    if (!this.#buffer.full) return
    await new Promise<void>((resolve) => {
      this.#roomWaiters.push(resolve)
    })
  }

  /** Once a second: who is wanted, how the venues are, and the time. */
  #beat(): void {
    this.#watch.look()
    const wanted = this.#wants.assets(hostNow() * 1_000)
    for (const part of this.#venues) {
      const { venue, feed, rest } = part
      if (!this.#stop.signal.aborted) feed.want(wanted)
      const state = rest.unavailable && feed.state.state !== 'live' ? 'unavailable' : feed.state.state
      this.#book.venue(venue.name, { state, sockets: feed.state.sockets }, this.#clock.now())
      this.#metrics.sockets.set({ venue: venue.name }, feed.state.sockets)
      this.#metrics.restUnits.set({ venue: venue.name }, rest.used)
      this.#metrics.pendingGaps.set({ venue: venue.name }, this.#ownership.pending(part))
    }
    this.#metrics.buffered.set(this.#buffer.size)
    if (!this.#stop.signal.aborted) this.#sources?.want(wanted)
    this.#mark()
    this.#sources?.beat(hostNow(), this.#watch.venueTime)
  }

  /** One mark to each partition, behind the trades that were received before it. */
  #mark(): void {
    const now = this.#clock.now()
    const { venueTime } = this.#watch
    if (now === 0 || venueTime === undefined || this.#buffer.full) return
    this.#markedAt = now
    for (let partition = 0; partition < this.#config.PARTITIONS; partition++) {
      this.#feedLog.mark(partition, this.#book.next(partition, now, venueTime))
    }
  }

  #writeError(error: unknown, fatal: boolean): void {
    // The next start repairs from the log's tail; going on would only lose more.
    if (fatal) throw new Error('the broker does not take a batch', { cause: error })
    this.#parts.log.warn({ err: error, records: this.#buffer.size }, 'the broker did not take a batch, trying again')
  }

  #health(): { ok: boolean; clock: unknown; buffered: number; venues: unknown; sources: unknown } {
    const ok = !this.#buffer.full && this.#sources?.full !== true && this.#watch.venueTime !== undefined
    const clock = this.#watch.health()
    const sources = this.#sources?.health() ?? {}
    return { ok, clock, buffered: this.#buffer.size, venues: this.#book.states, sources }
  }
}
