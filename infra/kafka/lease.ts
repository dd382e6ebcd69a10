/** A moment on both clocks of the host, milliseconds. */
export interface ClockReading {
  /** Can be set back. */
  readonly wall: number
  /** Stands still while the machine is suspended. */
  readonly steady: number
}

export function readHostClocks(): ClockReading {
  return { wall: Date.now(), steady: performance.now() }
}

/**
 * How long something may be relied on after the broker has last confirmed it, since the broker itself forgets in time: an
 * owner's claim, and what keeps a replaced owner out; a follower's place, and the tombstones behind it.
 */
export class Lease {
  readonly #ms: number
  readonly #now: () => ClockReading
  #since: ClockReading

  /** `since`: before the broker was asked. */
  constructor(ms: number, since: ClockReading, now = readHostClocks) {
    this.#ms = ms
    this.#since = since
    this.#now = now
  }

  renewed(since: ClockReading): void {
    this.#since = since
  }

  get holds(): boolean {
    const { wall, steady } = this.#now()
    return Math.max(wall - this.#since.wall, steady - this.#since.steady) < this.#ms
  }
}
