import type { CompositePrice, Micros, PriceRange, PriceSource } from '../../schemas/records.ts'
import { priceVenues, type PriceVenue } from '../../schemas/venues.ts'
import { aliveSources } from './alive.ts'
import { compositeOf } from './composite.ts'
import { asDecimal } from './decimal.ts'
import { type AssetState, type GapRange, type PriceGap, type PricesState } from './state.ts'

/** Venues are waited for this long after the first has told of a gap, partition time: each asks for its candles in turn. */
const GATHER: Micros = 60_000_000

/** Notes at `now`, before a price comes in, that none was there: the gap that its candles will tell of. */
export function openGap(state: PricesState, asset: AssetState, now: Micros): void {
  if (asset.sources.size === 0 && asset.awaySince === null) return
  if (aliveSources(state, asset, now).length > 0) return
  extendGap(asset, asset.awaySince ?? lastHeard(asset), now)
  asset.awaySince = null
  asset.isChanged = true
}

/** When the newest price of an asset was received. */
export function lastHeard({ sources }: AssetState): Micros {
  return Math.max(0, ...[...sources.values()].map(({ received }) => received))
}

/** One gap at a time: one whose candles are being gathered grows. */
function extendGap(asset: AssetState, from: Micros, to: Micros): PriceGap {
  const { gap } = asset
  if (gap !== null && (gap.from === from || (gap.due !== null && !gap.isTold))) {
    gap.to = to
    return gap
  }
  asset.gap = { from, to, ranges: new Map(), due: null, isTold: false }
  return asset.gap
}

/** Takes a venue's candles of a gap in; false where there was no gap at that time, or all is told. */
export function gatherRange(state: PricesState, asset: AssetState, venue: PriceVenue, range: PriceRange): boolean {
  const gap = gapOf(state, asset)
  if (gap === null || gap.isTold || range.to <= gap.from || range.from >= gap.to) return false
  gap.ranges.set(venue, joined(gap.ranges.get(venue), venue, range))
  const isWhole = [...asset.sources.keys()].every((name) => gap.ranges.has(name))
  gap.due = isWhole ? state.time : (gap.due ?? state.time + GATHER)
  asset.isChanged = true
  return true
}

/** Candles may come before the first price does: then the gap is still open. */
function gapOf(state: PricesState, asset: AssetState): PriceGap | null {
  return asset.awaySince === null ? asset.gap : extendGap(asset, asset.awaySince, state.time)
}

function joined(known: GapRange | undefined, venue: PriceVenue, range: PriceRange): GapRange {
  const { instrument, to } = range
  const low = asDecimal(range.low * range.quote_usd)
  const high = asDecimal(range.high * range.quote_usd)
  if (known === undefined || known.instrument !== instrument) return { venue, instrument, low, high, to }
  return {
    venue,
    instrument,
    low: Math.min(known.low, low),
    high: Math.max(known.high, high),
    to: Math.max(known.to, to),
  }
}

/** What the gathered candles say, once: when all venues of the asset have told, or the others were waited for. */
export function tellGap(state: PricesState, asset: AssetState, v: number): CompositePrice | undefined {
  const { gap } = asset
  if (gap === null || gap.isTold || gap.due === null || gap.due > state.time) return undefined
  gap.isTold = true
  asset.isChanged = true
  const ranges = priceVenues.flatMap((venue) => gap.ranges.get(venue) ?? [])
  const time = Math.min(gap.to, Math.max(...ranges.map(({ to }) => to)))
  return compositeOf(ranges.map(sourceOf), { asset: asset.asset, changes: [], late: true, time, v })
}

/** The price of a time of which only bounds are known is their middle. */
function sourceOf({ venue, instrument, low, high, to }: GapRange): PriceSource {
  return { exchange: venue, instrument, price: asDecimal(low + (high - low) / 2), low, high, time: to }
}
