/** When a connection may be attempted. Times are milliseconds. */
export interface Limiter {
  /** Whether one may be attempted now; if so, the next has to wait. */
  tryNow(now: number): boolean
  /** None before `until`. */
  blockUntil(until: number): void
}

/** Who asked this long ago asks again, or does not want it any more. */
const asksAgainMs = 500

/** Keeps attempts of one venue apart, and all of them away while the venue refuses us. */
export class ConnectLimiter implements Limiter {
  readonly #spacingMs: number
  #next = -Infinity
  #askedAt = -Infinity
  /** The same for those who let everybody else go first. */
  readonly behind: Limiter = {
    tryNow: (now) => now - this.#askedAt >= asksAgainMs && this.#take(now),
    blockUntil: (until) => this.blockUntil(until),
  }

  constructor(spacingMs: number) {
    this.#spacingMs = spacingMs
  }

  tryNow(now: number): boolean {
    const entered = this.#take(now)
    this.#askedAt = entered ? -Infinity : now
    return entered
  }

  blockUntil(until: number): void {
    this.#next = Math.max(this.#next, until)
  }

  #take(now: number): boolean {
    if (now < this.#next) return false
    this.#next = now + this.#spacingMs
    return true
  }
}

/** The limiter of a host. */
export interface Limiters {
  of(base: string, spacingMs: number): Limiter
}

/** One limiter per WebSocket host: a venue counts connection attempts per address, whichever channel they are for. */
export class ConnectLimiters implements Limiters {
  readonly #limiters = new Map<string, ConnectLimiter>()
  /** For channels that can wait: the others go first, so trades are heard again soonest. */
  readonly behind: Limiters = { of: (base, spacingMs) => this.of(base, spacingMs).behind }

  of(base: string, spacingMs: number): ConnectLimiter {
    const limiter = this.#limiters.get(base) ?? new ConnectLimiter(spacingMs)
    this.#limiters.set(base, limiter)
    return limiter
  }
}
