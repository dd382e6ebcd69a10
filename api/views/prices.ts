import type { Micros } from '../../schemas/records.ts'
import type { Present } from '../present.ts'

/** One venue's part of a composite price, USD. */
interface PricePart {
  readonly exchange: string
  readonly price: number
  /** Venue time of its ticker. */
  readonly time: Micros
}

/** The composite price of an asset, USD, with the prices that made it. */
export interface PriceRow {
  readonly asset: string
  readonly price: number
  readonly low: number
  readonly high: number
  /** Percent. */
  readonly change24h: number | null
  /** Venues that count, in the chain's order. */
  readonly parts: readonly PricePart[]
  readonly quality: string
  readonly time: Micros
}

/** The newest composite price of an asset, if there is one. */
export function priceOf(present: Present, asset: string): PriceRow | undefined {
  const known = present.of(asset).price.get(asset)
  if (known === undefined) return undefined
  const { price, low, high, change_24h: change24h, sources, quality, time } = known
  return { asset, price, low, high, change24h, parts: sources, quality, time }
}
