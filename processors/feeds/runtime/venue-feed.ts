import path from 'node:path'
import type { Instrument, Micros, SubscriptionChange, Trade, TradePosition } from '../../../schemas/records.ts'
import type { Market } from '../../../schemas/venues.ts'
import { type FactBook, settlementsOf } from '../facts/fact-book.ts'
import { TradeRepair } from '../trades/trade-repair.ts'
import type { PastProgress, Since } from '../facts/backfill-plan.ts'
import type { RepairOptions } from '../trades/id-repair.ts'
import { TradeBook } from '../trades/trade-book.ts'
import type { FeedClock } from '../time/clock.ts'
import { joined, type ChannelState, type PoolTiming } from '../transport/pool.ts'
import type { ConnectLimiters } from '../transport/connect-limiter.ts'
import type { RestHosts } from '../transport/rest-client.ts'
import type { Fact, FactRow, VenueTrade } from '../venues/events.ts'
import type {
  DataStream,
  FeedTopic,
  PastPages,
  Poll,
  Scope,
  TradeArchive,
  TradeStream,
  Venue,
} from '../venues/venue.ts'
import { type Addresses, addressOf } from './host-settings.ts'
import { ArchiveReader } from './archive-reader.ts'
import { type BackfillDays, PastReader, type PastSeries } from './backfill.ts'
import type { KnownPast, PastJob } from './past-job.ts'
import type { MarketLog, WrittenTopic } from './market-log.ts'
import type { PastOrders } from '../facts/past-orders.ts'
import { Poller } from './poller.ts'
import { PriceRanges } from './price-ranges.ts'
import { hostNow, ticks } from './process-clock.ts'
import type { Report } from './report.ts'
import { StreamFeed, type StreamHandlers } from './stream-feed.ts'

interface VenueFeedParts {
  readonly addresses: Addresses
  readonly rests: RestHosts
  readonly limiters: ConnectLimiters
  readonly partitions: number
  readonly clock: FeedClock
  readonly log: MarketLog
  readonly facts: FactBook
  readonly report: Report
  readonly timing?: PoolTiming
  /** A trade of the stream is in the log's hands. */
  readonly trade: (venue: string, trade: Trade, clamped: boolean) => void
  readonly change: (change: SubscriptionChange) => void
  /** Spot markets that were listed until now. */
  readonly unlisted: (gone: readonly Instrument[]) => void
  /** What the repair of trades needs beside the venue's own. */
  readonly repair: Pick<RepairOptions, 'feed' | 'wait' | 'random'>
  readonly backfillDays: BackfillDays
  /** The folder in which files of archives lie while they are read. */
  readonly archiveDir: string
  readonly pastPaused: () => boolean
  readonly orders: PastOrders
  readonly knownPast: () => Promise<KnownPast>
}

/** A part of the past, and how it is told anew what is wanted of it. */
interface VenuePast {
  readonly job: PastJob
  /** Of archives, which another host serves. */
  readonly isFile: boolean
  readonly want: () => void
}

/** Everything that one venue says: its streams always; its polls, and the repair of its trades, while they are ours. */
export class VenueFeed {
  readonly venue: Venue
  readonly #parts: VenueFeedParts
  readonly #trades: TradeBook | undefined
  readonly #streams: readonly StreamFeed[]
  readonly #ranges: PriceRanges | undefined
  #pollers: readonly Poller[] = []
  #repair: TradeRepair | undefined
  /** Each behind the one before it, but for files. */
  #pasts: readonly VenuePast[] = []
  #owned = false
  /** What is listed, by market and asset. */
  readonly #listed = new Map<Market, ReadonlyMap<string, Instrument>>()
  #wanted: ReadonlySet<string> = new Set()

  constructor(venue: Venue, parts: VenueFeedParts) {
    this.venue = venue
    this.#parts = parts
    const { trades, candles, name } = venue
    this.#trades = trades && this.#openTrades(trades)
    this.#streams = streamsOf(venue).map((stream) => this.#openStream(stream))
    const { rests, facts: book, log } = parts
    this.#ranges = candles && new PriceRanges(name, candles, rests.of(name, candles.host), { book, log })
  }

  get pollers(): readonly Poller[] {
    return this.#pollers
  }

  get streams(): readonly StreamFeed[] {
    return this.#streams
  }

  /** Gaps of trades that are neither filled nor given up; undefined: no trades are its. */
  get pendingGaps(): number | undefined {
    return this.#trades && (this.#repair?.pending ?? 0)
  }

  /** How far its trades are complete, where the log is to be told; none while another process repairs them. */
  positions(partition: number, start: number): TradePosition[] {
    return this.#repair?.positions(partition, start, ticks()) ?? []
  }

