import { partitionOf } from '../../../schemas/catalogue.ts'
import type { Instrument, Micros, Trade, TradePosition } from '../../../schemas/records.ts'
import { dividedByFactor, timesFactor } from '../venues/decimal.ts'
import type { VenueTrade } from '../venues/events.ts'
import { IdTracker } from './id-tracker.ts'
import { PageTracker } from './page-tracker.ts'

/** One instrument that is streamed, with what came of it. */
export type Stream = IdStream | PageStream

type Position = Omit<TradePosition, 'instrument'>

/** How far a mark said that a stream is complete. */
interface Stated {
  /** By the ticks of this process, as all such times here. */
  readonly at: number
  /** Where the log began then. */
  readonly start: number
  readonly position: Position
  /** What was said the time before, or where the stream began. */
  readonly before?: Position
}

interface Common {
  instrument: Instrument
  readonly symbol: string
  readonly partition: number
  normalise: Normalise
  /** When the newest trade of the stream came; 0 before the first. */
  lastTradeAt: number
  /** When a connection that carried it was lost. */
  lostAt: number
  /** Whether the log knows that the venue is asked for it; it is asked only then. */
  announced: 'no' | 'on its way' | 'yes'
  /** What marks last said of how far it is complete. */
  stated?: Stated
  /** After the log has lost something: how far it is certainly complete, from before that. */
  safe?: Position | undefined
}

export interface IdStream extends Common {
  readonly ids: 'contiguous'
  tracker: IdTracker
  /** When the venue last said itself how far the ids have come. */
  toldAt: number
  /** Highest id that the log had when this process began; what is missing right after it is the restart's. */
  resumedAt: number | undefined
  /** When the venue is next asked for trades that a silent stream may have lost. */
  probeAt: number
  probes: number
  /**
   * Since when its trades are to be in the log, as long as it is not known with which id that begins; undefined: it is not
   * subscribed yet. `placed`: that id is the tracker's floor.
   */
  since: Micros | 'placed' | undefined
  /** Questions for that id that the venue has refused, and when it is asked again. */
  refusals: number
  placeAt: number
  /** What was last stated of ids that begin anew. */
  anew?: { readonly from: Micros; readonly to: Micros; readonly at: number }
}

export interface PageStream extends Common {
  readonly ids: 'none'
  tracker: PageTracker
  /** Since when, without a break, a connection that the venue has acknowledged carries it; Infinity: none does. */
  carriedSince: number
}

export function newStream(ids: 'contiguous' | 'none', instrument: Instrument, partitions: number): Stream {
  const common = {
    instrument,
    symbol: instrument.symbol,
    partition: partitionOf(instrument.asset, partitions),
    normalise: normaliser(instrument),
    lastTradeAt: 0,
    lostAt: -Infinity,
    announced: 'no' as const,
  }
  const asking = { toldAt: 0, resumedAt: undefined, probeAt: 0, probes: 0, since: undefined, refusals: 0, placeAt: 0 }
  return ids === 'contiguous'
    ? { ...common, ids, tracker: new IdTracker(), ...asking }
    : { ...common, ids, tracker: new PageTracker(), carriedSince: Infinity }
}

/** The venue describes the market anew: from here on trades are scaled by the new factors. */
export function relist(stream: Stream, instrument: Instrument): void {
  if (instrument === stream.instrument) return
  stream.instrument = instrument
  stream.normalise = normaliser(instrument)
}

/** Takes one trade id of the stream; `duplicate` where it came before. */
export function observe(stream: Stream, id: number, time: Micros, now: number): 'new' | 'duplicate' {
  return stream.ids === 'contiguous' ? stream.tracker.observe(id, time, now) : stream.tracker.observe(id, time)
}

/** A venue's clock may run this far ahead of ours before we take our own time instead. */
export const AHEAD_MAX: Micros = 5_000_000

/** Where a trade came from; a backfilled one names the gap that it closes. */
export type Origin =
  | { readonly origin: 'stream' | 'import'; readonly gapId: null }
  | { readonly origin: 'backfill'; readonly gapId: number }

export const fromStream: Origin = { origin: 'stream', gapId: null }
export const fromImport: Origin = { origin: 'import', gapId: null }

/** Makes a venue's trade the record of `market.trades`. `received`: when we had the message, microseconds. */
export type Normalise = (trade: VenueTrade, received: Micros, from: Origin) => Trade

/**
 * The normaliser of one instrument. Sizes become base units, prices quote units for one base unit, both the doubles
 * nearest to the exact decimals. A venue time more than 5 s ahead of `received` is set to `received + 5 s`; that the
 * record's time is not the trade's says so (`isClamped`), to be counted.
 */
export function normaliser(instrument: Instrument): Normalise {
  const sizeOf = timesFactor(instrument.size_factor)
  const priceOf = dividedByFactor(instrument.price_factor)
  return (trade, received, { origin, gapId }) => {
    const price = priceOf(trade.price)
    const size = sizeOf(trade.size)
    return {
      instrument: instrument.instrument,
      asset: instrument.asset,
      first_id: trade.id,
      last_id: trade.id,
      count: trade.count,
      sequence: trade.sequence,
      price,
      size,
      quote: price * size,
      size_factor: instrument.size_factor,
      price_factor: instrument.price_factor,
      taker: trade.taker,
      time: Math.min(trade.time, received + AHEAD_MAX),
      received,
      origin,
      gap_id: gapId,
    }
  }
}

/** Whether the venue's time was too far ahead of ours and cut. */
export function isClamped(trade: VenueTrade, record: Trade): boolean {
  return record.time !== trade.time
}
