/** Whole numbers from `from` to `to`, both included. */
export interface Interval {
  readonly from: number
  readonly to: number
}

/**
 * A set of whole numbers as disjoint intervals in ascending order that do not touch.
 *
 * Made for ids that mostly go up by one: adding the next id costs nothing, anything else a binary search.
 */
export class IntervalSet {
  #list: { from: number; to: number }[] = []

  constructor(intervals: readonly Interval[] = []) {
    for (const { from, to } of intervals) this.add(from, to)
  }

  get intervals(): readonly Interval[] {
    return this.#list
  }

  /** The largest number in the set. */
  get last(): number | undefined {
    return this.#list.at(-1)?.to
  }

  has(id: number): boolean {
    const found = this.#list[this.#firstEndingAtOrAfter(id)]
    return found !== undefined && found.from <= id
  }

  add(from: number, to: number): void {
    const tail = this.#list.at(-1)
    if (tail !== undefined && from === tail.to + 1) {
      tail.to = to
      return
    }
    const start = this.#firstEndingAtOrAfter(from - 1)
    let end = start
    let merged = { from, to }
    for (let next = this.#list[end]; next !== undefined && next.from <= to + 1; next = this.#list[++end]) {
      merged = { from: Math.min(merged.from, next.from), to: Math.max(merged.to, next.to) }
    }
    this.#list.splice(start, end - start, merged)
  }

  remove(from: number, to: number): void {
    const start = this.#firstEndingAtOrAfter(from)
    const rest: { from: number; to: number }[] = []
    let end = start
    for (let next = this.#list[end]; next !== undefined && next.from <= to; next = this.#list[++end]) {
      if (next.from < from) rest.push({ from: next.from, to: from - 1 })
      if (next.to > to) rest.push({ from: to + 1, to: next.to })
    }
    this.#list.splice(start, end - start, ...rest)
  }

  /** What of `from`..`to` is not in the set, ascending. */
  holes(from: number, to: number): Interval[] {
    const holes: Interval[] = []
    let at = from
    for (let index = this.#firstEndingAtOrAfter(from); at <= to; index++) {
      const next = this.#list[index]
      if (next === undefined || next.from > to) {
        holes.push({ from: at, to })
        break
      }
      if (next.from > at) holes.push({ from: at, to: next.from - 1 })
      at = next.to + 1
    }
    return holes
  }

  /** Forgets the lowest intervals until at most `count` are left; returns below which number nothing is known any more. */
  keepHighest(count: number): number | undefined {
    const surplus = this.#list.length - count
    if (surplus <= 0) return undefined
    this.#list.splice(0, surplus)
    return this.#list[0]?.from
  }

  /** Index of the first interval whose end is at or after `id`. */
  #firstEndingAtOrAfter(id: number): number {
    let low = 0
    let high = this.#list.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#list[middle]?.to ?? Infinity) < id) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** How many numbers the intervals hold. */
export function sizeOf(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { from, to }) => sum + to - from + 1, 0)
}
