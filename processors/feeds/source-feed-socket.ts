import type { Instrument, Micros } from '../../schemas/records.ts'
import type { Market } from '../../schemas/venues.ts'
import { hostClock, hostNow } from './clock-socket.ts'
import type { FactBook } from './fact-book.ts'
import type { FactLog } from './fact-log.ts'
import type { GateKeeper } from './gates.ts'
import { baseOf, type Bases } from './host-settings.ts'
import { Poller } from './poll-socket.ts'
import { joined, type PoolState } from './channel-state.ts'
import type { PoolTiming } from './pool-socket.ts'
import { PriceRanges } from './price-ranges-socket.ts'
import type { RestHosts } from './rest-hosts-socket.ts'
import { settlementsOf } from './settlement-times.ts'
import type { DataStream, Fact, FactRow, FactTopic, HostName, Poll, Source, Subjects } from './source.ts'
import type { SourceReport } from './source-report-socket.ts'
import { StreamFeed } from './stream-feed-socket.ts'

export interface SourceFeedOptions {
  readonly bases: Bases
  readonly rests: RestHosts
  readonly book: FactBook
  readonly log: FactLog
  readonly report: SourceReport
  readonly timing?: PoolTiming
  readonly gates?: GateKeeper
}

/** Everything that one source says beside trades: its streams always, its polls while they are ours. */
export class SourceFeed {
  readonly source: Source
  readonly #options: SourceFeedOptions
  readonly #streams: readonly StreamFeed[]
  readonly #ranges: PriceRanges | undefined
  #pollers: readonly Poller[] = []
  #owned = false
  /** What is listed, by market and asset. */
  readonly #listed = new Map<Market, ReadonlyMap<string, Instrument>>()
  #wanted: ReadonlySet<string> = new Set()

  constructor(source: Source, options: SourceFeedOptions) {
    this.source = source
    this.#options = options
    this.#streams = source.streams.map((stream) => this.#openStream(stream))
    const { candles } = source
    this.#ranges =
      candles && new PriceRanges(source.name, candles, options.rests.of(source.name, candles.host), options)
  }

  get pollers(): readonly Poller[] {
    return this.#pollers
  }

  get streams(): readonly StreamFeed[] {
    return this.#streams
  }

  /** What a market of the source lists now. */
  list(market: Market, instruments: ReadonlyMap<string, Instrument>): void {
    this.#listed.set(market, instruments)
    this.#options.book.list(this.source.name, market, instruments.values())
    this.#apply()
  }

  want(assets: ReadonlySet<string>): void {
    if (assets.symmetricDifference(this.#wanted).size === 0) return
    this.#wanted = new Set(assets)
    this.#apply()
  }

  /** Polls are made by one process. */
  own(ours: boolean): void {
    if (ours === this.#owned) return
    this.#owned = ours
    for (const poller of this.#pollers) poller.stop()
    this.#pollers = ours ? this.source.polls.map((poll, number) => this.#startPoll(poll, number)) : []
    this.#apply()
  }

  tick(now: number): void {
    for (const poller of this.#pollers) poller.tick()
    if (this.#owned) this.#ranges?.tick(now)
  }

  /** Undefined: the source has nothing to do with the topic. */
  state(topic: FactTopic): PoolState | undefined {
    const { streams, polls } = this.source
    if (![...streams, ...polls].some((channel) => channel.topic === topic)) return undefined
    const ofStreams = this.#streams.filter(({ stream }) => stream.topic === topic).map(({ state }) => state)
    const ofPolls = this.#pollers.flatMap((poller) => (poller.topic === topic ? (poller.state ?? []) : []))
    return joined([...ofStreams, ...ofPolls])
  }

  pause(): void {
    for (const stream of this.#streams) stream.pause()
  }

  resume(): void {
    for (const stream of this.#streams) stream.resume()
  }

  close(): void {
    for (const stream of this.#streams) stream.close()
    for (const poller of this.#pollers) poller.stop()
    this.#ranges?.stop()
  }

  #openStream(stream: DataStream): StreamFeed {
    const { bases, report, timing, gates } = this.#options
    const { base } = baseOf(bases, this.source.name, stream.host, this.#ownHost(stream.host))
    const name = this.source.name
    return new StreamFeed(
      stream,
      base,
      {
        fact: ({ subjects, name: channel }, fact, received) => {
          seeTime(name, fact)
          this.#take(fact, subjects.market, channel, received)
        },
        refused: ({ name: channel }, reason, frame) => report.refused(name, channel, reason, frame),
        unknown: ({ name: channel }, symbols) => report.unknown(name, channel, symbols),
        back: ({ topic, subjects }, symbols, from, to) => {
          if (topic === 'market.tickers') this.#ranges?.missed(subjects.market, symbols, from, to)
        },
        note: ({ name: channel }, what, details) => report.note(name, channel, what, details),
      },
      timing,
      gates,
    )
  }

  #ownHost(host: HostName): string {
    const own = this.source.hosts[host]
    if (own === undefined) throw new Error(`${this.source.name} has no address for ${host}`)
    return own
  }

  #startPoll(poll: Poll, number: number): Poller {
    const { rests, report, book } = this.#options
    const { name } = this.source
    const sink = {
      rows: (_poll: Poll, rows: readonly FactRow[], received: Micros) => this.#rows(poll, rows, received),
      ended: report.polled.bind(report, name),
    }
    const settlements = settlementsOf(book, name, poll.subjects)
    return new Poller(poll, number, rests.of(name, poll.host), sink, settlements, hostNow)
  }

  #rows({ name: channel, subjects }: Poll, rows: readonly FactRow[], received: Micros): void {
    for (const row of rows) {
      if ('refused' in row) this.#options.report.refused(this.source.name, channel, row.refused, '')
      else this.#take(row, subjects.market, channel, received)
    }
  }

  #take(fact: Fact, market: Market, channel: string, received: Micros): void {
    const { book, report } = this.#options
    const source = this.source.name
    const verdict = book.take(fact, { source, market, channel, received })
    report.fact(source, fact, verdict)
  }

  #apply(): void {
    for (const feed of this.#streams) feed.want(this.#symbolsOf(feed.stream.subjects))
    for (const poller of this.#pollers) poller.want(this.#symbolsOf(poller.poll.subjects))
  }

  #symbolsOf(subjects: Subjects): ReadonlySet<string> {
    if (subjects.of === 'whole') return new Set([subjects.symbol])
    const listed = [...(this.#listed.get(subjects.market)?.values() ?? [])]
    const chosen = subjects.of === 'catalogue' ? listed : listed.filter(({ asset }) => this.#wanted.has(asset))
    return new Set(chosen.map(({ symbol }) => symbol))
  }
}

/** What the venue's time of a fact says of our clock: those that are sent as soon as they are so. */
function seeTime(venue: string, fact: Fact): void {
  const time = fact.kind === 'ticker' ? fact.time : fact.kind === 'derivative' ? fact.mark?.time : null
  if (typeof time === 'number') hostClock.see(venue, time)
}
