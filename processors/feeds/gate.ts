/** Where attempts wait for their turn. Times are milliseconds. */
export interface Turns {
  /** Takes a turn if there is one now. */
  enter(now: number): boolean
  /** No turn before `until`. */
  close(until: number): void
}

/** Who asked for a turn this long ago asks again, or does not want it any more. */
const asksAgainMs = 500

/** Keeps attempts of one venue apart, and all of them away while the venue refuses us. */
export class Gate implements Turns {
  readonly #spacingMs: number
  #next = -Infinity
  #askedAt = -Infinity
  /** The same gate for those who let everybody else go first. */
  readonly behind: Turns = {
    enter: (now) => now - this.#askedAt >= asksAgainMs && this.#take(now),
    close: (until) => this.close(until),
  }

  constructor(spacingMs: number) {
    this.#spacingMs = spacingMs
  }

  enter(now: number): boolean {
    const entered = this.#take(now)
    this.#askedAt = entered ? -Infinity : now
    return entered
  }

  close(until: number): void {
    this.#next = Math.max(this.#next, until)
  }

  #take(now: number): boolean {
    if (now < this.#next) return false
    this.#next = now + this.#spacingMs
    return true
  }
}
