/** A moment on both clocks of the host, milliseconds. */
export interface Moment {
  /** Can be set back. */
  readonly wall: number
  /** Stands still while the machine is suspended. */
  readonly steady: number
}

export function hostMoment(): Moment {
  return { wall: Date.now(), steady: performance.now() }
}

/**
 * How long an owner may write after it has last asked the broker whether its claim stands. What keeps a replaced owner
 * out is forgotten in time, so an owner that was away for longer asks before it writes.
 */
export class Lease {
  readonly #ms: number
  readonly #now: () => Moment
  #since: Moment

  /** `since`: before the broker was asked. */
  constructor(ms: number, since: Moment, now = hostMoment) {
    this.#ms = ms
    this.#since = since
    this.#now = now
  }

  renewed(since: Moment): void {
    this.#since = since
  }

  get holds(): boolean {
    const { wall, steady } = this.#now()
    return Math.max(wall - this.#since.wall, steady - this.#since.steady) < this.#ms
  }
}
