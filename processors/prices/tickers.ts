import type { CompositePrice, Micros, PriceSource, SpotTicker } from '../../schemas/records.ts'
import { instrumentId, priceVenues, quotesOf, type PriceVenue } from '../../schemas/venues.ts'
import { aliveSources } from './alive.ts'
import { compositeOf } from './composite.ts'
import { asDecimal } from './decimal.ts'
import { openGap } from './gaps.ts'
import { assetOf, type AssetState, type PricesState, type Refusal, type Source } from './state.ts'

/** How far a record looks back for lows and highs at most: the longest time between two tickers of a quiet asset. */
const LOOK_BACK: Micros = 5_000_000
/** A price that stays as it is is told again after so long, with its venues' newest tickers. */
const AGAIN: Micros = 1_000_000
/** A market that is this much older than another of the same quote has been renamed. */
export const RENAMED: Micros = 60_000_000

/** The names of each set of venues, in the chain's order; the first venue is the lowest bit. */
const namesOfSets = Array.from({ length: 2 ** priceVenues.length }, (_, set) =>
  priceVenues.filter((_venue, at) => (set >> at) % 2 === 1).join(' '),
)

/** How the ids of a venue's spot instruments begin. */
const spotPrefixes = priceVenues.map((venue) => ({ venue, prefix: instrumentId(venue, 'spot', '') }))

/** Takes a ticker in; gives the composite price that follows from it, where that says anything new. */
export function applyTicker(state: PricesState, ticker: SpotTicker, v: number): CompositePrice | undefined {
  const venue = priceVenueOf(ticker.instrument)
  if (venue === undefined) return refuse(state, 'other_market')
  if (!(ticker.price > 0 && ticker.quote_usd > 0)) return refuse(state, 'bad_price')
  const asset = assetOf(state, ticker.asset)
  const known = asset.sources.get(venue)
  const refusal = known === undefined ? undefined : refusalOf(known, ticker, quotesOf(venue))
  if (refusal !== undefined) return refuse(state, refusal)
  const now = Math.max(state.time, ticker.received)
  openGap(state, asset, now)
  const source = sourceOf(venue, ticker, known)
  asset.sources.set(venue, source)
  return composite(state, asset, { now, time: ticker.received, since: lookBack(source, now), v })
}

/** The composite price after a change that no ticker made: a venue that counts no longer, or again. */
export function compositeAt(state: PricesState, asset: AssetState, v: number): CompositePrice | undefined {
  const { time } = state
  return composite(state, asset, { now: time, time, since: time, v })
}

/** Names of the venues that count. */
export function countedOf(sources: readonly Source[]): string {
  let set = 0
  for (const { venue } of sources) set |= 1 << priceVenues.indexOf(venue)
  return namesOfSets[set] ?? ''
}

export function priceVenueOf(instrument: string): PriceVenue | undefined {
  for (const { venue, prefix } of spotPrefixes) if (instrument.startsWith(prefix)) return venue
  return undefined
}

function refuse(state: PricesState, refusal: Refusal): undefined {
  state.refused[refusal] += 1
}

function refusalOf(known: Source, ticker: SpotTicker, preferred: readonly string[]): Refusal | undefined {
  if (known.instrument === ticker.instrument) return isOlder(known, ticker) ? 'old' : undefined
  const rank = (quote: string): number => (preferred.includes(quote) ? preferred.indexOf(quote) : preferred.length)
  if (rank(ticker.quote) < rank(known.quote)) return undefined
  const isRenamed = rank(ticker.quote) === rank(known.quote) && ticker.received - known.received > RENAMED
  return isRenamed ? undefined : 'other_market'
}

function isOlder(known: Source, { time, received }: SpotTicker): boolean {
  return time < known.time || (time === known.time && received <= known.received)
}

function sourceOf(venue: PriceVenue, ticker: SpotTicker, known: Source | undefined): Source {
  const { instrument, quote, quote_usd: usd, price, time, received } = ticker
  return {
    venue,
    instrument,
    quote,
    price: asDecimal(price * usd),
    low: asDecimal(Math.min(ticker.low, price) * usd),
    high: asDecimal(Math.max(ticker.high, price) * usd),
    change: ticker.change_24h,
    time,
    received,
    previous: known?.received ?? received - LOOK_BACK,
  }
}

/**
 * A wick that all venues had reaches us in five tickers, one after the other. So a record looks back on the time that its
 * own ticker covers, for the other venues too; else no median would ever see the wick.
 */
function lookBack({ previous }: Source, now: Micros): Micros {
  return Math.max(previous, now - LOOK_BACK)
}

interface Moment {
  readonly now: Micros
  readonly time: Micros
  /** Lows and highs of tickers since then count. */
  readonly since: Micros
  readonly v: number
}

function composite(state: PricesState, asset: AssetState, { now, time, since, v }: Moment): CompositePrice | undefined {
  const sources = aliveSources(state, asset, now)
  asset.counted = countedOf(sources)
  asset.isChanged = true
  const told = sources.map((source) => sourceSince(source, since))
  const price = compositeOf(told, { asset: asset.asset, changes: changesOf(sources), late: false, time, v })
  if (price === undefined || isKnown(asset, price)) return undefined
  asset.told = { price: price.price, quality: price.quality, counted: asset.counted, time }
  return price
}

function changesOf(sources: readonly Source[]): number[] {
  const changes: number[] = []
  for (const { change } of sources) if (change !== null) changes.push(change)
  return changes
}

/** Whether all of it was told a moment ago: the price by the same venues, and it has not been anywhere else. */
function isKnown({ told, counted }: AssetState, { price, low, high, quality, time }: CompositePrice): boolean {
  if (told === null || time - told.time >= AGAIN) return false
  const hasStayed = price === told.price && low === price && high === price
  return hasStayed && quality === told.quality && counted === told.counted
}

function sourceSince({ venue, instrument, price, low, high, time, received }: Source, since: Micros): PriceSource {
  const isRecent = received > since
  return { exchange: venue, instrument, price, low: isRecent ? low : price, high: isRecent ? high : price, time }
}
