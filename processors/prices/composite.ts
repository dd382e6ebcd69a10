import type { CompositePrice, Micros, PriceSource } from '../../schemas/records.ts'
import { median } from './median.ts'

/** Sources further apart than this share of the lowest are not of one mind. */
const APART = 0.01

/** What a composite price is made of beside its sources. */
export interface Circumstances {
  readonly asset: string
  /** The sources' own changes over 24 h, percent, of those that tell. */
  readonly changes: readonly number[]
  readonly late: boolean
  readonly time: Micros
  readonly v: number
  /** Of a late one: since when lows and highs are. */
  readonly bounds_from?: Micros
}

/** The composite price of `sources`; undefined of none. */
export function compositeOf(
  sources: readonly PriceSource[],
  { asset, changes, late, time, v, bounds_from = 0 }: Circumstances,
): CompositePrice | undefined {
  const prices: number[] = []
  const lows: number[] = []
  const highs: number[] = []
  for (const source of sources) {
    prices.push(source.price)
    lows.push(source.low)
    highs.push(source.high)
  }
  const price = median(prices)
  const low = median(lows)
  const high = median(highs)
  if (price === null || low === null || high === null) return undefined
  return {
    asset,
    price,
    low,
    high,
    change_24h: median(changes),
    sources,
    quality: qualityOf(sources),
    late,
    time,
    v,
    bounds_from,
  }
}

/** One source proves nothing; nor do sources that contradict each other. */
function qualityOf(sources: readonly PriceSource[]): CompositePrice['quality'] {
  let lowest = Infinity
  let highest = 0
  for (const { price } of sources) {
    if (price < lowest) lowest = price
    if (price > highest) highest = price
  }
  const isApart = highest - lowest > APART * lowest
  return sources.length < 2 || isApart ? 'degraded' : 'good'
}
