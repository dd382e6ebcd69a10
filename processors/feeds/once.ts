/** What has come before, of the newest `limit` keys: an older one that comes again is taken for new, and readers drop it. */
export class Once<Key> {
  readonly #limit: number
  readonly #keys = new Set<Key>()

  constructor(limit: number) {
    this.#limit = limit
  }

  has(key: Key): boolean {
    return this.#keys.has(key)
  }

  /** Whether `key` is new; from then on it is not. */
  first(key: Key): boolean {
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    if (this.#keys.size > this.#limit) for (const oldest of this.#keys.keys()) return this.#keys.delete(oldest)
    return true
  }
}
