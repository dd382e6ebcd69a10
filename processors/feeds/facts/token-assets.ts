import { knownAsset } from '../../../schemas/catalogue.ts'
import type { Micros, Token } from '../../../schemas/records.ts'
import type { TokenFact } from '../venues/events.ts'

/** A token is not of an asset whose price is further away than this part, as with markets (`assets.ts`). */
const sameWithin = 0.05
/** A ticker of the checked-in map is told from its namesakes by this factor only: its price may be minutes old. */
const absurdTimes = 5

/**
 * Which of our assets a token of the registry is: tickers are not unique there. The ticker must be the asset's and the
 * price must agree with our own; of several that do, the one with the best rank.
 */
export class TokenAssets {
  readonly #owners = new Map<string, { readonly id: string; readonly rank: number }>()

  /** `priceOf`: our newest price of an asset, dollars. */
  assetOf(token: TokenFact, priceOf: (asset: string) => number | undefined): string | null {
    const ticker = token.ticker.toUpperCase()
    const known = knownAsset(ticker)
    const asset = known?.id ?? ticker.toLowerCase()
    if (!agrees(token.price, priceOf(asset), known !== undefined)) return null
    const rank = token.rank ?? Infinity
    const owner = this.#owners.get(asset)
    if (owner !== undefined && owner.id !== token.symbol && owner.rank <= rank) return null
    this.#owners.set(asset, { id: token.symbol, rank })
    return asset
  }
}

/** Without a price of ours only a ticker of the checked-in map is believed. */
function agrees(price: number | null, ours: number | undefined, known: boolean): boolean {
  if (ours === undefined || price === null) return known
  if (known) return price < ours * absurdTimes && price > ours / absurdTimes
  return Math.abs(price - ours) <= ours * sameWithin
}

export function tokenRecord(fact: TokenFact, asset: string | null, received: Micros): Token {
  return {
    id: fact.symbol,
    asset,
    symbol: fact.ticker.toLowerCase(),
    name: fact.name,
    price: fact.price,
    change_24h: fact.change24h,
    change_7d: fact.change7d,
    change_30d: fact.change30d,
    volume_24h: fact.volume24h,
    market_cap: fact.marketCap,
    market_cap_rank: fact.rank,
    circulating_supply: fact.circulating,
    total_supply: fact.total,
    ath: fact.ath,
    ath_date: fact.athDate,
    atl: fact.atl,
    atl_date: fact.atlDate,
    last_updated: fact.updated,
    received,
  }
}
