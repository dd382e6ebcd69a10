export interface CacheOptions {
  /** Most keys that are kept; the one that was asked for longest ago goes first. */
  readonly keysMax: number
  /** Milliseconds of any steady clock. */
  readonly clock: () => number
}

export interface Hit<Value> {
  readonly value: Value
  /** It was there before this call. */
  readonly cached: boolean
  /** How much longer it will be given, milliseconds. */
  readonly freshForMs: number
}

interface Entry<Value> {
  readonly value: Promise<Value>
  readonly until: number
  settled: boolean
}

/**
 * Keeps answers for a while. One load per key at a time, however many callers; what fails is not kept, but all who
 * waited for it get the failure. Time to live counts from the start of the load, so an answer is never older than it.
 */
export class TtlCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #options: CacheOptions

  constructor(options: CacheOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  async get(key: string, ttlMs: number, load: () => Promise<Value>): Promise<Hit<Value>> {
    const known = this.#entries.get(key)
    // A load that takes longer than its time to live is still the newest there is: nobody starts a second one.
    if (known !== undefined && (!known.settled || known.until > this.#options.clock())) {
      this.#touch(key, known)
      return this.#hit(known, known.settled)
    }
    return this.#hit(this.#load(key, ttlMs, load), false)
  }

  #load(key: string, ttlMs: number, load: () => Promise<Value>): Entry<Value> {
    const entry: Entry<Value> = { value: load(), until: this.#options.clock() + ttlMs, settled: false }
    const settle = (): void => {
      entry.settled = true
    }
    const forget = (): void => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
    }
    entry.value.then(settle, forget)
    this.#touch(key, entry)
    this.#evict()
    return entry
  }

  async #hit(entry: Entry<Value>, cached: boolean): Promise<Hit<Value>> {
    const value = await entry.value
    return { value, cached, freshForMs: Math.max(0, entry.until - this.#options.clock()) }
  }

  /** Moves a key to the end: a Map keeps the order of insertion. */
  #touch(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
  }

  #evict(): void {
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= this.#options.keysMax) return
      this.#entries.delete(key)
    }
  }
}
