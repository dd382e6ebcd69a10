import type { Micros } from '../../schemas/records.ts'

/** Bounds of what a partition's deliveries keep in memory and in `webhooks.pending`. */

const HOUR: Micros = 3_600_000_000

/** What has ended is known this long without a look; an older trigger is looked up in the journal of attempts. */
export const FINISHED_KNOWN: Micros = HOUR
/** Ended deliveries that such a look keeps, the newest: some 100 MB. */
export const RECALLED_MAX = 1_000_000
/** A trigger that is not where it should be may be written again by its processor; it is waited for this long. */
export const MISSING_WAIT: Micros = 60_000_000
export const MISSING_RETRY: Micros = 2_000_000
/** Ended triggers that are remembered; beyond it the oldest is forgotten before its hour is over. */
export const FINISHED_MAX = 200_000
/** An alert whose receiver said 410 is remembered this long after its last trigger: longer than an alert lives ahead. */
export const GONE_KNOWN: Micros = 31 * 24 * HOUR
export const GONE_MAX = 100_000
/** Tombstones of one call. */
export const FORGET_MAX = 1_000

export interface OpenLimits {
  /** Deliveries that are not finished; beyond it no further triggers are read: the log keeps them. */
  readonly open: number
  /** Those of one receiver; a trigger beyond it ends as exhausted, and says so: no receiver can fill the partition. */
  readonly perReceiver: number
}

export const openLimits: OpenLimits = { open: 100_000, perReceiver: 50_000 }
