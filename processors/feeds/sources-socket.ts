import type { Registry } from 'prom-client'
import type { Writer } from '../../infra/kafka/seam.ts'
import type { Logger } from '../../infra/log.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Micros } from '../../schemas/records.ts'
import { sourceNames } from '../../schemas/venues.ts'
import { hostNow } from './clock-socket.ts'
import { FactBook } from './fact-book.ts'
import { FactLog, factTopics, markedTopics } from './fact-log.ts'
import type { GateKeeper } from './gates.ts'
import type { Bases } from './host-settings.ts'
import type { Asked, InstrumentTable } from './instruments-socket.ts'
import { LogBuffer, logBufferDefaults, type LogBufferOptions } from './log-socket.ts'
import { MarkBook } from './marks.ts'
import type { PoolTiming } from './pool-socket.ts'
import type { RestHosts } from './rest-hosts-socket.ts'
import { SourceFeed } from './source-feed-socket.ts'
import { sourceMetrics, type SourceMetrics } from './source-metrics.ts'
import { SourceReport } from './source-report-socket.ts'
import type { FactTopic, Source } from './source.ts'

/** Records of a topic held while the broker is away; beyond it streams are not read and polls not made. */
const maxRecords = 50_000

export interface SourcesOptions {
  /** Those that are switched on. */
  readonly sources: readonly Source[]
  readonly bases: Bases
  readonly rests: RestHosts
  readonly partitions: number
  readonly feedName: string
  readonly codec: Codec
  readonly writer: Writer
  readonly log: Logger
  readonly metrics: Registry
  readonly timing?: PoolTiming
  /** Shared with the streams of the trades. */
  readonly gates?: GateKeeper
  writeError(error: unknown, fatal: boolean): void
  /** A venue refused a symbol: its lists may have changed. */
  unknown(source: string): void
}

/** All sources of one process: what they say, throttled, into the topics beside trades, with marks. */
export class Sources {
  readonly #options: SourcesOptions
  readonly #metrics: SourceMetrics
  readonly #buffers: Readonly<Record<FactTopic, LogBuffer>>
  readonly #log: FactLog
  readonly #book: FactBook
  readonly #marks: ReadonlyMap<FactTopic, MarkBook>
  readonly #feeds: readonly SourceFeed[]
  #paused = false

