import type { Micros } from '../../schemas/records.ts'

/**
 * Lets one record out per interval. A venue that tells something once a second is never exactly a second apart: what comes
 * up to half an interval early takes its turn at once instead of waiting for it, and the next turn is as much later.
 */
export class Pace {
  /** The turn of the newest record. */
  #turn = -Infinity

  due(now: Micros, interval: Micros): boolean {
    return now - this.#turn >= interval
  }

  take(now: Micros, interval: Micros): void {
    this.#turn = Math.max(now - interval / 2, this.#turn + interval)
  }
}
