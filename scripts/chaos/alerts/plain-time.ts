import type { Mark, Micros } from '../../../schemas/records.ts'

const SECOND: Micros = 1_000_000
/** A feed's clock is believed this far ahead of what its venues say. */
const BELIEVED = 5 * SECOND
/** And this far ahead of the last mark where it says nothing of its venues. */
const STEP = 60 * SECOND

/**
 * The rule of partition time once more, as plainly as it can be written and with nothing of the kernel's code: which marks
 * of one partition of a topic that feeds write may be followed.
 */
export class PlainTime {
  /** Times of the marks that may be followed. */
  readonly followed = new Set<Micros>()
  #newest: Micros = 0
  #doubted: Micros | undefined

  /** Whether the mark may be followed. */
  take({ time, venue_time: told }: Mark): boolean {
    const isBelieved = told === null ? this.#isStep(time) : time - told <= BELIEVED
    if (isBelieved) {
      this.followed.add(time)
      this.#newest = Math.max(this.#newest, time)
    }
    if (isBelieved) this.#doubted = undefined
    else if (told === null) this.#doubted = time
    return isBelieved
  }

  /** The first, a small step, or a second mark that is as far ahead as the one before. */
  #isStep(time: Micros): boolean {
    if (this.#newest === 0 || time - this.#newest <= STEP) return true
    return this.#doubted !== undefined && this.#doubted - time <= BELIEVED
  }
}
