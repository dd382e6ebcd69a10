import type { Micros } from '../../schemas/records.ts'
import { FORGET_MAX, type KnownLimits } from './limits.ts'

/** Names that are remembered for a while, so many at most, the oldest first. */
export class Known {
  readonly #limits: KnownLimits
  readonly #times = new Map<string, Micros>()

  constructor(limits: KnownLimits) {
    this.#limits = limits
  }

  has(name: string): boolean {
    return this.#times.has(name)
  }

  /** Known, and not for longer than it is to be. */
  isFresh(name: string, now: Micros): boolean {
    const at = this.#times.get(name)
    return at !== undefined && now - at < this.#limits.kept
  }

  set(name: string, time: Micros): void {
    this.#times.delete(name)
    this.#times.set(name, time)
  }

  delete(name: string): boolean {
    return this.#times.delete(name)
  }

  /** Takes out what is too old or too much, some at a time. */
  forget(now: Micros): string[] {
    const { max, kept } = this.#limits
    const taken: string[] = []
    for (const [name, time] of this.#times) {
      if ((time >= now - kept && this.#times.size <= max) || taken.length >= FORGET_MAX) break
      this.#times.delete(name)
      taken.push(name)
    }
    return taken
  }
}
