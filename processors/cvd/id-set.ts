const EMPTY = new Float64Array(0)
/** Few: of quiet instruments a bucket holds a trade or two, and small arrays are made at no cost. */
const CAPACITY_MIN = 8

/**
 * A set of ids without order, whole numbers from 0 to 2^53, for one bucket.
 *
 * While the bucket is open it is a hash table over doubles; sealed it is a sorted array of 8 bytes an id, since two
 * hours of a busy market are some hundred thousand ids and hardly any more of them come.
 */
export class IdSet {
  /** Open addressing; 0 means free, so ids are stored one higher. */
  #table: Float64Array
  #sorted: Float64Array = EMPTY
  #isSealed = false
  size = 0

  /** With room for so many before it grows. */
  constructor(expected = 0) {
    let capacity = CAPACITY_MIN
    while (capacity <= expected * 2) capacity *= 2
    this.#table = new Float64Array(capacity)
  }

  static of(sorted: Float64Array): IdSet {
    const set = new IdSet()
    set.#sorted = sorted
    set.size = sorted.length
    set.#isSealed = true
    set.#table = EMPTY
    return set
  }

  /** Adds an id; false where it was there before. */
  add(id: number): boolean {
    return this.#isSealed ? this.#insertSorted(id) : this.#insertHashed(id + 1)
  }

  /** To be called when few further ids are expected. */
  seal(): void {
    if (this.#isSealed) return
    this.#sorted = this.sorted()
    this.#table = EMPTY
    this.#isSealed = true
  }

  /** All ids, ascending. */
  sorted(): Float64Array {
    if (this.#isSealed) return this.#sorted
    const ids = new Float64Array(this.size)
    let at = 0
    for (const stored of this.#table) if (stored !== 0) ids[at++] = stored - 1
    return ids.sort()
  }

  #insertHashed(stored: number): boolean {
    if (this.size * 2 >= this.#table.length) this.#grow()
    const slot = slotOf(this.#table, stored)
    if (this.#table[slot] === stored) return false
    this.#table[slot] = stored
    this.size += 1
    return true
  }

  #grow(): void {
    const table = new Float64Array(this.#table.length * 2)
    for (const stored of this.#table) if (stored !== 0) table[slotOf(table, stored)] = stored
    this.#table = table
  }

  #insertSorted(id: number): boolean {
    const at = lowerBound(this.#sorted, id)
    if (this.#sorted[at] === id) return false
    const wider = new Float64Array(this.size + 1)
    wider.set(this.#sorted.subarray(0, at))
    wider[at] = id
    wider.set(this.#sorted.subarray(at), at + 1)
    this.#sorted = wider
    this.size += 1
    return true
  }
}

/** Where `stored` is, or the free slot where it belongs. The table is never full. The ids are random: their low bits are a hash. */
function slotOf(table: Float64Array, stored: number): number {
  const mask = table.length - 1
  let slot = (stored | 0) & mask
  while (table[slot] !== 0 && table[slot] !== stored) slot = (slot + 1) & mask
  return slot
}

function lowerBound(sorted: Float64Array, id: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? Infinity) < id) low = middle + 1
    else high = middle
  }
  return low
}
