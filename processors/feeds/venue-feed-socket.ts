import { hostNow } from './clock-socket.ts'
import type { End } from './connection-socket.ts'
import type { FeedClock } from './clock.ts'
import type { FeedLog } from './feed-log.ts'
import type { GateKeeper } from './gates.ts'
import { fromStream, isClamped, AHEAD_MAX } from './normalise.ts'
import type { PoolState } from './channel-state.ts'
import { SocketPool, type PoolTiming } from './pool-socket.ts'
import { newStream, observe, relist, type Stream } from './stream.ts'
import type { FrameEvent, Venue, VenueTrade } from './venue.ts'
import type { Instrument, Micros, SubscriptionChange } from '../../schemas/records.ts'
import { instrumentId } from '../../schemas/venues.ts'

/** What a venue's feed tells its host: for metrics, logs and marks. */
export interface FeedReport {
  frame(venue: string, text: string, received: Micros, json: boolean): void
  trade(venue: string, lag: Micros): void
  duplicate(venue: string): void
  clamped(venue: string): void
  refused(venue: string, reason: string, text: string): void
  change(change: SubscriptionChange): void
  note(venue: string, what: string, details: Readonly<Record<string, unknown>>): void
}

export interface VenueFeedOptions {
  readonly venue: Venue
  readonly wsBase: string
  readonly partitions: number
  readonly clock: FeedClock
  readonly log: FeedLog
  readonly report: FeedReport
  readonly timing?: PoolTiming
  readonly gates?: GateKeeper
}

/** The live half of one venue: from frames to trades in the log. What did not come is the repairer's. */
export class VenueFeed {
  readonly #options: VenueFeedOptions
  readonly #pool: SocketPool
  readonly #streams = new Map<string, Stream>()
  /** The instruments that may be streamed, by asset. */
  #listed: ReadonlyMap<string, Instrument> = new Map()
  #wanted: ReadonlySet<string> = new Set()
  #frame = ''

  constructor(options: VenueFeedOptions) {
    this.#options = options
    const { venue, wsBase, report, timing, gates } = options
    const handlers = {
      frame: (text: string, received: Micros, json: boolean) => {
        this.#frame = text
        report.frame(venue.name, text, received, json)
      },
      events: (events: readonly FrameEvent[], received: Micros) => this.#events(events, received),
      acknowledged: (symbols: readonly string[]) => this.#acknowledged(symbols),
      refused: (symbols: readonly string[]) => this.#changed(symbols, 'refused'),
      lost: (symbols: readonly string[], end: End) => this.#lost(symbols, end),
    }
    this.#pool = new SocketPool(venue, wsBase, handlers, timing, gates)
  }

  get venue(): Venue {
    return this.#options.venue
  }

  get state(): PoolState {
    return this.#pool.state
  }

  get streams(): ReadonlyMap<string, Stream> {
    return this.#streams
  }

  /** What the venue lists. */
  list(instruments: ReadonlyMap<string, Instrument>): void {
    this.#listed = instruments
    this.want(this.#wanted)
  }

  /** Streams exactly these assets, as far as the venue lists them. */
  want(assets: ReadonlySet<string>): void {
    this.#wanted = assets
    const instruments = [...assets].flatMap((asset) => this.#listed.get(asset) ?? this.#unlisted(asset))
    const symbols = new Set(instruments.map(({ symbol }) => symbol))
    for (const instrument of instruments) this.#begin(instrument)
    for (const symbol of this.#streams.keys()) if (!symbols.has(symbol)) this.#end(symbol)
    this.#pool.want(symbols)
  }

  pause(): void {
    this.#pool.pause()
  }

  resume(): void {
    this.#pool.resume()
  }

  close(): void {
    this.#pool.close()
  }

  #unlisted(asset: string): [] {
    if (this.#listed.size === 0) return [] // the list is still on its way
    const { venue, clock, report } = this.#options
    const instrument = instrumentId(venue.name, venue.market, asset)
    report.change({ instrument, asset, state: 'unlisted', time: clock.now() })
    return []
  }

  #begin(instrument: Instrument): void {
    const known = this.#streams.get(instrument.symbol)
    if (known !== undefined) return relist(known, instrument)
    this.#streams.set(instrument.symbol, newStream(this.venue.ids, instrument, this.#options.partitions))
  }

  #end(symbol: string): void {
    this.#changed([symbol], 'ended')
    this.#streams.delete(symbol)
  }

  #acknowledged(symbols: readonly string[]): void {
    for (const symbol of symbols) {
      const stream = this.#streams.get(symbol)
      if (stream?.ids === 'none') stream.tracker.begin(this.#options.clock.now())
    }
    this.#changed(symbols, 'acknowledged')
  }

  #changed(symbols: readonly string[], state: SubscriptionChange['state']): void {
    const time = this.#options.clock.now()
    for (const symbol of symbols) {
      const stream = this.#streams.get(symbol)
      if (stream === undefined) continue
      const { instrument, asset } = stream.instrument
      this.#options.report.change({ instrument, asset, state, time })
    }
  }

  #lost(symbols: readonly string[], end: End): void {
    const now = hostNow()
    this.#options.report.note(this.venue.name, 'connection ended', { ...end, symbols: symbols.length })
    for (const symbol of symbols) {
      const stream = this.#streams.get(symbol)
      if (stream !== undefined) stream.lostAt = now
    }
  }

  #events(events: readonly FrameEvent[], hostTime: Micros): void {
    for (const event of events) {
      switch (event.kind) {
        case 'trade':
          this.#trade(event.trade, hostTime)
          break
        case 'heartbeat':
          this.#heartbeat(event.symbol, event.lastId, hostTime)
          break
        case 'refused':
          this.#options.report.refused(this.venue.name, event.reason, this.#frame)
          break
        case 'rejected':
          this.#options.report.note(this.venue.name, 'subscription refused', { message: event.message })
          break
        case 'closing':
          this.#options.report.note(this.venue.name, 'connection will be closed', { message: event.message })
          break
        case 'subscribed':
        case 'unsubscribed':
        case 'pong':
        case 'fact':
      }
    }
  }

  #trade(trade: VenueTrade, hostTime: Micros): void {
    const { clock, log, report } = this.#options
    const stream = this.#streams.get(trade.symbol)
    if (stream === undefined) {
      report.refused(this.venue.name, 'unknown-symbol', this.#frame)
      return
    }
    clock.see(this.venue.name, trade.time)
    const received = clock.now()
    stream.lastTradeAt = hostTime / 1_000
    const time = Math.min(trade.time, received + AHEAD_MAX)
    if (observe(stream, trade.id, time, stream.lastTradeAt) === 'duplicate') {
      report.duplicate(this.venue.name)
      return
    }
    const record = stream.normalise(trade, received, fromStream)
    if (isClamped(trade, record)) report.clamped(this.venue.name)
    log.trade(record)
    report.trade(this.venue.name, received - record.time)
  }

  #heartbeat(symbol: string | null, lastId: number | null, hostTime: Micros): void {
    const stream = symbol === null ? undefined : this.#streams.get(symbol)
    if (stream?.ids !== 'contiguous' || lastId === null) return
    stream.toldAt = hostTime / 1_000
    stream.tracker.tell(lastId, this.#options.clock.now(), stream.toldAt)
  }
}
