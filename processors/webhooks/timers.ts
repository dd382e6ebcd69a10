/** What the timers hold: ordered by `key`, then by `id`, so that the order never depends on how it was built. */
export interface Entry {
  readonly key: number
  readonly id: string
}

/**
 * A binary heap, smallest key first. Entries are never removed from its middle: whoever pops one checks whether it still
 * holds, and `sweep` throws out those that do not once they are the larger part.
 */
export class Timers<Item extends Entry> {
  #items: Item[] = []

  get size(): number {
    return this.#items.length
  }

  peek(): Item | undefined {
    return this.#items[0]
  }

  push(item: Item): void {
    const items = this.#items
    let at = items.length
    items.push(item)
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = items[parent]
      if (above === undefined || !isBefore(item, above)) break
      items[at] = above
      at = parent
    }
    items[at] = item
  }

  pop(): Item | undefined {
    const items = this.#items
    const first = items[0]
    const last = items.pop()
    if (first === undefined || last === undefined || items.length === 0) return first
    this.#sink(0, last)
    return first
  }

  /** Keeps the entries that `holds` says yes to; costs as much as there are entries. */
  sweep(holds: (item: Item) => boolean): void {
    const kept = this.#items.filter(holds)
    this.#items = kept
    for (let at = (kept.length >> 1) - 1; at >= 0; at--) {
      const item = kept[at]
      if (item !== undefined) this.#sink(at, item)
    }
  }

  /** Puts `item` where it belongs below the place `at`. */
  #sink(at: number, item: Item): void {
    const items = this.#items
    for (;;) {
      const left = 2 * at + 1
      const a = items[left]
      if (a === undefined) break
      const b = items[left + 1]
      const isRight = b !== undefined && isBefore(b, a)
      const child = isRight ? b : a
      if (!isBefore(child, item)) break
      items[at] = child
      at = isRight ? left + 1 : left
    }
    items[at] = item
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.key < b.key || (a.key === b.key && a.id < b.id)
}
