import { setTimeout as delay } from 'node:timers/promises'
import { isTransient } from './internals.ts'
import { LogError } from '../seam.ts'

const FIRST_MS = 5
const LONGEST_MS = 500

/** Waits that double from 5 ms to half a second. */
export class Backoff {
  #ms = FIRST_MS

  async wait(): Promise<void> {
    const ms = this.#ms
    this.#ms = Math.min(ms * 2, LONGEST_MS)
    await delay(ms)
  }

  reset(): void {
    this.#ms = FIRST_MS
  }
}

/** Says that an attempt shall be made again. */
export const again = Symbol('again')

/**
 * Attempts until a result, at the longest for `withinMs`; then `LogError` `unavailable` with the last error as its
 * cause. A connection that is refused or lost counts as `again`, any other error is thrown as it is.
 */
export async function retrying<Result>(
  what: string,
  withinMs: number,
  attempt: () => Promise<Result | typeof again>,
): Promise<Result> {
  const deadline = performance.now() + withinMs
  const backoff = new Backoff()
  for (;;) {
    let cause: unknown
    try {
      const result = await attempt()
      if (result !== again) return result
    } catch (error) {
      if (!isTransient(error)) throw error
      cause = error
    }
    if (performance.now() > deadline)
      throw new LogError('unavailable', `${what}: no broker did it in ${withinMs} ms`, { cause })
    await backoff.wait()
  }
}
