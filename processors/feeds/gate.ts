/** Keeps attempts of one venue apart, and all of them away while the venue refuses us. Times are milliseconds. */
export class Gate {
  readonly #spacingMs: number
  #next = -Infinity

  constructor(spacingMs: number) {
    this.#spacingMs = spacingMs
  }

  /** Takes a turn if there is one now. */
  enter(now: number): boolean {
    if (now < this.#next) return false
    this.#next = now + this.#spacingMs
    return true
  }

  /** No turn before `until`. */
  close(until: number): void {
    this.#next = Math.max(this.#next, until)
  }
}
