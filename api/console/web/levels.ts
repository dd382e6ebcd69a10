/** The liquidation levels as rungs of a ladder around the price. Pure. */

export interface Level {
  readonly price: number
  readonly long_usd: number
  readonly short_usd: number
}

/** Estimated liquidation levels as they were at the end of a bucket. */
export interface HeatColumn {
  /** Start of the bucket. */
  readonly time: string
  readonly levels: readonly Level[]
}

export interface Rung {
  readonly price: number
  /** Off the current price, percent; negative: below. */
  readonly off: number
  readonly side: 'long' | 'short'
  readonly usd: number
  /** Of the largest rung, 0 to 1. */
  readonly share: number
}

/** Width of a rung and how far the ladder reaches, percent of the price. */
const STEP = 0.5
const REACH = 10

/** Highest price first; shorts above the price, longs below. */
export function rungsOf(levels: readonly Level[], price: number): Rung[] {
  const sums = new Map<number, number>()
  for (const level of levels) {
    const off = (level.price / price - 1) * 100
    if (Math.abs(off) > REACH) continue
    const at = off < 0 ? Math.floor(off / STEP) : Math.ceil(off / STEP) || 1
    sums.set(at, (sums.get(at) ?? 0) + (off < 0 ? level.long_usd : level.short_usd))
  }
  const largest = Math.max(0, ...sums.values())
  return [...sums]
    .toSorted(([a], [b]) => b - a)
    .map(([at, usd]) => {
      const off = (at - Math.sign(at) / 2) * STEP
      const side = at < 0 ? 'long' : 'short'
      return { price: price * (1 + off / 100), off, side, usd, share: largest === 0 ? 0 : usd / largest }
    })
}
