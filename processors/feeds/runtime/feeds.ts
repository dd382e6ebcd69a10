import { setTimeout as delay } from 'node:timers/promises'
import type { Writer } from '../../../infra/kafka/seam.ts'
import type { Logger } from '../../../infra/log.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Instrument, Micros, Trade, TradePosition } from '../../../schemas/records.ts'
import { venueNames, type VenueName } from '../../../schemas/venues.ts'
import type { PastProgress } from '../facts/backfill-plan.ts'
import { FactBook } from '../facts/fact-book.ts'
import type { FeedClock } from '../time/clock.ts'
import { MarkBook } from '../time/marks.ts'
import type { TradeRepair } from '../trades/trade-repair.ts'
import { ConnectLimiters } from '../transport/connect-limiter.ts'
import type { PoolTiming } from '../transport/pool.ts'
import type { RestHosts } from '../transport/rest-client.ts'
import type { Venue } from '../venues/venue.ts'
import type { BackfillDays } from './backfill.ts'
import type { KnownPast } from './past-job.ts'
import type { FramesWriter } from './frames-writer.ts'
import type { Addresses } from './host-settings.ts'
import type { InstrumentTable, ListedMarket } from './instrument-table.ts'
import type { LostRecords } from './log-buffer.ts'
import { type MarkedTopic, markedTopics, MarketLog, type WrittenTopic, writtenTopics } from './market-log.ts'
import type { FeedMetrics } from './metrics.ts'
import { Report } from './report.ts'
import type { PastOrders } from '../facts/past-orders.ts'
import { hostNow, ticks } from './process-clock.ts'
import { VenueFeed } from './venue-feed.ts'

/** A log that lost its tail did so in many partitions, each of which shows it with its next record, at the latest a mark. */
const relearnAfterMs = 2_000

interface FeedsOptions {
  /** Those that are switched on. */
  readonly venues: readonly Venue[]
  readonly addresses: Addresses
  readonly rests: RestHosts
  readonly partitions: number
  readonly feedName: string
  readonly clock: FeedClock
  readonly codec: Codec
  readonly writer: Writer
  readonly log: Logger
  readonly metrics: FeedMetrics
  readonly frames?: FramesWriter | undefined
  readonly timing?: PoolTiming
  /** A tape holds trades only. */
  readonly tradesOnly?: boolean
  /** On a tape the trades themselves bring the time on: how often they also bring the marks. */
  readonly markEvery?: Micros | undefined
  /** The writer has given up. */
  writeError(error: unknown): void
  /** A venue refused a symbol: its lists may have changed. */
  unknown(venue: string): void
  readonly backfillDays: BackfillDays
  readonly archiveDir: string
  /** The disk has no room for more of the past. */
  readonly pastPaused: () => boolean
  readonly orders: PastOrders
  /** How far the past is in the log; rejects where it cannot be read now. */
  readonly knownPast: () => Promise<KnownPast>
  /** Where a partition of `market.trades` begins now; undefined: not known yet. */
  readonly logStart: (partition: number) => number | undefined
  /** What the time is by the venues; null: none has said enough; undefined: the clock is wrong, and nothing is marked. */
  readonly venueTime: () => Micros | null | undefined
  /** These repairs begin: they are to learn what the log has. */
  readonly learn: (repairs: readonly TradeRepair[]) => void
}

/** All feeds of one process: what venues say into the topics `market.*`, with marks. */
export class Feeds {
  readonly #options: FeedsOptions
  readonly #log: MarketLog
  readonly #facts: FactBook
  readonly #marks: ReadonlyMap<MarkedTopic, MarkBook>
  readonly #venues: readonly Venue[]
  readonly #feeds: readonly VenueFeed[]
  readonly #stop = new AbortController()
  readonly #paused = new Set<WrittenTopic>()
  #markedAt = 0
  #relearnAt = Infinity
  #orders = 0

