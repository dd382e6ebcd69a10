/** What each stream is called on the system page. Pure. */

export type StreamState =
  'LIVE' | 'BACKFILLED' | 'GAP' | 'STALE' | 'UNAVAILABLE' | 'UNLISTED' | 'WARMING UP' | 'NOT READ'

export interface Gap {
  /** instrument/gap id */
  readonly key: string
  readonly instrument: string
  readonly symbol: string
  readonly venue: string
  readonly state: string
  readonly reason: string
  /** Milliseconds. */
  readonly from: number
  readonly to: number
  readonly time: number
  readonly missing: number | null
}

const words: Readonly<Record<string, StreamState>> = {
  live: 'LIVE',
  gap: 'GAP',
  stale: 'STALE',
  unavailable: 'UNAVAILABLE',
  unlisted: 'UNLISTED',
}

/**
 * The state of a venue's stream of a symbol over the period behind `since` (milliseconds), from what is said of the
 * symbol's streams and the gaps that are known. A live stream whose gaps were all filled is BACKFILLED.
 */
export function stateOf(
  status: Readonly<Record<string, string>> | 'warming_up' | null,
  gaps: readonly Gap[],
  { symbol, venue, since }: { symbol: string; venue: string; since: number },
): StreamState {
  if (status === null) return 'NOT READ'
  if (status === 'warming_up') return 'WARMING UP'
  const word = words[status[venue] ?? ''] ?? 'STALE'
  if (word !== 'LIVE') return word
  const touching = gaps.filter((gap) => gap.symbol === symbol && gap.venue === venue && gap.to >= since)
  if (touching.some(({ state }) => state === 'opened' || state === 'unfillable')) return 'GAP'
  return touching.some(({ state }) => state === 'filled') ? 'BACKFILLED' : 'LIVE'
}

const DAY_MS = 86_400_000

/** Those that are open, then those of the last 24 h by when they began, newest first. */
export function inOrder(gaps: Iterable<Gap>, now: number): Gap[] {
  const isOpen = ({ state }: Gap): boolean => state === 'opened'
  return [...gaps]
    .filter((gap) => isOpen(gap) || gap.to >= now - DAY_MS)
    .toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)) || b.from - a.from)
}
