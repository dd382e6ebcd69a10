import { knownAsset } from '../../../schemas/catalogue.ts'
import type { Instrument, Micros, Token } from '../../../schemas/records.ts'
import type { Listed } from './venue.ts'
import type { TokenFact } from './events.ts'

/** Two markets are of one asset when their prices are no further apart than this part of the asset's. */
const SAME_ASSET_WITHIN = 0.05
/** A market is not of an asset whose price is this many times higher or lower. */
const ABSURD_TIMES = 5

/** One market with its price for one unit of the base, where the venue gave one. */
export interface Candidate {
  readonly instrument: string
  readonly venue: string
  readonly row: Listed
  readonly unitPrice: number | undefined
  /** Where nothing but its name tells its asset: whether it is placed by it, by it unless another has it, or left out. */
  readonly byName: 'always' | 'alone' | 'never'
}

/**
 * A market that its ticker would join to an asset, but whose price says otherwise: a namesake or a wrong multiplier. Or one
 * that is left out, since it has no price that says whether it is that asset.
 */
export interface Doubt {
  readonly instrument: string
  /** The asset that the ticker means. */
  readonly expected: string
  /** Its price for one unit of that asset, and the asset's; null: there is none. */
  readonly price: number | null
  readonly reference: number | null
}

/** Without an asset: the market is left out for now. */
interface Placed {
  readonly asset?: string
  readonly doubt?: Doubt
}

/** The assets found so far with the price of each, as far as it is known. */
export class Assets {
  readonly #prices: Map<string, number | undefined>

  /** `known`: rows of the log, whose asset ids are taken even where their venue cannot be asked now. */
  constructor(candidates: readonly Candidate[], known: Iterable<Instrument>) {
    this.#prices = new Map([...known].map(({ asset }) => [asset, undefined]))
    for (const [asset, price] of references(candidates)) this.#prices.set(asset, price)
  }

  /** The asset of a market. `known`: its row in the log, if it has one. */
  assetOf(candidate: Candidate, known: Instrument | undefined): Placed {
    const { row, unitPrice } = candidate
    const expected = knownAsset(row.base)?.id ?? known?.asset
    if (expected === undefined) return this.#joined(candidate)
    const reference = this.#prices.get(expected)
    if (unitPrice === undefined || reference === undefined) {
      this.#learn(expected, unitPrice)
      return { asset: known?.asset ?? expected }
    }
    if (!isAbsurd(unitPrice, reference)) return { asset: expected }
    return this.#apart(candidate, expected)
  }

  /** A base outside the map: the plain asset or a namesake's, whichever price is nearest and fits, else a new one. */
  #joined(candidate: Candidate): Placed {
    const id = candidate.row.base.toLowerCase()
    const namesakes = [...this.#prices.keys()].filter((asset) => asset === id || asset.startsWith(`${id}.`))
    if (candidate.unitPrice === undefined && candidate.byName !== 'always') {
      if (candidate.byName === 'never') return {}
      const [expected] = namesakes
      if (expected !== undefined) return { doubt: this.#unpriced(candidate, expected) }
    }
    const distances = namesakes.map((asset) => this.#distance(asset, candidate.unitPrice))
    const nearest = distances.indexOf(Math.min(...distances))
    const fitting = namesakes[nearest]
    if (fitting !== undefined && (distances[nearest] ?? Infinity) <= SAME_ASSET_WITHIN) return { asset: fitting }
    if (fitting !== undefined) return this.#apart(candidate, fitting)
    this.#learn(id, candidate.unitPrice)
    return { asset: id }
  }

  /** Of a market that its name would join to an asset: one of its own, and a doubt where prices say so. */
  #apart(candidate: Candidate, expected: string): Placed {
    const { instrument, unitPrice: price } = candidate
    const reference = this.#prices.get(expected) ?? null
    const asset = this.#own(candidate)
    return price === undefined ? { asset } : { asset, doubt: { instrument, expected, price, reference } }
  }

  #unpriced({ instrument }: Candidate, expected: string): Doubt {
    return { instrument, expected, price: null, reference: this.#prices.get(expected) ?? null }
  }

  /** How far a price is from an asset's, as a part of the asset's; Infinity where either is not known. */
  #distance(asset: string, unitPrice: number | undefined): number {
    const reference = this.#prices.get(asset)
    if (reference === undefined || unitPrice === undefined) return Infinity
    return Math.abs(unitPrice - reference) / reference
  }

  #own({ row, venue, unitPrice }: Candidate): string {
    const asset = `${row.base.toLowerCase()}.${venue}`
    this.#learn(asset, unitPrice)
    return asset
  }

  #learn(asset: string, unitPrice: number | undefined): void {
    if (this.#prices.get(asset) === undefined) this.#prices.set(asset, unitPrice)
  }
}

/** Per asset of the checked-in map, the price that most of its live markets agree on; the earliest of equals. */
function references(candidates: readonly Candidate[]): Map<string, number> {
  const prices = new Map<string, number[]>()
  for (const { row, unitPrice } of candidates) {
    const asset = knownAsset(row.base)
    if (asset === undefined || unitPrice === undefined || !row.live) continue
    prices.set(asset.id, [...(prices.get(asset.id) ?? []), unitPrice])
  }
  return new Map([...prices].map(([asset, of]) => [asset, mostAgreed(of)]))
}

function mostAgreed(prices: readonly number[]): number {
  const agreeing = prices.map((price) => prices.filter((other) => !isAbsurd(price, other)).length)
  return prices[agreeing.indexOf(Math.max(...agreeing))] ?? NaN
}

function isAbsurd(price: number, reference: number): boolean {
  return price > reference * ABSURD_TIMES || price < reference / ABSURD_TIMES
}

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

/**
 * As with markets: without a price of ours only a ticker of the checked-in map is believed, and with one it is refused only
 * where it is absurd, since a token's price may be minutes old.
 */
function agrees(price: number | null, ours: number | undefined, known: boolean): boolean {
  if (ours === undefined || price === null) return known
  return known ? !isAbsurd(price, ours) : Math.abs(price - ours) <= ours * SAME_ASSET_WITHIN
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
