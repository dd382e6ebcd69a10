import type { Micros } from '../../schemas/records.ts'

/** Bounds of what a partition's deliveries keep in memory and in `webhooks.pending`. */

const HOUR: Micros = 3_600_000_000

/** What has ended is known this long without a look; an older trigger is looked up in the journal of attempts. */
export const FINISHED_KNOWN: Micros = HOUR
/** Ended deliveries that such a look keeps at most, the newest: some 100 MB. */
export const RECALLED_MAX = 1_000_000
/** A trigger that is not where it should be may be written again by its processor; it is waited for this long. */
export const MISSING_WAIT: Micros = 60_000_000
export const MISSING_RETRY: Micros = 2_000_000
/** What tells that a ring is over is due so long behind the next attempt of that ring, and looked at again so often. */
export const BEHIND_RING: Micros = 1_000_000
/** Ended triggers; beyond so many the oldest is forgotten before its hour is over. */
export const finishedKnown: KnownLimits = { max: 200_000, kept: FINISHED_KNOWN }
/** Alerts whose receiver said 410, remembered after their last trigger for longer than an alert lives ahead. */
export const goneKnown: KnownLimits = { max: 100_000, kept: 31 * 24 * HOUR }
/** Tombstones of one call. */
export const FORGET_MAX = 1_000
/** How often it is looked for what is to be forgotten: a map steps over all that were deleted to find its oldest. */
export const FORGET_EVERY: Micros = 1_000_000

/** A clock that falls by more was put back. */
export const PUT_BACK: Micros = 5_000_000

/** Messages that one destination gets in so long; what comes beyond is told in a digest when it is over. */
export const BURST_MAX = 10
export const BURST_TIME: Micros = 60_000_000
/** Destinations whose minute is counted; beyond, the longest known are forgotten. */
export const RATES_MAX = 100_000
export const HOLDING_SWEEP: Micros = 60_000_000

interface KnownLimits {
  readonly max: number
  readonly kept: Micros
}

export interface OpenLimits {
  /** Deliveries that are not finished. */
  readonly open: number
  /** Beside them, what owners ask for themselves: tests, and what is to be sent once more. */
  readonly asked: number
  /** Those that wait for a digest of quiet hours. */
  readonly held: number
  /** In line for receivers that answer well, over all partitions; beyond it no more is read until they have taken some. */
  readonly inLine: number
}

/**
 * A receiver and one alert of it together may have so much of the room for `open`, or for `asked`, that is left beside what
 * all have; a trigger beyond it ends as exhausted, and says so. One receiver has at most a third of all, one alert a fifth
 * (more than a ring every 10 s for the two days of retries), and whoever comes finds room beside any other.
 */
export const OPEN_SHARE = 1 / 2
/**
 * One destination may have so much of the room for `held` that is left beside what it has; beyond it quiet hours hold for a
 * minute at most, for it alone. So one has at most a fifth of all, and whoever begins to wait finds room beside any other.
 */
export const HELD_SHARE = 1 / 4

export const openLimits: OpenLimits = { open: 100_000, asked: 10_000, held: 40_000, inLine: 10_000 }

/** Of what is in line for one receiver so much counts for `inLine`: no receiver alone has all others wait. */
export const IN_LINE_COUNTED = 500

/** A destination of its own that was asked too often is left alone as long as it says, at least and at most. */
export const LEFT_ALONE: { readonly min: Micros; readonly max: Micros } = { min: 1_000_000, max: 60_000_000 }

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
