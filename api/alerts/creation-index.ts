/** What an alert is ordered by in a list. */
export interface CreationKey {
  /** When the log took the creation, microseconds since the Unix epoch. */
  readonly created: number
  readonly id: string
}

/** How far from its newest end a late entry is put in place at once; beyond, the whole is sorted when it is read. */
const NEAR_MAX = 1_000
/** Entries that are gone are thrown out when there are this many and they are the larger part, or all of a shorter one. */
const SWEEP_MIN = 1_000

/** Alerts in the order of creation. Additions come nearly in order, so that they cost next to nothing. */
export class CreationIndex {
  #entries: CreationKey[] = []
  #sorted = true
  #gone = 0
  readonly #isThere: (entry: CreationKey) => boolean

  /** `isThere`: whether it is still to be listed at that place. */
  constructor(isThere: (entry: CreationKey) => boolean) {
    this.#isThere = isThere
  }

  get length(): number {
    return this.#entries.length
  }

  add(entry: CreationKey): void {
    const at = this.#sorted ? this.#near(entry) : undefined
    if (at === undefined) {
      this.#entries.push(entry)
      this.#sorted = false
    } else this.#entries.splice(at, 0, entry)
  }

  /** Says that one of them is not there any more; it may be added again. */
  gone(): void {
    this.#gone += 1
    const { length } = this.#entries
    if (this.#gone < Math.min(SWEEP_MIN, length) || this.#gone * 2 < length) return
    this.#sort()
    this.#entries = this.#entries.filter((entry, at, all) => !isSame(entry, all[at - 1]) && this.#isThere(entry))
    this.#gone = 0
  }

  /** Newest first, those before `entry` only; each once. */
  *before(entry: CreationKey | undefined): Iterable<CreationKey> {
    this.#sort()
    let last = ''
    for (let at = this.#start(entry); at >= 0; at -= 1) {
      const next = this.#entries[at]
      if (next === undefined || next.id === last || !this.#isThere(next)) continue
      last = next.id
      yield next
    }
  }

  /** Where it belongs, when that is near the newest end. */
  #near(entry: CreationKey): number | undefined {
    const { length } = this.#entries
    for (let at = length; at >= 0 && length - at <= NEAR_MAX; at -= 1) {
      const before = this.#entries[at - 1]
      if (before === undefined || compare(before, entry) <= 0) return at
    }
    return undefined
  }

  #sort(): void {
    if (this.#sorted) return
    this.#entries.sort(compare)
    this.#sorted = true
  }

  /** Index of the last entry before `entry`. */
  #start(entry: CreationKey | undefined): number {
    if (entry === undefined) return this.#entries.length - 1
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const there = this.#entries[middle]
      if (there !== undefined && compare(there, entry) < 0) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

function isSame(entry: CreationKey, other: CreationKey | undefined): boolean {
  return other !== undefined && compare(entry, other) === 0
}

function compare(a: CreationKey, b: CreationKey): number {
  return a.created - b.created || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
