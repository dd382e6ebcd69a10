/** A venue's request budget: `capacity` units at once, refilled evenly. Time is the caller's, milliseconds. */
export class TokenBucket {
  readonly #capacity: number
  readonly #perMs: number
  #tokens: number
  #at: number | undefined
  #notBefore = 0

  constructor({ capacity, refillPerSecond }: { readonly capacity: number; readonly refillPerSecond: number }) {
    this.#capacity = capacity
    this.#perMs = refillPerSecond / 1_000
    this.#tokens = capacity
  }

  /** Takes `cost` units and returns 0, or takes nothing and returns how long to wait before asking again, ms. */
  take(cost: number, now: number, reserve = 0): number {
    const wait = this.wait(cost, now, reserve)
    if (wait === 0) this.#tokens -= cost
    return wait
  }

  /** How long it takes until `cost` units are there with `reserve` left for others, ms; 0: now. */
  wait(cost: number, now: number, reserve = 0): number {
    if (now < this.#notBefore) return this.#notBefore - now
    this.#refill(now)
    // A call that costs more than the bucket holds waits for a full one, or it would wait for ever.
    const needed = Math.min(cost + reserve, this.#capacity)
    return this.#tokens >= needed ? 0 : Math.ceil((needed - this.#tokens) / this.#perMs)
  }

  /** The venue said "too many": nothing more for `ms`, and the bucket is empty then. */
  block(ms: number, now: number): void {
    this.#notBefore = Math.max(this.#notBefore, now + ms)
    this.#tokens = 0
    this.#at = this.#notBefore
  }

  #refill(now: number): void {
    const elapsed = Math.max(0, now - (this.#at ?? now))
    this.#at = Math.max(now, this.#at ?? now)
    this.#tokens = Math.min(this.#capacity, this.#tokens + elapsed * this.#perMs)
  }
}