  /** What a market of the venue lists now. */
  list(market: Market, instruments: ReadonlyMap<string, Instrument>): void {
    this.#listed.set(market, instruments)
    const gone = this.#parts.facts.list(this.venue.name, market, instruments.values())
    if (market === 'spot') this.#parts.unlisted(gone)
    this.#apply()
  }

  want(assets: ReadonlySet<string>): void {
    if (assets.symmetricDifference(this.#wanted).size === 0) return
    this.#wanted = new Set(assets)
    this.#apply()
  }

  /**
   * Subscriptions of trades that the log is to know of before the venue does: a process that was killed then leaves none
   * behind of which nobody knows. `begin`: the log knows of them.
   */
  unannounced(): { readonly partitions: readonly number[]; readonly begin: () => void } | undefined {
    const streams = this.#trades?.unannounced() ?? []
    if (streams.length === 0) return undefined
    const begin = (): void => {
      for (const stream of streams) stream.announced = 'yes'
      this.#apply()
    }
    return { partitions: streams.map(({ partition }) => partition), begin }
  }

  /** Polls are made, and trades repaired, by one process. Gives the repair where it begins: it is to learn what the log has. */
  own(ours: boolean): TradeRepair | undefined {
    if (ours === this.#owned) return undefined
    this.#owned = ours
    for (const poller of this.#pollers) poller.stop()
    this.#repair?.stop()
    this.#repair = undefined
    for (const { job } of this.#pasts) job.stop()
    this.#pasts = []
    this.#pollers = []
    if (!ours) return undefined
    this.#pollers = this.venue.polls.map((poll, number) => this.#startPoll(poll, number))
    this.#repair = this.#startRepair()
    this.#pasts = this.#startPasts()
    this.#apply()
    return this.#repair
  }

  /** How much of the past is in the log; undefined: it is not known yet; null: it is not ours to read. */
  past(now: number): PastProgress | undefined | null {
    if (this.#pasts.length === 0) return null
    const all = this.#pasts.map(({ job }) => job.progress(now))
    const known = all.filter((progress) => progress !== undefined)
    if (known.length < all.length) return undefined
    const sum = (name: keyof PastProgress): number => known.reduce((total, one) => total + one[name], 0)
    return { wanted: sum('wanted'), missing: sum('missing') }
  }

  /** What is wanted of the past is another. */
  wantPast(): void {
    for (const { want } of this.#pasts) want()
  }

  /** The log lost what it had of the past. */
  pastLost(): void {
    for (const { job } of this.#pasts) job.lost()
  }

  /** The log lost trades that it had: gives the repair that begins anew, where it is ours. */
  relearn(): TradeRepair | undefined {
    this.#trades?.forget()
    if (this.#repair === undefined) return undefined
    this.#repair.stop()
    this.#repair = this.#startRepair()
    return this.#repair
  }

  /** Called often. Topics that are full are not asked for. */
  tick(now: number): void {
    for (const stream of this.#streams) stream.tick(ticks())
    this.#repair?.tick(ticks())
    for (const poller of this.#pollers) if (!this.#parts.log.of(poller.topic).full) poller.tick()
    if (this.#owned && !this.#parts.log.of('market.tickers').full) this.#ranges?.tick(ticks())
    for (const { job } of this.#pasts) if (!job.isKnown) job.tick(now)
    if (this.#parts.pastPaused()) return
    this.#pasts.find(({ job, isFile }) => !isFile && job.isKnown && !job.isIdle(now))?.job.tick(now)
    this.#tickFiles(now)
  }

  /** Once the first of what is paged is there, the hours of the charts, archives go on beside the rest. */
  #tickFiles(now: number): void {
    const [hours] = this.#pasts
    if (hours === undefined || (!hours.isFile && !(hours.job.isKnown && hours.job.isIdle(now)))) return
    for (const { job, isFile } of this.#pasts) if (isFile && job.isKnown) job.tick(now)
  }

  /** Undefined: the venue has nothing to do with the topic. */
  state(topic: FeedTopic): ChannelState | undefined {
    const { name, polls } = this.venue
    if (![...streamsOf(this.venue), ...polls].some((channel) => channel.topic === topic)) return undefined
    const ofStreams = this.#streams.filter(({ stream }) => stream.topic === topic).map(({ state }) => state)
    const ofPolls = this.#pollers.flatMap((poller) => (poller.topic === topic ? (poller.state ?? []) : []))
    const state = joined([...ofStreams, ...ofPolls])
    const isRefused =
      topic === 'market.trades' && state.state !== 'live' && this.#parts.rests.of(name, 'rest').unavailable
    return isRefused ? { ...state, state: 'unavailable' } : state
  }

  pause(topic: WrittenTopic): void {
    for (const feed of this.#streams) if (feed.stream.topic === topic) feed.pause()
  }

  resume(topic: WrittenTopic): void {
    for (const feed of this.#streams) if (feed.stream.topic === topic) feed.resume()
  }

  close(): void {
    for (const stream of this.#streams) stream.close()
    for (const poller of this.#pollers) poller.stop()
    this.#repair?.stop()
    this.#ranges?.stop()
    for (const { job } of this.#pasts) job.stop()
  }

  #openTrades(trades: TradeStream): TradeBook {
    const { partitions, clock, log, trade, change } = this.#parts
    const out = {
      trade: (record: Trade, clamped: boolean) => {
        log.trade(record)
        trade(trades.venue, record, clamped)
      },
      change,
    }
    return new TradeBook({ trades, partitions, clock, out })
  }

  #openStream(stream: DataStream): StreamFeed {
    const { addresses, timing, limiters } = this.#parts
    const { base } = addressOf(addresses, this.venue.name, stream.host)
    // Trades are connected first, and heard again soonest.
    const limiter = stream.topic === 'market.trades' ? limiters : limiters.behind
    return new StreamFeed(stream, base, this.#handlersOf(stream), timing, limiter)
  }

  #handlersOf({ name: channel, topic, scope }: DataStream): StreamHandlers {
    const { report, clock } = this.#parts
    const { name } = this.venue
    const trades = topic === 'market.trades' ? this.#trades : undefined
    return {
      frame: (text, received, json) => report.frame(name, channel, text, received, json),
      trade: (trade, frame) => this.#trade(trade, frame),
      fact: (fact, received) => {
        const time = sentAt(fact)
        if (time !== undefined) clock.see(name, time)
        this.#fact(fact, scope.market, channel, received)
      },
      heartbeat: (symbol, lastId) => trades?.heartbeat(symbol, lastId, ticks()),
      refused: (reason, frame) => report.refused(name, channel, reason, frame),
      acknowledged: (symbols) => trades?.acknowledged(symbols, ticks()),
      unknown: (symbols) => {
        trades?.refused(symbols)
        report.unknown(name, channel, symbols)
      },
      lost: (symbols, uncarried) => trades?.lost(symbols, uncarried, ticks()),
      back: (symbols, from, to) => {
        if (topic === 'market.tickers') this.#ranges?.missed(scope.market, symbols, from, to)
      },
      note: (what, details) => report.note(name, channel, what, details),
    }
  }

  #trade(trade: VenueTrade, frame: string): void {
    const { report } = this.#parts
    const verdict = this.#trades?.take(trade, ticks())
    if (verdict === 'duplicate') report.duplicate(this.venue.name)
    if (verdict === 'unknown-symbol') report.refused(this.venue.name, 'trades', verdict, frame)
  }

  #startRepair(): TradeRepair | undefined {
    const { rests, log, clock, report, repair } = this.#parts
    const { trades, name } = this.venue
    const book = this.#trades
    if (book === undefined || trades === undefined) return undefined
    return new TradeRepair(() => book.streams.values(), {
      ...repair,
      backfill: trades.backfill,
      rest: rests.of(name, 'rest'),
      log,
      clock,
      ticks,
      room: () => log.of('market.trades').room(),
      report: report.repair(name),
    })
  }

  #startPasts(): VenuePast[] {
    const { rests, log, facts: book, report, backfillDays, knownPast } = this.#parts
    const { name: source, archive, trades } = this.venue
    const known = onceRead(knownPast)
    const options = { source, book, log, known, report: report.past(source) }
    const pages = pastsOf(this.venue, backfillDays).map((own): VenuePast => {
      const job = new PastReader({ ...options, ...own, host: rests.of(source, own.past.host) })
      return { job, isFile: false, want: () => job.want(...this.#pagesWanted(own)) }
    })
    return archive === undefined || trades === undefined
      ? pages
      : [...pages, this.#startArchive(trades, archive, known)]
  }

  #startArchive({ market, scope }: TradeStream, archive: TradeArchive, known: () => Promise<KnownPast>): VenuePast {
    const { addresses, archiveDir, log, facts, report, backfillDays, orders } = this.#parts
    const { name } = this.venue
    const job = new ArchiveReader({
      archive,
      base: addressOf(addresses, name, 'archive').base,
      file: path.join(archiveDir, name),
      days: backfillDays.archives,
      instrumentOf: (symbol) => facts.find(name, market, symbol)?.instrument,
      log,
      known,
      report: report.past(name),
    })
    const want = (): void => {
      const streamed = this.#symbolsOf(scope)
      const all = this.#allOf(market).map(({ symbol, asset }) => {
        return [symbol, { isStreamed: streamed.has(symbol), spans: orders.archivesOf(asset) }] as const
      })
      job.want(new Map(all.filter(([, { isStreamed, spans }]) => isStreamed || spans.length > 0)))
    }
    return { job, isFile: true, want }
  }

  /** What is streamed, where it is read back by itself; and of all by the hour what somebody ordered. */
  #pagesWanted({ market, series }: OwnPast): [ReadonlySet<string>, Since] {
    const { orders } = this.#parts
    const streamed = series.days > 0 ? this.#symbolsOf({ of: 'wanted', market }) : new Set<string>()
    if (series.name === MINUTES) return [streamed, () => undefined]
    const since = new Map(
      this.#allOf(market).flatMap(({ symbol, asset }) => {
        const from = orders.candlesSince(asset)
        return from === undefined ? [] : [[symbol, from] as const]
      }),
    )
    return [streamed.union(new Set(since.keys())), (symbol) => since.get(symbol)]
  }

  #allOf(market: Market): Instrument[] {
    return [...(this.#listed.get(market)?.values() ?? [])]
  }

  #startPoll(poll: Poll, number: number): Poller {
    const { rests, report, facts } = this.#parts
    const { name } = this.venue
    const sink = {
      rows: (_poll: Poll, rows: readonly FactRow[], received: Micros) => this.#rows(poll, rows, received),
      ended: report.polled.bind(report, name),
    }
    const settlements = settlementsOf(facts, name, poll.scope)
    return new Poller(poll, number, rests.of(name, poll.host), sink, settlements, hostNow)
  }

  #rows({ name: channel, scope }: Poll, rows: readonly FactRow[], received: Micros): void {
    for (const row of rows) {
      if ('refused' in row) this.#parts.report.refused(this.venue.name, channel, row.refused, '')
      else this.#fact(row, scope.market, channel, received)
    }
  }

  #fact(fact: Fact, market: Market, channel: string, received: Micros): void {
    const { facts, report } = this.#parts
    const source = this.venue.name
    const verdict = facts.take(fact, { source, market, channel, received })
    report.fact(source, fact, verdict)
  }

  #apply(): void {
    const { trades } = this.venue
    if (trades !== undefined) this.#trades?.follow(this.#listed.get(trades.market) ?? new Map(), this.#wanted)
    for (const feed of this.#streams) {
      const isTrades = feed.stream.topic === 'market.trades'
      feed.want(isTrades ? this.#announced() : this.#symbolsOf(feed.stream.scope))
    }
    for (const poller of this.#pollers) poller.want(this.#symbolsOf(poller.poll.scope))
    this.wantPast()
  }

  #announced(): ReadonlySet<string> {
    const streams = [...(this.#trades?.streams ?? [])]
    return new Set(streams.flatMap(([symbol, { announced }]) => (announced === 'yes' ? [symbol] : [])))
  }

  #symbolsOf(scope: Scope): ReadonlySet<string> {
    if (scope.of === 'whole') return new Set([scope.symbol])
    const listed = [...(this.#listed.get(scope.market)?.values() ?? [])]
    const chosen = scope.of === 'catalogue' ? listed : listed.filter(({ asset }) => this.#wanted.has(asset))
    return new Set(chosen.map(({ symbol }) => symbol))
  }
}

const MINUTES = 'candles_1m'

interface OwnPast {
  readonly market: Market
  readonly past: PastPages
  readonly series: PastSeries
}

/** Hours of candles first, which every chart shows; then all else, and minutes behind it. Candles are of what counts. */
function pastsOf({ trades, past, pastFacts = [] }: Venue, { hours, minutes }: BackfillDays): OwnPast[] {
  const candles = (series: PastSeries): OwnPast[] =>
    past === undefined || trades === undefined ? [] : [{ market: trades.market, past, series }]
  const facts = pastFacts.map((own): OwnPast => {
    const { name, seconds } = own
    return { market: 'perp', past: own, series: { name, seconds, days: hours, least: 1 } }
  })
  return [
    ...candles({ name: 'candles_1h', seconds: 3_600, days: hours, least: 1 }),
    ...facts,
    ...candles({ name: MINUTES, seconds: 60, days: minutes, least: 60 }),
  ]
}

/** What the log has is read once for all; again where it could not be. */
function onceRead(read: () => Promise<KnownPast>): () => Promise<KnownPast> {
  let reading: Promise<KnownPast> | undefined
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined
      throw error
    })
    return reading
  }
}

/** All channels of a venue, that of its trades first. */
function streamsOf({ trades, streams }: Venue): readonly DataStream[] {
  return trades === undefined ? streams : [trades, ...streams]
}

/** The venue's time of a fact that is sent as soon as it is so: what it says of our clock. */
function sentAt(fact: Fact): Micros | undefined {
  const time = fact.kind === 'ticker' ? fact.time : fact.kind === 'derivative' ? fact.mark?.time : null
  return time ?? undefined
}
