import type { CompositePrice, Micros, PriceRange, PriceSource } from '../../schemas/records.ts'
import { priceVenues, type PriceVenue } from '../../schemas/venues.ts'
import { hasAlive } from './alive.ts'
import { compositeOf } from './composite.ts'
import { asDecimal } from './decimal.ts'
import { type AssetState, type GapCandle, type GapRange, type PriceGap, type PricesState } from './state.ts'

/** Venues are waited for this long after the first has told of a gap, partition time: each asks for its candles in turn. */
const GATHER: Micros = 60_000_000
/** Candles of a gap come this long after its end at the earliest: its last minute has to be over. */
const CANDLES: Micros = 65_000_000
/** A gap that follows sooner on one that is not told yet is told with it, which then waits no longer than this. */
const JOINED: Micros = 300_000_000
const MINUTE: Micros = 60_000_000
/** A gap is told by some so many records at most: by minutes, or of a long one by several at a time. */
const STEPS_MAX = 240

/** Notes at `now`, before a price comes in, that none was there: the gap that its candles will tell of. */
export function openGap(state: PricesState, asset: AssetState, now: Micros): void {
  if (asset.sources.size === 0 && asset.awaySince === null) return
  if (hasAlive(state, asset, now)) return
  extendGap(asset, asset.awaySince ?? lastHeard(asset), now)
  asset.awaySince = null
}

/** When the newest price of an asset was received. */
export function lastHeard({ sources }: AssetState): Micros {
  return Math.max(0, ...[...sources.values()].map(({ received }) => received))
}

/** One gap at a time: one of which nothing is told yet takes in what follows on it. */
function extendGap(asset: AssetState, from: Micros, to: Micros): PriceGap {
  const { gap } = asset
  asset.isChanged = true
  if (gap !== null && (gap.isTold ? isToldSince(gap, from) : gap.newest === from || from - gap.to <= JOINED)) {
    gap.newest = from
    gap.to = to
    if (gap.due !== null) gap.due = putOff(gap, gap.due)
    return gap
  }
  asset.gap = { from, newest: from, to, ranges: new Map(), due: null, latest: null, isTold: false }
  return asset.gap
}

/** Whether what was told is also of the time that began then, and not only of one that it was joined with. */
function isToldSince({ newest, ranges }: PriceGap, from: Micros): boolean {
  return newest === from && [...ranges.values()].some(({ to }) => to > from)
}

/** Where it has taken another in, the candles of that are waited for as well. */
function putOff({ from, newest, to, latest }: PriceGap, due: Micros): Micros {
  return newest === from ? due : Math.max(due, Math.min(to + CANDLES + GATHER, latest ?? Infinity))
}

/** Takes a venue's candles of a gap in; false where there was no gap at that time, or all is told. */
export function gatherRange(state: PricesState, asset: AssetState, venue: PriceVenue, range: PriceRange): boolean {
  const gap = gapOf(state, asset)
  if (gap === null || gap.isTold || range.to <= gap.from || range.from >= gap.to) return false
  gap.ranges.set(venue, joined(gap.ranges.get(venue), venue, range))
  const isWhole = [...asset.sources.keys()].every((name) => (gap.ranges.get(name)?.to ?? 0) > gap.newest)
  gap.latest ??= state.time + JOINED
  gap.due = isWhole ? state.time : putOff(gap, gap.due ?? state.time + GATHER)
  asset.isChanged = true
  return true
}

/** Candles may come before the first price does: then the gap is still open. */
function gapOf(state: PricesState, asset: AssetState): PriceGap | null {
  return asset.awaySince === null ? asset.gap : extendGap(asset, asset.awaySince, state.time)
}

function joined(known: GapRange | undefined, venue: PriceVenue, range: PriceRange): GapRange {
  const { instrument, to } = range
  const candles = candlesOf(range)
  if (known === undefined || known.instrument !== instrument) return { venue, instrument, candles, to }
  return { venue, instrument, candles: [...known.candles, ...candles], to: Math.max(known.to, to) }
}

/** A range that does not tell of its minutes is as one candle. */
function candlesOf({ from, to, low, high, quote_usd: usd, candles }: PriceRange): GapCandle[] {
  const minutes = candles.map(({ minute, ...bounds }) => ({ from: minute, to: minute + MINUTE, ...bounds }))
  const parts = minutes.length > 0 ? minutes : [{ from, to, low, high }]
  return parts.map((part) => ({ ...part, low: asDecimal(part.low * usd), high: asDecimal(part.high * usd) }))
}

/**
 * What the gathered candles say, once, a record for each minute: when all venues of the asset have told, or the others were
 * waited for.
 */
export function tellGap(state: PricesState, asset: AssetState, v: number): CompositePrice[] {
  const { gap } = asset
  if (gap === null || gap.isTold || gap.due === null || gap.due > state.time) return []
  gap.isTold = true
  asset.isChanged = true
  const ranges = priceVenues.flatMap((venue) => gap.ranges.get(venue) ?? [])
  const end = Math.min(gap.to, Math.max(...ranges.map(({ to }) => to)))
  const prices = stepsOf(ranges, gap.from, end).map(([time, parts]) => {
    const bounds_from = Math.min(...parts.map(({ from }) => from))
    return compositeOf(parts.map(sourceOf), { asset: asset.asset, changes: [], late: true, time, v, bounds_from })
  })
  for (const range of ranges) gap.ranges.set(range.venue, { ...range, candles: [] })
  return prices.filter((price) => price !== undefined)
}

/** What one venue's candles say that one record tells of, whose time is `end`. */
interface Part extends Omit<GapRange, 'candles'>, Omit<GapCandle, 'to'> {
  readonly end: Micros
}

/** What all venues say of each minute before `to`, or of a long gap of several, by where they end; oldest first. */
function stepsOf(ranges: readonly GapRange[], from: Micros, to: Micros): [end: Micros, parts: Part[]][] {
  const width = MINUTE * Math.max(1, Math.ceil((to - from) / (STEPS_MAX * MINUTE)))
  const endOf = (candle: GapCandle): Micros => Math.min(Math.ceil(candle.to / width) * width, to)
  const parts = ranges.flatMap(({ candles, ...range }) => {
    const steps = Map.groupBy(
      candles.filter((candle) => candle.from < to),
      endOf,
    )
    return [...steps].map(([end, own]) => ({ ...range, ...boundsOf(own), end }))
  })
  return [...Map.groupBy(parts, ({ end }) => end)].sort(([a], [b]) => a - b)
}

function boundsOf(candles: readonly GapCandle[]): Omit<GapCandle, 'to'> {
  return {
    from: Math.min(...candles.map(({ from }) => from)),
    low: Math.min(...candles.map(({ low }) => low)),
    high: Math.max(...candles.map(({ high }) => high)),
  }
}

/** The price of a time of which only bounds are known is their middle. */
function sourceOf({ venue, instrument, low, high, to, end }: Part): PriceSource {
  const time = Math.min(to, end)
  return { exchange: venue, instrument, price: asDecimal(low + (high - low) / 2), low, high, time }
}
