import { knownAsset, symbolOf } from '../../schemas/catalogue.ts'
import { fundingVenues, priceVenues, type Market, type TradeVenueRow } from '../../schemas/venues.ts'
import { ApiError } from '../request/errors.ts'
import { upperSymbol } from '../request/params.ts'
import type { InstrumentRow } from '../views/world.ts'

/** Quotes that may follow a base symbol in a request: BTCUSDT is BTC. */
const QUOTES = ['USDT']

export interface Listed {
  readonly asset: string
  /** What answers show. */
  readonly symbol: string
}

/** What the venues list, ready to be asked for. */
export interface Catalogue {
  /** No venue's list is in the log yet. */
  readonly isEmpty: boolean
  /** Venues that list an asset on a market now. */
  venuesOf(asset: string, market: Market): ReadonlySet<string>
  /** Whether the venue's list of that market is in the log. */
  knows(venue: string, market: Market): boolean
  /** Whether the asset has a live perpetual of a funding venue, a live spot pair of a chain venue, or trades that count. */
  has(asset: string): boolean
  /** Those of them that a request can name. */
  readonly named: readonly string[]
  /** The asset that a venue's own ticker means, where it means one only. */
  byBase(base: string): string | undefined
}

const nobody: ReadonlySet<string> = new Set()
const makers: Readonly<Record<Market, readonly string[]>> = { perp: fundingVenues, spot: priceVenues }

/**
 * Reads every list once, so that a request costs two look-ups. `counted`: whose trades count. What such a venue alone calls by
 * a ticker is asked for by it; where a maker of prices or funding has the ticker too, theirs is meant.
 */
export function catalogueOf(instruments: readonly InstrumentRow[], counted: readonly TradeVenueRow[]): Catalogue {
  const known = new Set(instruments.map(({ venue, market }) => `${venue}|${market}`))
  const venues = new Map<string, Set<string>>()
  const assets = new Set<string>()
  const bases = new Map<string, Set<string>>()
  const further = new Map<string, Set<string>>()
  const trading = new Set(counted.map(({ venue, market }) => `${venue}|${market}`))
  for (const { asset, venue, market, base } of instruments.filter(({ live }) => live)) {
    put(venues, `${asset}|${market}`, venue)
    if (market !== 'perp' && market !== 'spot') continue
    const isMaker = makers[market].includes(venue)
    if (!isMaker && !trading.has(`${venue}|${market}`)) continue
    assets.add(asset)
    put(isMaker ? bases : further, base, asset)
  }
  return {
    isEmpty: instruments.length === 0,
    venuesOf: (asset, market) => venues.get(`${asset}|${market}`) ?? nobody,
    knows: (venue, market) => known.has(`${venue}|${market}`),
    named: [...assets].filter((asset) => upperSymbol(symbolOf(asset)) !== undefined),
    has: (asset) => assets.has(asset),
    byBase(base) {
      const meant = bases.get(base) ?? further.get(base)
      return meant?.size === 1 ? [...meant][0] : undefined
    },
  }
}

function put(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, new Set([value]))
  else known.add(value)
}

/**
 * The asset that a request's upper-case symbol means; throws `symbol_not_found`.
 *
 * The catalogue is what the venues list. Before any venue's list is in the log, the assets known by name stand for it.
 */
export function findAsset(symbol: string, catalogue: Catalogue): Listed {
  const quote = QUOTES.find((suffix) => symbol.endsWith(suffix) && symbol.length > suffix.length)
  const candidates = quote === undefined ? [symbol] : [symbol, symbol.slice(0, -quote.length)]
  for (const candidate of candidates) {
    const asset = assetOf(candidate, catalogue)
    if (asset !== undefined) return { asset, symbol: symbolOf(asset) }
  }
  throw new ApiError('symbol_not_found', `No venue lists ${symbol}; try BTC, ETH or SOL.`, { field: 'symbol' })
}

function assetOf(symbol: string, catalogue: Catalogue): string | undefined {
  const known = knownAsset(symbol)?.id
  if (catalogue.isEmpty) return known
  const named = known ?? symbol.toLowerCase()
  return catalogue.has(named) ? named : catalogue.byBase(symbol)
}
