import type { Instrument, Micros, Trade } from '../../schemas/records.ts'
import { dividedByFactor, timesFactor } from './decimal.ts'
import type { VenueTrade } from './venue.ts'

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
