import { knownAsset } from '../../../schemas/catalogue.ts'
import type { Instrument } from '../../../schemas/records.ts'
import type { Listed } from './venue.ts'

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
}

/** A market that its ticker would join to an asset, but whose price says otherwise: a namesake or a wrong multiplier. */
export interface Doubt {
  readonly instrument: string
  /** The asset that the ticker means. */
  readonly expected: string
  /** Its price for one unit of that asset, and the asset's. */
  readonly price: number
  readonly reference: number
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
  assetOf(candidate: Candidate, known: Instrument | undefined): { asset: string; doubt?: Doubt } {
    const { row, unitPrice, instrument } = candidate
    const expected = knownAsset(row.base)?.id ?? known?.asset
    if (expected === undefined) return { asset: this.#joined(candidate) }
    const reference = this.#prices.get(expected)
    if (unitPrice === undefined || reference === undefined) {
      this.#learn(expected, unitPrice)
      return { asset: known?.asset ?? expected }
    }
    if (!isAbsurd(unitPrice, reference)) return { asset: expected }
    return { asset: this.#own(candidate), doubt: { instrument, expected, price: unitPrice, reference } }
  }

  /** A base outside the map: the plain asset or a namesake's, whichever price is nearest and fits, else a new one. */
  #joined(candidate: Candidate): string {
    const id = candidate.row.base.toLowerCase()
    const namesakes = [...this.#prices.keys()].filter((asset) => asset === id || asset.startsWith(`${id}.`))
    const distances = namesakes.map((asset) => this.#distance(asset, candidate.unitPrice))
    const nearest = distances.indexOf(Math.min(...distances))
    const fitting = namesakes[nearest]
    if (fitting !== undefined && (distances[nearest] ?? Infinity) <= SAME_ASSET_WITHIN) return fitting
    if (namesakes.length > 0) return this.#own(candidate)
    this.#learn(id, candidate.unitPrice)
    return id
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
