/** Where an alert stands in a list. */
export interface Place {
  /** When the log took the creation, microseconds since the Unix epoch. */
  readonly created: number
  readonly id: string
}

/** How far from its newest end a late entry is put in place at once; beyond, the whole is sorted when it is read. */
const NEAR_MAX = 1_000
/** Entries that are gone are thrown out when there are this many and they are the larger part. */
const SWEEP_MIN = 1_000

/** Places in the order of creation. Additions come nearly in order, so that they cost next to nothing. */
export class Line {
  #places: Place[] = []
  #sorted = true
  #gone = 0
  readonly #isThere: (id: string) => boolean

  constructor(isThere: (id: string) => boolean) {
    this.#isThere = isThere
  }

  get length(): number {
    return this.#places.length
  }

  add(place: Place): void {
    const at = this.#sorted ? this.#near(place) : undefined
    if (at === undefined) {
      this.#places.push(place)
      this.#sorted = false
    } else this.#places.splice(at, 0, place)
  }

  /** Says that one of them is not there any more. */
  gone(): void {
    this.#gone += 1
    if (this.#gone < SWEEP_MIN || this.#gone * 2 < this.#places.length) return
    this.#places = this.#places.filter(({ id }) => this.#isThere(id))
    this.#gone = 0
  }

  /** Newest first, those before `place` only; each once. */
  *before(place: Place | undefined): Iterable<Place> {
    this.#sort()
    let last = ''
    for (let at = this.#start(place); at >= 0; at -= 1) {
      const next = this.#places[at]
      if (next === undefined || next.id === last) continue
      last = next.id
      yield next
    }
  }

  /** Where it belongs, when that is near the newest end. */
  #near(place: Place): number | undefined {
    const { length } = this.#places
    for (let at = length; at >= 0 && length - at <= NEAR_MAX; at -= 1) {
      const before = this.#places[at - 1]
      if (before === undefined || compare(before, place) <= 0) return at
    }
    return undefined
  }

  #sort(): void {
    if (this.#sorted) return
    this.#places.sort(compare)
    this.#sorted = true
  }

  /** Index of the last place before `place`. */
  #start(place: Place | undefined): number {
    if (place === undefined) return this.#places.length - 1
    let [low, high] = [0, this.#places.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const there = this.#places[middle]
      if (there !== undefined && compare(there, place) < 0) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

function compare(a: Place, b: Place): number {
  return a.created - b.created || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
