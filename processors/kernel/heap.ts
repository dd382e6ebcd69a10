/**
 * A binary heap of (key, id), smallest key first, equal keys by id, so that the order never depends on how it was built.
 *
 * Keys and ids lie in two plain arrays: a million of them take 16 bytes each beside the ids, and comparing keys touches
 * no objects. Entries are never removed from the middle: whoever pops one checks whether it still holds, and `sweep`
 * throws out those that do not once they are the larger part.
 */
export class Heap {
  #keys: number[] = []
  #ids: string[] = []

  get size(): number {
    return this.#keys.length
  }

  /** Smallest key; undefined: empty. */
  get key(): number | undefined {
    return this.#keys[0]
  }

  push(key: number, id: string): void {
    const keys = this.#keys
    const ids = this.#ids
    let at = keys.length
    keys.push(key)
    ids.push(id)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(key, id, parent)) break
      this.#move(parent, at)
      at = parent
    }
    keys[at] = key
    ids[at] = id
  }

  /** Takes out the entry with the smallest key; gives its id. */
  pop(): string | undefined {
    const first = this.#ids[0]
    const key = this.#keys.pop()
    const id = this.#ids.pop()
    if (key !== undefined && id !== undefined && this.#keys.length > 0) this.#sink(0, key, id)
    return first
  }

  /** Adds an entry out of order: `settle` has to follow before anything else is asked. */
  append(key: number, id: string): void {
    this.#keys.push(key)
    this.#ids.push(id)
  }

  /** Puts all entries in order; costs as much as there are. */
  settle(): void {
    const keys = this.#keys
    for (let at = (keys.length >> 1) - 1; at >= 0; at--) this.#sinkAt(at)
  }

  /** Keeps the entries that `holds` says yes to; costs as much as there are. */
  sweep(holds: (id: string, key: number) => boolean): void {
    const keys = this.#keys
    const ids = this.#ids
    this.#keys = []
    this.#ids = []
    for (const [at, id] of ids.entries()) {
      const key = keys[at]
      if (key !== undefined && holds(id, key)) this.append(key, id)
    }
    this.settle()
  }

  #sinkAt(at: number): void {
    const key = this.#keys[at]
    const id = this.#ids[at]
    if (key !== undefined && id !== undefined) this.#sink(at, key, id)
  }

  /** Puts an entry where it belongs at or below the place `at`. */
  #sink(at: number, key: number, id: string): void {
    const size = this.#keys.length
    for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.#isLess(child + 1, child)) child += 1
      if (this.#isBefore(key, id, child)) break
      this.#move(child, at)
      at = child
    }
    this.#keys[at] = key
    this.#ids[at] = id
  }

  #move(from: number, to: number): void {
    const key = this.#keys[from]
    const id = this.#ids[from]
    if (key === undefined || id === undefined) return
    this.#keys[to] = key
    this.#ids[to] = id
  }

  #isLess(a: number, b: number): boolean {
    const key = this.#keys[a]
    const id = this.#ids[a]
    return key !== undefined && id !== undefined && this.#isBefore(key, id, b)
  }

  #isBefore(key: number, id: string, at: number): boolean {
    const other = this.#keys[at] ?? Infinity
    return key < other || (key === other && id < (this.#ids[at] ?? ''))
  }
}
