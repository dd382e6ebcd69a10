export interface CacheOptions<Value> {
  /** Most keys that are kept; the one that was asked for longest ago goes first. */
  readonly keysMax: number
  /** Milliseconds of any steady clock. */
  readonly clock: () => number
  /** Most that all values may weigh together; the one asked for longest ago goes first. Left out: they are not weighed. */
  readonly weightMax?: number
  readonly weigh?: (value: Value) => number
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
  weight: number
}

/**
 * Keeps answers for a while. One load per key at a time, however many callers; what fails is not kept, but all who
 * waited for it get the failure. Time to live counts from the start of the load, so an answer is never older than it.
 */
export class TtlCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #options: CacheOptions<Value>
  #weight = 0

  constructor(options: CacheOptions<Value>) {
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
    const entry: Entry<Value> = { value: load(), until: this.#options.clock() + ttlMs, settled: false, weight: 0 }
    const settle = (value: Value): void => {
      entry.settled = true
      if (this.#entries.get(key) !== entry) return
      entry.weight = this.#options.weigh?.(value) ?? 0
      this.#weight += entry.weight
      this.#evict()
    }
    const forget = (): void => {
      if (this.#entries.get(key) === entry) this.#delete(key, entry)
    }
    entry.value.then(settle, forget)
    const before = this.#entries.get(key)
    if (before !== undefined) this.#delete(key, before)
    this.#entries.set(key, entry)
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

  #delete(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key)
    this.#weight -= entry.weight
  }

  #evict(): void {
    const { keysMax, weightMax = Infinity } = this.#options
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= keysMax && this.#weight <= weightMax) return
      this.#delete(key, entry)
    }
  }
}
