import { tiers, type Tier } from './leverage.ts'

/** Width of a price bucket, as a logarithm: 0.1 %. */
const STEP = Math.log(1.001)
/** Levels this many buckets from the mark (a factor of 4) are let go, so that a contract has 14,000 cells at most. */
const FAR = Math.round(Math.log(4) / STEP)
/** Cells of this many buckets are saved together: few, since a growth of open interest touches ten places at once. */
const CHUNK = 8
/** Below this the common factor is multiplied into the cells. */
const FACTOR_MIN = 1e-6

export const sides = ['long', 'short'] as const
export type Side = (typeof sides)[number]

/** One cell as it is saved: its size is before the common factor. */
export type Cell = readonly [tier: Tier, side: Side, bucket: number, size: number]

interface Rung {
  readonly tier: Tier
  readonly side: Side
  readonly ladder: Ladder
}

/**
 * Live liquidation levels of one contract: base units by tier, side and price bucket. Sizes are kept before a common
 * factor, so that closing a share of all positions costs nothing.
 */
export class Levels {
  readonly #rungs: readonly Rung[] = sides.flatMap((side) =>
    tiers.map((tier) => ({ tier, side, ladder: new Ladder() })),
  )
  #factor: number
  readonly #changed = new Set<number>()

  constructor(factor = 1) {
    this.#factor = factor
  }

  get factor(): number {
    return this.#factor
  }

  get count(): number {
    return this.#rungs.reduce((sum, { ladder }) => sum + ladder.count, 0)
  }

  /** Adds `size` base units that are liquidated at `price`. */
  add(tier: Tier, side: Side, price: number, size: number): void {
    const bucket = bucketOf(price)
    this.#ladder(tier, side).add(bucket, size / this.#factor)
    this.#changed.add(chunkOf(bucket))
  }

  /** Keeps this share of every level, 0 to 1. */
  scale(share: number): void {
    this.#factor *= share
    if (this.#factor >= FACTOR_MIN) return
    for (const { ladder } of this.#rungs) {
      ladder.multiply(this.#factor)
      ladder.each((bucket) => this.#changed.add(chunkOf(bucket)))
    }
    this.#factor = 1
  }

  /** Takes away what a mark price has crossed: longs at it or above, shorts at it or below. Gives their sizes. */
  sweep(mark: number): Readonly<Record<Side, number>> {
    const at = bucketOf(mark)
    return { long: this.#take('long', at, Infinity), short: this.#take('short', -Infinity, at) }
  }

  /** Lets go of what lies absurdly far from the mark. */
  forgetFar(mark: number): void {
    const at = bucketOf(mark)
    for (const side of sides) {
      this.#take(side, -Infinity, at - FAR - 1)
      this.#take(side, at + FAR + 1, Infinity)
    }
  }

  clear(): void {
    for (const side of sides) this.#take(side, -Infinity, Infinity)
    this.#factor = 1
  }

  /** Every level, in one order always: tier, side, middle of its bucket, base units. */
  each(visit: (tier: Tier, side: Side, price: number, size: number) => void): void {
    for (const { tier, side, ladder } of this.#rungs) {
      ladder.each((bucket, size) => visit(tier, side, priceOf(bucket), size * this.#factor))
    }
  }

  /** Chunks that changed since the last call, with their cells; without cells: gone. */
  changes(): (readonly [chunk: number, cells: Cell[]])[] {
    const chunks = [...this.#changed].map((chunk) => [chunk, this.#cellsOf(chunk)] as const)
    this.#changed.clear()
    return chunks
  }

  /** Chunks that hold something. */
  get chunks(): ReadonlySet<number> {
    const chunks = new Set<number>()
    for (const { ladder } of this.#rungs) ladder.each((bucket) => chunks.add(chunkOf(bucket)))
    return chunks
  }

  /** Puts saved cells back. */
  load(cells: readonly Cell[]): void {
    for (const [tier, side, bucket, size] of cells) this.#ladder(tier, side).add(bucket, size)
  }

  #ladder(tier: Tier, side: Side): Ladder {
    const rung = this.#rungs.find((candidate) => candidate.tier === tier && candidate.side === side)
    if (rung === undefined) throw new Error(`no ${side} levels of ${tier}x`)
    return rung.ladder
  }

  #take(side: Side, from: number, to: number): number {
    let taken = 0
    for (const { ladder, side: of } of this.#rungs) {
      if (of !== side || ladder.highest < from || ladder.lowest > to) continue
      for (const [bucket, size] of ladder.take(from, to)) {
        taken += size * this.#factor
        this.#changed.add(chunkOf(bucket))
      }
    }
    return taken
  }

  #cellsOf(chunk: number): Cell[] {
    const cells: Cell[] = []
    for (const { tier, side, ladder } of this.#rungs) {
      for (let bucket = chunk * CHUNK; bucket < (chunk + 1) * CHUNK; bucket++) {
        const size = ladder.at(bucket)
        if (size !== undefined) cells.push([tier, side, bucket, size])
      }
    }
    return cells
  }
}

export function bucketOf(price: number): number {
  return Math.floor(Math.log(price) / STEP)
}

/** The middle of a bucket. */
export function priceOf(bucket: number): number {
  return Math.exp((bucket + 0.5) * STEP)
}

function chunkOf(bucket: number): number {
  return Math.floor(bucket / CHUNK)
}

/**
 * Sizes by bucket, ascending. Sorted, so that sums have one order whatever came first, and what a price crosses is at
 * an end.
 */
class Ladder {
  readonly #buckets: number[] = []
  readonly #sizes: number[] = []

  get count(): number {
    return this.#buckets.length
  }

  get lowest(): number {
    return this.#buckets[0] ?? Infinity
  }

  get highest(): number {
    return this.#buckets.at(-1) ?? -Infinity
  }

  at(bucket: number): number | undefined {
    const at = this.#firstFrom(bucket)
    return this.#buckets[at] === bucket ? this.#sizes[at] : undefined
  }

  add(bucket: number, size: number): void {
    const at = this.#firstFrom(bucket)
    if (this.#buckets[at] === bucket) {
      this.#sizes[at] = (this.#sizes[at] ?? 0) + size
      return
    }
    this.#buckets.splice(at, 0, bucket)
    this.#sizes.splice(at, 0, size)
  }

  multiply(factor: number): void {
    for (const [at, size] of this.#sizes.entries()) this.#sizes[at] = size * factor
  }

  /** Takes away the buckets from `from` to `to`, both included; gives what was taken. */
  take(from: number, to: number): readonly (readonly [bucket: number, size: number])[] {
    const start = this.#firstFrom(from)
    const count = this.#firstFrom(to + 1) - start
    if (count <= 0) return []
    const sizes = this.#sizes.splice(start, count)
    return this.#buckets.splice(start, count).map((bucket, at) => [bucket, sizes[at] ?? 0] as const)
  }

  each(visit: (bucket: number, size: number) => void): void {
    const [buckets, sizes] = [this.#buckets, this.#sizes]
    for (let at = 0; at < buckets.length; at++) visit(buckets[at] ?? 0, sizes[at] ?? 0)
  }

  #firstFrom(bucket: number): number {
    let low = 0
    let high = this.#buckets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#buckets[middle] ?? Infinity) < bucket) low = middle + 1
      else high = middle
    }
    return low
  }
}
