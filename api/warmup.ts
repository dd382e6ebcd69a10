/** A warm symbol has been streamed this long. Source: decisions, "Warm-up". */
const WARM_MS = 10_000
/** No symbol warms up for longer: what is missing then is missing. */
const WARM_MS_MAX = 30_000

/** Ages are milliseconds; undefined: it has not happened. */
export interface StreamFacts {
  /** Venues that list the asset. */
  readonly listed: ReadonlySet<string>
  /** Venues that stream it to a feed process that is alive. */
  readonly acknowledged: ReadonlySet<string>
  /** Meant to be streamed whatever the feeds say just now: from the start, or since an earlier request. */
  readonly meant: boolean
  /** Since this API asked for it because nobody streamed it. */
  readonly askedAge: number | undefined
  /** Since the earliest acknowledgement that stands. */
  readonly acknowledgedAge: number | undefined
  /** Since the first trade in the log. */
  readonly firstTradeAge: number | undefined
}

/**
 * - `unwanted`: nobody streams it: it has to be asked for;
 * - `warming`: asked for, not yet to be relied upon;
 * - `unavailable`: asked for, and nothing came.
 */
export type Readiness = 'ready' | 'unwanted' | 'warming' | 'unavailable'

/**
 * Whether an asset's figures can be given.
 *
 * Warm-up ends when every venue that lists the asset has acknowledged its subscription and 10 s have passed, or after
 * 30 s. A symbol that was streamed already when it was asked for is past it: a feed that restarts records its gap.
 */
export function readiness(facts: StreamFacts): Readiness {
  const { listed, acknowledged, askedAge, firstTradeAge } = facts
  if (askedAge === undefined) {
    const streamed = acknowledged.size > 0 || (facts.meant && firstTradeAge !== undefined)
    if (!streamed) return 'unwanted'
    if (firstTradeAge !== undefined && firstTradeAge >= WARM_MS) return 'ready'
  }
  const age = askedAge ?? Math.max(facts.acknowledgedAge ?? 0, firstTradeAge ?? 0)
  if (age >= WARM_MS_MAX) return acknowledged.size > 0 || firstTradeAge !== undefined ? 'ready' : 'unavailable'
  const allHeard = listed.size > 0 && [...listed].every((venue) => acknowledged.has(venue))
  return allHeard && age >= WARM_MS ? 'ready' : 'warming'
}

/** How long a caller's place in the queue is kept at most, milliseconds. */
export const WAIT_MS_MAX = WARM_MS_MAX
