/** How often what is over is looked for, milliseconds. */
const SWEEP_MS = 1_000

export interface CacheOptions {
  /** Most keys that are kept; those not asked for lately go first. */
  readonly keysMax: number
  /** Milliseconds of any steady clock. */
  readonly clock: () => number
  /** Most that all values may weigh together. Left out: they are not weighed. */
  readonly weightMax?: number
  readonly weigh?: (value: unknown) => number
}

export interface Hit<Value> {
  readonly value: Value
  /** It was there before this call. */
  readonly cached: boolean
  /** How much longer it will be given, milliseconds. */
  readonly freshForMs: number
}

interface Entry {
  readonly value: Promise<unknown>
  readonly until: number
  /** What it became. */
  loaded: { readonly value: unknown } | undefined
  weight: number
  /** Asked for since it was last looked at for room. */
  used: boolean
}

/**
 * Keeps answers for a while. One load per key at a time, however many callers; what fails is not kept, but all who
 * waited for it get the failure. Time to live counts from the start of the load, so an answer is never older than it.
 * What a key is called says of what kind its value is.
 */
export class TtlCache {
  readonly #entries = new Map<string, Entry>()
  readonly #options: CacheOptions
  #weight = 0
  #swept = -Infinity

  constructor(options: CacheOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  get weight(): number {
    return this.#weight
  }

  async get<Value>(key: string, ttlMs: number, load: () => Promise<Value>): Promise<Hit<Value>> {
    const hit = this.peek<Value>(key)
    if (hit !== undefined) return hit
    const known = this.#entries.get(key)
    // A load that takes longer than its time to live is still the newest there is: nobody starts a second one.
    const entry = known !== undefined && known.loaded === undefined ? known : this.#load(key, ttlMs, load)
    return { value: (await entry.value) as Value, cached: false, freshForMs: this.#freshFor(entry) }
  }

  /** What is there already. */
  peek<Value>(key: string): Hit<Value> | undefined {
    const entry = this.#entries.get(key)
    if (entry?.loaded === undefined) return undefined
    const freshForMs = this.#freshFor(entry)
    if (freshForMs === 0) return undefined
    entry.used = true
    return { value: entry.loaded.value as Value, cached: true, freshForMs }
  }

  #freshFor({ until }: Entry): number {
    return Math.max(0, until - this.#options.clock())
  }

  #load(key: string, ttlMs: number, load: () => Promise<unknown>): Entry {
    const until = this.#options.clock() + ttlMs
    const entry: Entry = { value: load(), until, loaded: undefined, weight: 0, used: false }
    const settle = (value: unknown): void => {
      entry.loaded = { value }
      if (this.#entries.get(key) !== entry) return
      entry.weight = this.#options.weigh?.(value) ?? 0
      this.#weight += entry.weight
      this.#evict()
    }
    entry.value.then(settle, () => this.#forget(key, entry))
    const before = this.#entries.get(key)
    if (before !== undefined) this.#forget(key, before)
    this.#entries.set(key, entry)
    this.#sweep()
    this.#evict(entry)
    return entry
  }

  #forget(key: string, entry: Entry): void {
    if (this.#entries.get(key) !== entry) return
    this.#entries.delete(key)
    this.#weight -= entry.weight
  }

  /** Nobody is given what is over. */
  #sweep(): void {
    const now = this.#options.clock()
    if (now < this.#swept + SWEEP_MS) return
    this.#swept = now
    for (const [key, entry] of this.#entries)
      if (entry.loaded !== undefined && entry.until <= now) this.#forget(key, entry)
  }

  /** Oldest first, but not `fresh`; what was asked for meanwhile goes to the end of the queue once. */
  #evict(fresh?: Entry): void {
    const { keysMax, weightMax = Infinity } = this.#options
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= keysMax && this.#weight <= weightMax) return
      if (entry.used) {
        entry.used = false
        this.#entries.delete(key)
        this.#entries.set(key, entry)
      } else if (entry !== fresh) this.#forget(key, entry)
    }
  }
}
