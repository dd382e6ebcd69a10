import { vi } from 'vitest'

/** A wait ends as soon as what it waits for is there; only a fault makes it last this long. */
const PATIENCE_MS = 60_000

const waitFor = vi.waitFor

/** `vi.waitFor` gives up after one second unless told: too soon for a busy machine of two cores. */
vi.waitFor = (callback, options) => {
  const given = typeof options === 'number' ? { timeout: options } : (options ?? {})
  return waitFor(callback, { ...given, timeout: Math.max(given.timeout ?? 0, PATIENCE_MS) })
}
