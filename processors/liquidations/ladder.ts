/**
 * Sizes by bucket, ascending. Sorted, so that sums have one order whatever came first, and what a price crosses is at
 * an end.
 */
export class Ladder {
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
    for (const [at, bucket] of this.#buckets.entries()) visit(bucket, this.#sizes[at] ?? 0)
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
