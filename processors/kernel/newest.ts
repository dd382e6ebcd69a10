/** Part of the limit that goes at once. */
const SHARE_AT_ONCE = 1 / 16

/**
 * Takes the oldest out where there are more than `max`, a sixteenth at once: a map steps over all that were deleted to find
 * its oldest.
 */
export function keepNewest<Key>(known: Map<Key, unknown> | Set<Key>, max: number): void {
  if (known.size <= max) return
  const kept = max - Math.floor(max * SHARE_AT_ONCE)
  for (const key of known.keys()) {
    if (known.size <= kept) return
    known.delete(key)
  }
}
