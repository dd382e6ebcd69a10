import type { CompositePrice, Micros, PriceSource } from '../../schemas/records.ts'
import { median } from './median.ts'

/** Sources further apart than this share of the lowest are not of one mind. */
const APART = 0.01

/** One venue's part of a composite price, with its own change over 24 h, percent. */
export interface Part extends PriceSource {
  readonly change: number | null
}

/** What a composite price is made of beside its parts. */
export interface Circumstances {
  readonly asset: string
  readonly late: boolean
  readonly time: Micros
  readonly v: number
}

/** The composite price of `parts`; undefined of none. */
export function compositeOf(parts: readonly Part[], circumstances: Circumstances): CompositePrice | undefined {
  const price = median(parts.map((part) => part.price))
  const low = median(parts.map((part) => part.low))
  const high = median(parts.map((part) => part.high))
  if (price === null || low === null || high === null) return undefined
  const changes = parts.map(({ change }) => change).filter((change) => change !== null)
  const { asset, late, time, v } = circumstances
  return {
    asset,
    price,
    low,
    high,
    change_24h: median(changes),
    sources: parts.map(sourceOf),
    quality: qualityOf(parts),
    late,
    time,
    v,
  }
}

/** One source proves nothing; nor do sources that contradict each other. */
function qualityOf(parts: readonly Part[]): CompositePrice['quality'] {
  let lowest = Infinity
  let highest = 0
  for (const { price } of parts) {
    if (price < lowest) lowest = price
    if (price > highest) highest = price
  }
  const isApart = highest - lowest > APART * lowest
  return parts.length < 2 || isApart ? 'degraded' : 'good'
}

function sourceOf({ exchange, instrument, price, low, high, time }: Part): PriceSource {
  return { exchange, instrument, price, low, high, time }
}
