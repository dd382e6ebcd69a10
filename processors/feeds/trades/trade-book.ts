import type { Instrument, Micros, SubscriptionChange, Trade } from '../../../schemas/records.ts'
import { instrumentId } from '../../../schemas/venues.ts'
import type { FeedClock } from '../time/clock.ts'
import type { VenueTrade } from '../venues/events.ts'
import type { TradeStream } from '../venues/venue.ts'
import { AHEAD_MAX, fromStream, isClamped, newStream, observe, relist, type PageStream, type Stream } from './stream.ts'

/** What becomes of a trade of the stream. `duplicate`: it came before. `unknown-symbol`: nobody wants its market. */
type TradeVerdict = 'taken' | 'duplicate' | 'unknown-symbol'

interface TradeOut {
  /** `clamped`: the venue's time was too far ahead and was cut. */
  trade(trade: Trade, clamped: boolean): void
  change(change: SubscriptionChange): void
}

interface TradeBookOptions {
  readonly trades: Pick<TradeStream, 'venue' | 'market' | 'ids'>
  readonly partitions: number
  readonly clock: FeedClock
  readonly out: TradeOut
}

/**
 * The trades of one venue as its stream brings them: which instruments are followed, and of each what came. What did not
 * come is the repair's.
 */
export class TradeBook {
  readonly #options: TradeBookOptions
  readonly #streams = new Map<string, Stream>()

  constructor(options: TradeBookOptions) {
    this.#options = options
  }

  /** By the venue's symbol. */
  get streams(): ReadonlyMap<string, Stream> {
    return this.#streams
  }

  /** Follows exactly the wanted assets, as far as they are listed; `listed` is empty while the list is on its way. */
  follow(listed: ReadonlyMap<string, Instrument>, wanted: ReadonlySet<string>): void {
    const { trades, partitions } = this.#options
    const followed = new Set<string>()
    for (const asset of wanted) {
      const instrument = listed.get(asset)
      if (instrument === undefined) {
        if (listed.size > 0) this.#unlisted(asset)
        continue
      }
      followed.add(instrument.symbol)
      const known = this.#streams.get(instrument.symbol)
      if (known !== undefined) relist(known, instrument)
      else {
        this.#streams.set(instrument.symbol, newStream(trades.ids, instrument, partitions))
        this.#change([instrument.symbol], 'asked')
      }
    }
    for (const symbol of this.#streams.keys()) {
      if (followed.has(symbol)) continue
      this.#change([symbol], 'ended')
      this.#streams.delete(symbol)
    }
  }

  /** Those that the log is to be told of before the venue is asked; each once. */
  unannounced(): Stream[] {
    const streams = [...this.#streams.values()].filter(({ announced }) => announced === 'no')
    for (const stream of streams) stream.announced = 'on its way'
    return streams
  }

  /** `now`, here and below: milliseconds that no correction of the clock moves. */
  acknowledged(symbols: readonly string[], now: number): void {
    const time = this.#options.clock.now()
    for (const symbol of symbols) {
      const stream = this.#streams.get(symbol)
      if (stream?.ids === 'none') carry(stream, time, now)
      else if (stream !== undefined && time > 0) stream.since ??= time
    }
    this.#change(symbols, 'acknowledged')
  }

  refused(symbols: readonly string[]): void {
    this.#change(symbols, 'refused')
  }

  /** Their connection ended; `uncarried`: those that no other one has. */
  lost(symbols: readonly string[], uncarried: readonly string[], now: number): void {
    for (const symbol of symbols) {
      const stream = this.#streams.get(symbol)
      if (stream !== undefined) stream.lostAt = now
    }
    for (const symbol of uncarried) {
      const stream = this.#streams.get(symbol)
      if (stream?.ids === 'none') stream.carriedSince = Infinity
    }
  }

  /** The log may not have what came: the instruments are followed as if they had just begun. */
  forget(): void {
    const { trades, partitions, clock } = this.#options
    for (const [symbol, old] of this.#streams) {
      const { instrument, lastTradeAt, lostAt, announced, tracker, stated } = old
      const stream = newStream(trades.ids, instrument, partitions)
      const since = old.ids === 'contiguous' ? old.since : undefined
      // What came with the answer to the subscription may have been traded before it was heard.
      const begun =
        typeof since === 'number'
          ? { last_id: null, time: Math.min(since, tracker.began?.time ?? since) }
          : tracker.began
      const safe = stated?.before ?? old.safe ?? begun
      this.#streams.set(symbol, Object.assign(stream, { lastTradeAt, lostAt, announced, safe }))
      if (stream.ids === 'none') {
        if (old.ids === 'none') stream.carriedSince = old.carriedSince
        stream.tracker.begin(clock.now())
      } else stream.since = since
    }
  }

  /** `now`: when the frame came. */
  take(trade: VenueTrade, now: number): TradeVerdict {
    const { clock, out, trades } = this.#options
    const stream = this.#streams.get(trade.symbol)
    if (stream === undefined) return 'unknown-symbol'
    clock.see(trades.venue, trade.time)
    const received = clock.now()
    stream.lastTradeAt = now
    const time = Math.min(trade.time, received + AHEAD_MAX)
    if (observe(stream, trade.id, time, now) === 'duplicate') return 'duplicate'
    const record = stream.normalise(trade, received, fromStream)
    out.trade(record, isClamped(trade, record))
    return 'taken'
  }

  /** The venue's word on how far a symbol's ids have come. */
  heartbeat(symbol: string | null, lastId: number | null, now: number): void {
    const stream = symbol === null ? undefined : this.#streams.get(symbol)
    if (stream?.ids !== 'contiguous' || lastId === null) return
    stream.toldAt = now
    stream.tracker.tell(lastId, this.#options.clock.now(), now)
  }

  #unlisted(asset: string): void {
    const { trades, clock, out } = this.#options
    const instrument = instrumentId(trades.venue, trades.market, asset)
    out.change({ instrument, asset, state: 'unlisted', time: clock.now() })
  }

  #change(symbols: readonly string[], state: SubscriptionChange['state']): void {
    const { clock, out } = this.#options
    const time = clock.now()
    for (const symbol of symbols) {
      const stream = this.#streams.get(symbol)
      if (stream === undefined) continue
      const { instrument, asset } = stream.instrument
      out.change({ instrument, asset, state, time })
    }
  }
}

/** The venue says that it streams from now on. Of a stream that has only begun, what came before is not ours. */
function carry(stream: PageStream, time: Micros, now: number): void {
  if (stream.carriedSince === Infinity) stream.carriedSince = stream.tracker.settled === undefined ? -Infinity : now
  stream.tracker.begin(time)
}