  constructor(options: FeedsOptions) {
    this.#options = options
    const { codec, writer, partitions, feedName, clock, log, metrics } = options
    this.#log = new MarketLog(codec, writer, partitions, {
      error: (error) => options.writeError(error),
      lost: (topic, records) => this.#lost(topic, records),
    })
    const report = new Report(log, metrics, options.frames, (venue) => options.unknown(venue))
    this.#facts = new FactBook({
      record: (type, value, now) => {
        report.record(type)
        this.#log.record(type, value, now)
      },
      clamped: (venue) => report.clamped(venue),
    })
    let run: Micros | undefined
    const began = (): Micros => (run ??= hostNow() * 1_000)
    const marked = options.tradesOnly === true ? markedTopics.slice(0, 1) : markedTopics
    const marks = new Map(marked.map((topic) => [topic, new MarkBook(feedName, began, partitions)]))
    this.#marks = marks
    const parts = {
      ...options,
      limiters: new ConnectLimiters(),
      clock,
      log: this.#log,
      facts: this.#facts,
      report,
      trade: (venue: string, trade: Trade, clamped: boolean) => {
        report.trade(venue, trade, clamped)
        this.#tapeMark()
      },
      change: (change: Parameters<Report['change']>[0]) => {
        report.change(change)
        marks.get('market.trades')?.change(change)
      },
      unlisted: (gone: readonly Instrument[]) => {
        for (const { instrument, asset } of gone)
          marks.get('market.tickers')?.change({ instrument, asset, state: 'ended', time: clock.now() })
      },
      // a stop ends the wait
      repair: { feed: feedName, wait: (ms: number) => this.#wait(ms), random: () => Math.random() },
    }
    this.#venues = options.tradesOnly === true ? options.venues.flatMap(tradesOf) : options.venues
    this.#feeds = this.#venues.map((venue) => new VenueFeed(venue, parts))
  }

  /** All markets that are to be listed. */
  get markets(): readonly ListedMarket[] {
    return this.#venues.flatMap(({ name, trades, listings }) => {
      const own =
        trades === undefined ? [] : [{ market: trades.market, host: 'rest' as const, listing: trades.listing }]
      return [...own, ...listings].map(({ market, host, listing }) => ({
        name,
        market,
        listing,
        rest: this.#options.rests.of(name, host),
      }))
    })
  }

  /** A topic that is full is not fed, and not marked. */
  get full(): boolean {
    return this.#log.full
  }

  list(table: InstrumentTable): void {
    for (const feed of this.#feeds) {
      for (const market of ['perp', 'spot'] as const) feed.list(market, table.of(feed.venue.name, market))
    }
    void this.#announce()
  }

  want(assets: ReadonlySet<string>): void {
    this.#facts.want(assets)
    for (const feed of this.#feeds) feed.want(assets)
    void this.#announce()
  }

  /** `numbers`: what the membership gives this process. */
  own(numbers: readonly number[]): void {
    const { partitions, learn } = this.#options
    learn(this.#feeds.flatMap((feed) => feed.own(numbers.includes(venueNumber(feed.venue.name, partitions))) ?? []))
  }

  /** Called often. */
  tick(now: number): void {
    if (ticks() >= this.#relearnAt) this.#relearn()
    this.#lookAtOrders()
    this.#facts.flush(now * 1_000)
    for (const topic of writtenTopics) this.#pauseWhenFull(topic)
    for (const feed of this.#feeds) feed.tick(now)
  }

  /** Once a second: the states, and one mark to each partition of each of these topics, behind what came before it. */
  beat(now: number, topics: readonly MarkedTopic[]): void {
    const time = this.#options.clock.now()
    const venueTime = this.#options.venueTime()
    for (const [topic, marks] of this.#marks) if (topics.includes(topic)) this.#lookAtStates(topic, marks, time)
    this.#measure(now)
    if (venueTime !== undefined) this.#mark(time, venueTime, topics)
  }

  /** The log has lost trades that it had, whoever wrote them: soon it is read again, and what it has not is repaired. */
  tradesLost(): void {
    this.#relearnAt = ticks() + relearnAfterMs
  }

  /** Records of a topic that the broker does not have yet, and how the venues are for it. */
  health(topic: MarkedTopic): { readonly buffered: number; readonly venues: MarkBook['states'] } {
    return { buffered: this.#log.of(topic).size, venues: this.#marks.get(topic)?.states ?? [] }
  }

  /** How far the past of each venue that is ours is in the log; none as long as that is not known of all. */
  past(now: number): PastProgress[] {
    const own = this.#feeds.map((feed) => feed.past(now)).filter((progress) => progress !== null)
    const known = own.filter((progress) => progress !== undefined)
    return known.length === own.length ? known : []
  }

  drained(): Promise<void> {
    return this.#log.drained()
  }

  /** Stops asking and listening; what was heard can still be written. */
  stop(): void {
    this.#stop.abort()
    for (const feed of this.#feeds) feed.close()
  }

  close(): void {
    this.#log.close()
  }

  async #wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined)
  }

  /** Where nothing can be marked, the venue is asked at once: else nothing would ever tell that the clock is right again. */
  async #announce(): Promise<void> {
    const asked = this.#feeds.flatMap((feed) => feed.unannounced() ?? [])
    if (asked.length === 0) return
    await this.#markAtOnce(new Set(asked.flatMap(({ partitions }) => partitions)))
    if (!this.#stop.signal.aborted) for (const { begin } of asked) begin()
  }

  /** Resolves when the log has the marks, behind which trades of the partitions are going to come. */
  async #markAtOnce(partitions: ReadonlySet<number>): Promise<void> {
    const topic = 'market.trades'
    const time = this.#options.clock.now()
    const venueTime = this.#options.venueTime()
    const marks = this.#marks.get(topic)
    if (marks === undefined || time === 0 || venueTime === undefined) return
    this.#lookAtStates(topic, marks, time)
    for (const partition of partitions)
      this.#log.mark(topic, partition, marks.next(partition, time, venueTime, this.#positions(partition)))
    await Promise.all([...partitions].map((partition) => this.#log.of(topic).written(partition)))
  }

  #lookAtStates(topic: MarkedTopic, marks: MarkBook, time: Micros): void {
    for (const feed of this.#feeds) {
      const state = feed.state(topic)
      if (state !== undefined) marks.venue(feed.venue.name, state, time)
    }
    if (topic === 'market.tickers') this.#facts.note(marks.states, time)
  }

  /** What was lost of facts beside trades cannot be asked for again; the next ones of their kind come by themselves. */
  #lost(topic: WrittenTopic, records: LostRecords): void {
    this.#options.log.error({ topic, ...records }, 'the log lost records that it had')
    if (topic === 'market.trades') this.tradesLost()
    if (topic === 'market.history' || topic === 'control.backfill') for (const feed of this.#feeds) feed.pastLost()
  }

  #lookAtOrders(): void {
    const { version } = this.#options.orders
    if (version === this.#orders) return
    this.#orders = version
    for (const feed of this.#feeds) feed.wantPast()
  }

  /** As after a restart: what the log has is read, and what it has not is repaired. */
  #relearn(): void {
    this.#relearnAt = Infinity
    this.#options.learn(this.#feeds.flatMap((feed) => feed.relearn() ?? []))
  }

  #pauseWhenFull(topic: WrittenTopic): void {
    const { full, size } = this.#log.of(topic)
    if (full === this.#paused.has(topic)) {
      if (full) for (const feed of this.#feeds) feed.pause(topic) // also those that opened meanwhile
      return
    }
    this.#options.log.warn({ topic, full, records: size }, 'the buffer is full, or has room again')
    if (full) this.#paused.add(topic)
    else this.#paused.delete(topic)
    for (const feed of this.#feeds) {
      if (full) feed.pause(topic)
      else feed.resume(topic)
    }
  }

  #tapeMark(): void {
    const { clock, markEvery } = this.#options
    const now = clock.now()
    if (markEvery !== undefined && now - this.#markedAt >= markEvery) this.#mark(now, now, markedTopics)
  }

  #mark(time: Micros, venueTime: Micros | null, topics: readonly MarkedTopic[]): void {
    if (time === 0) return // a tape that has not begun
    this.#markedAt = time
    for (const [topic, marks] of this.#marks) {
      if (!topics.includes(topic) || this.#log.of(topic).full) continue
      for (let partition = 0; partition < this.#options.partitions; partition++) {
        const positions = topic === 'market.trades' ? this.#positions(partition) : []
        this.#log.mark(topic, partition, marks.next(partition, time, venueTime, positions))
      }
    }
  }

  #positions(partition: number): TradePosition[] {
    const start = this.#options.logStart(partition)
    return start === undefined ? [] : this.#feeds.flatMap((feed) => feed.positions(partition, start))
  }

  #measure(now: number): void {
    const { metrics, rests } = this.#options
    for (const topic of writtenTopics) metrics.buffered.set({ topic }, this.#log.of(topic).size)
    for (const [topic, marks] of this.#marks) {
      for (const { venue, state } of marks.states) metrics.live.set({ venue, topic }, state === 'live' ? 1 : 0)
    }
    for (const { venue, host, client } of rests.all) {
      metrics.restUnits.set({ venue, host }, client.used)
      metrics.waiting.set({ venue, host }, client.waiting)
      metrics.unavailable.set({ venue, host }, client.unavailable ? 1 : 0)
    }
    for (const feed of this.#feeds) this.#measureFeed(feed, now)
  }

  #measureFeed(feed: VenueFeed, now: number): void {
    const { metrics } = this.#options
    const venue = feed.venue.name
    const past = feed.past(now)
    if (past !== undefined && past !== null) metrics.pastMissing.set({ venue }, past.missing)
    if (feed.pendingGaps !== undefined) metrics.pendingGaps.set({ venue }, feed.pendingGaps)
    for (const { stream, state } of feed.streams) metrics.sockets.set({ venue, channel: stream.name }, state.sockets)
    for (const { poll, plan, answeredAt } of feed.pollers) {
      const labels = { venue, poll: poll.name }
      metrics.subjects.set(labels, plan.size)
      metrics.overdue.set(labels, plan.overdueMs(now) / 1_000)
      metrics.givenUp.set(labels, plan.givenUp)
      if (answeredAt > 0) metrics.age.set(labels, (now - answeredAt) / 1_000)
    }
  }
}

/** The number that a venue is shared out by: the partition with it, from 0 again where there are fewer partitions. */
export function venueNumber(name: VenueName, partitions: number): number {
  return venueNames.indexOf(name) % partitions
}

function tradesOf({ candles: _candles, past: _past, pastFacts: _facts, archive: _archive, ...venue }: Venue): Venue[] {
  return venue.trades === undefined ? [] : [{ ...venue, listings: [], streams: [], polls: [] }]
}
