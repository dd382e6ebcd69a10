const BUCKET_MICROS = 10_000_000
/** Unordered ids are compared within their bucket; buckets this far behind the newest are forgotten. */
const KEPT_BUCKETS = 3 * 360

export type Seen = 'new' | 'duplicate' | 'partly'

/** Which contiguous ids of one instrument were seen, as ascending ranges that do not touch. */
export class CoveredRanges {
  readonly #from: number[] = []
  readonly #to: number[] = []

  add(first: number, last: number): Seen {
    const at = this.#above(first)
    const before = at - 1
    if ((this.#to[before] ?? -1) >= first) return (this.#to[before] ?? -1) >= last ? 'duplicate' : 'partly'
    if ((this.#from[at] ?? Infinity) <= last) return 'partly'
    const joinsLeft = this.#to[before] === first - 1
    const joinsRight = this.#from[at] === last + 1
    const from = joinsLeft ? (this.#from[before] ?? first) : first
    const to = joinsRight ? (this.#to[at] ?? last) : last
    const start = joinsLeft ? before : at
    const gone = Number(joinsLeft) + Number(joinsRight)
    this.#from.splice(start, gone, from)
    this.#to.splice(start, gone, to)
    return 'new'
  }

  /** Index of the first range that begins above `id`. */
  #above(id: number): number {
    let low = 0
    let high = this.#from.length
    if ((this.#from[high - 1] ?? -1) <= id) return high
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#from[middle] ?? 0) <= id) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Which unordered ids of one instrument were seen: an id counts as known within the 10 s bucket of its trade. */
export class SeenIds {
  readonly #buckets = new Map<number, Set<number>>()

  add(id: number, time: number): Seen {
    const bucket = Math.floor(time / BUCKET_MICROS)
    const known = this.#buckets.get(bucket)
    if (known?.has(id) === true) return 'duplicate'
    if (known === undefined) this.#open(bucket, id)
    else known.add(id)
    return 'new'
  }

  #open(bucket: number, id: number): void {
    this.#buckets.set(bucket, new Set([id]))
    for (const old of this.#buckets.keys()) {
      if (this.#buckets.size <= KEPT_BUCKETS) return
      this.#buckets.delete(old) // in the order of their first trade
    }
  }
}