  constructor(options: SourcesOptions) {
    this.#options = options
    const { codec, partitions, metrics, feedName, log } = options
    this.#metrics = sourceMetrics(metrics)
    this.#buffers = this.#openBuffers()
    this.#log = new FactLog(codec, this.#buffers, partitions)
    this.#book = new FactBook({
      record: (type, value, now) => {
        this.#metrics.records.inc({ record: type })
        this.#log.record(type, value, now)
      },
      clamped: (venue) => this.#metrics.clamped.inc({ venue }),
    })
    const run = hostNow() * 1_000
    this.#marks = new Map(markedTopics.map((topic) => [topic, new MarkBook(feedName, run, partitions)]))
    const report = new SourceReport(log, this.#metrics, (source) => options.unknown(source))
    const parts = { ...options, book: this.#book, log: this.#log, report }
    this.#feeds = options.sources.map((source) => new SourceFeed(source, parts))
  }

  /** The markets that only sources have, to be listed with those of the trades. */
  get markets(): readonly Asked[] {
    return this.#options.sources.flatMap(({ name, listings }) =>
      listings.map(({ market, host, listing }) => ({
        name,
        market,
        listing,
        rest: this.#options.rests.of(name, host),
      })),
    )
  }

  get full(): boolean {
    return factTopics.some((topic) => this.#buffers[topic].full)
  }

  list(table: InstrumentTable): void {
    for (const feed of this.#feeds) {
      for (const market of ['perp', 'spot'] as const) feed.list(market, table.of(feed.source.name, market))
    }
  }

  want(assets: ReadonlySet<string>): void {
    this.#book.want(assets)
    for (const feed of this.#feeds) feed.want(assets)
  }

  /** `numbers`: what the membership gives this process; a source's place in `sourceNames` is its number. */
  own(numbers: readonly number[]): void {
    for (const feed of this.#feeds) {
      feed.own(numbers.includes(sourceNames.indexOf(feed.source.name) % this.#options.partitions))
    }
  }

  /** Called often. */
  tick(now: number): void {
    this.#book.flush(now * 1_000)
    if (this.full !== this.#paused) this.#pause(this.full)
    if (!this.#paused) for (const feed of this.#feeds) feed.tick(now)
  }

  /**
   * Once a second: the states, and one mark to each partition of each topic, behind what came before it. `venueTime`: what
   * the time is by the venues; undefined: the clock is wrong, and nothing is marked.
   */
  beat(now: number, venueTime: Micros | null | undefined): void {
    for (const [topic, marks] of this.#marks) {
      for (const feed of this.#feeds) {
        const state = feed.state(topic)
        if (state !== undefined) marks.venue(feed.source.name, state, now * 1_000)
      }
    }
    this.#measure(now)
    if (!this.full && venueTime !== undefined) this.#mark(now, venueTime)
  }

  health(): unknown {
    return Object.fromEntries([...this.#marks].map(([topic, marks]) => [topic, marks.states]))
  }

  async drained(): Promise<void> {
    await Promise.all(factTopics.map((topic) => this.#buffers[topic].drained()))
  }

  /** Stops asking and listening; what was heard can still be written. */
  stop(): void {
    for (const feed of this.#feeds) feed.close()
  }

  close(): void {
    for (const topic of factTopics) this.#buffers[topic].close()
  }

  #openBuffers(): Record<FactTopic, LogBuffer> {
    const { writer, partitions } = this.#options
    const error = (cause: unknown, fatal: boolean): void => this.#options.writeError(cause, fatal)
    const on = { room: () => undefined, error }
    const open = (topic: FactTopic, given: Partial<LogBufferOptions> = {}): LogBuffer =>
      new LogBuffer(writer, { topic, ...logBufferDefaults, partitions, maxRecords, ...given }, on)
    return {
      'market.tickers': open('market.tickers', { lingerMs: 0, everyMs: 0 }), // alerts ring by them, and they are few
      'market.funding': open('market.funding'),
      'market.liquidations': open('market.liquidations'),
      'market.candles': open('market.candles'),
      'market.tokens': open('market.tokens', { partitions: 1 }),
    }
  }

  #pause(paused: boolean): void {
    this.#paused = paused
    this.#options.log.warn({ paused }, 'the buffers of market data are full, or have room again')
    for (const feed of this.#feeds) {
      if (paused) feed.pause()
      else feed.resume()
    }
  }

  #mark(now: number, venueTime: Micros | null): void {
    for (const [topic, marks] of this.#marks) {
      for (let partition = 0; partition < this.#options.partitions; partition++) {
        const marked = markedTopics.find((each) => each === topic)
        if (marked !== undefined) this.#log.mark(marked, partition, marks.next(partition, now * 1_000, venueTime))
      }
    }
  }

  #measure(now: number): void {
    const metrics = this.#metrics
    for (const topic of factTopics) metrics.buffered.set({ topic }, this.#buffers[topic].size)
    for (const [topic, marks] of this.#marks) {
      for (const { venue, state } of marks.states) metrics.live.set({ venue, topic }, state === 'live' ? 1 : 0)
    }
    for (const [name, client] of this.#options.rests.all) {
      const [venue = '', host = ''] = name.split(' ')
      metrics.budget.set({ venue, host }, client.used)
      metrics.waiting.set({ venue, host }, client.waiting)
      metrics.refused.set({ venue, host }, client.unavailable ? 1 : 0)
    }
    for (const feed of this.#feeds) this.#measureFeed(feed, now)
  }

  #measureFeed(feed: SourceFeed, now: number): void {
    const venue = feed.source.name
    for (const { stream, state } of feed.streams) {
      this.#metrics.streams.set({ venue, channel: stream.name }, state.sockets)
    }
    for (const { poll, plan, answeredAt } of feed.pollers) {
      const labels = { venue, poll: poll.name }
      this.#metrics.subjects.set(labels, plan.size)
      this.#metrics.overdue.set(labels, plan.overdueMs(now) / 1_000)
      this.#metrics.givenUp.set(labels, plan.givenUp)
      if (answeredAt > 0) this.#metrics.age.set(labels, (now - answeredAt) / 1_000)
    }
  }
}
