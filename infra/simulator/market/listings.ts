import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fillerOf, fillersOf, perpMarkets, quietPerp, spotMarket, spotMarkets } from './catalogue.ts'
import {
  type PerpMarket,
  type PerpVenueName,
  perpVenueNames,
  type SpotMarket,
  type SpotVenueName,
  spotVenueNames,
} from './economy.ts'
import { assets, type Market } from './markets.ts'

/** Contracts are worth 10^-9 to 10^9 of their asset. */
const FACTOR_MAX = 9

/** A change of an instrument list, as `POST /listings` takes it. `factor`: a contract becomes 10^factor of the base. */
export type ListingChange =
  | {
      readonly market: 'spot'
      readonly venue: SpotVenueName
      readonly symbol: string
      readonly action: 'list' | 'delist'
    }
  | {
      readonly market: 'perp'
      readonly venue: PerpVenueName
      readonly symbol: string
      readonly action: 'list' | 'delist' | 'change'
      readonly factor: number | undefined
    }

/** What each venue lists now: the catalogue with the changes that were asked for, which outlive a restart. */
export class Listings {
  /** Every perpetual of the catalogue, whether it is listed now or not. */
  readonly catalogue: readonly PerpMarket[]
  private readonly file: string
  private readonly changes: ListingChange[]
  private readonly spotLists: Record<SpotVenueName, SpotMarket[]>
  private readonly perpLists: Record<PerpVenueName, PerpMarket[]>

  constructor(folder: string, fillers: number) {
    const spots = spotMarkets()
    this.catalogue = perpMarkets(fillersOf(fillers))
    const spotsOf = (venue: SpotVenueName): SpotMarket[] => spots.filter((market) => market.venue === venue)
    const perpsOf = (venue: PerpVenueName): PerpMarket[] => this.catalogue.filter((market) => market.venue === venue)
    this.spotLists = {
      binance: spotsOf('binance'),
      coinbase: spotsOf('coinbase'),
      okx: spotsOf('okx'),
      bybit: spotsOf('bybit'),
      kraken: spotsOf('kraken'),
    }
    this.perpLists = {
      binance: perpsOf('binance'),
      bybit: perpsOf('bybit'),
      okx: perpsOf('okx'),
      gate: perpsOf('gate'),
    }
    this.file = join(folder, 'listings.json')
    // Written by `apply` alone, and whole: it is renamed into place.
    this.changes = existsSync(this.file) ? (JSON.parse(readFileSync(this.file, 'utf8')) as ListingChange[]) : []
    for (const change of this.changes) this.make(change)
  }

  spots(venue: SpotVenueName): readonly SpotMarket[] {
    return this.spotLists[venue]
  }

  perps(venue: PerpVenueName): readonly PerpMarket[] {
    return this.perpLists[venue]
  }

  /** Changes a list; the reason where it cannot be. On disk when this returns. */
  apply(change: ListingChange): string | undefined {
    const refused = this.make(change)
    if (refused !== undefined) return refused
    this.changes.push(change)
    writeFileSync(`${this.file}.new`, JSON.stringify(this.changes))
    renameSync(`${this.file}.new`, this.file)
    return undefined
  }

  /** A market that trades, as its venue counts it now; undefined where the venue no longer lists it. */
  traded(market: Market): Market | undefined {
    if (market.venue === 'coinbase') {
      return this.spotLists.coinbase.some(({ symbol }) => symbol === market.symbol) ? market : undefined
    }
    const venue = perpVenueNames.find((name) => name === market.venue)
    if (venue === undefined) return market
    const listed = this.perpLists[venue].find(({ symbol }) => symbol === market.symbol)
    if (listed === undefined) return undefined
    const { factor, priceDecimals, sizeDecimals } = listed
    return factor === market.factor ? market : { ...market, factor, priceDecimals, sizeDecimals }
  }

  private make(change: ListingChange): string | undefined {
    if (change.market === 'spot') return changed(this.spotLists[change.venue], change, () => newSpot(change))
    const list = this.perpLists[change.venue]
    if (change.action !== 'change') return changed(list, change, () => this.newPerp(change))
    const index = list.findIndex(({ symbol }) => symbol === change.symbol)
    const market = list[index]
    if (market === undefined) return 'not listed'
    if (change.factor === undefined) return 'factor is missing'
    list[index] = revalued(market, change.factor)
    return undefined
  }

  /** What was listed before comes back as it was; another one does not trade. */
  private newPerp({
    venue,
    symbol,
    factor,
  }: {
    venue: PerpVenueName
    symbol: string
    factor: number | undefined
  }): PerpMarket {
    const before = this.catalogue.find((market) => market.venue === venue && market.symbol === symbol)
    const market = before ?? quietPerp(venue, fillerOf(symbol.replace(/[-_]?USDT(-SWAP)?$/, '')), symbol)
    return factor === undefined ? market : revalued(market, factor)
  }
}

function changed<Listed extends { readonly symbol: string }>(
  list: Listed[],
  { symbol, action }: { symbol: string; action: string },
  made: () => Listed,
): string | undefined {
  const index = list.findIndex((market) => market.symbol === symbol)
  if (action === 'delist') {
    if (index < 0) return 'not listed'
    list.splice(index, 1)
    return undefined
  }
  if (index >= 0) return 'listed already'
  list.push(made())
  return undefined
}

function newSpot({ venue, symbol }: { venue: SpotVenueName; symbol: string }): SpotMarket {
  const before = spotMarkets().find((market) => market.venue === venue && market.symbol === symbol)
  if (before !== undefined) return before
  const base = symbol.replace(/-?USD[TC]?$/, '')
  const row = assets.find(({ asset, ticker }) => (ticker ?? asset) === base)
  const about = row === undefined ? fillerOf(base) : { asset: row.asset, price: row.price }
  return { ...spotMarket(venue, { ...about, base }), symbol }
}

/** The same contracts counted in units of another value: base amounts and base prices keep their whole units. */
function revalued(market: PerpMarket, factor: number): PerpMarket {
  const more = factor - market.factor
  const multiplied = market.venue === 'binance' || market.venue === 'bybit'
  return {
    ...market,
    factor,
    sizeDecimals: market.sizeDecimals + more,
    priceFactor: market.priceFactor + (multiplied ? more : 0),
    priceDecimals: market.priceDecimals - (multiplied ? more : 0),
  }
}

/** Reads the body of `POST /listings`; the reason where it says nothing that can be done. */
export function listingChange(body: unknown): ListingChange | string {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const { symbol, action, factor } = fields
  if (typeof symbol !== 'string' || !/^[A-Z0-9_-]{3,40}$/.test(symbol)) return 'symbol must be the venue’s own'
  if (factor !== undefined && !isFactor(factor)) return `factor must be a whole number within ${FACTOR_MAX} of 0`
  if (fields['market'] === 'spot') {
    const venue = spotVenueNames.find((name) => name === fields['venue'])
    if (venue === undefined) return `venue must be one of ${spotVenueNames.join(', ')}`
    if (action !== 'list' && action !== 'delist') return 'action must be list or delist'
    return { market: 'spot', venue, symbol, action }
  }
  if (fields['market'] !== 'perp') return 'market must be spot or perp'
  const venue = perpVenueNames.find((name) => name === fields['venue'])
  if (venue === undefined) return `venue must be one of ${perpVenueNames.join(', ')}`
  if (action !== 'list' && action !== 'delist' && action !== 'change') return 'action must be list, delist or change'
  return { market: 'perp', venue, symbol, action, factor }
}

function isFactor(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= FACTOR_MAX
}
