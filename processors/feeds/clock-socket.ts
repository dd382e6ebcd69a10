import type { FeedClock } from './clock.ts'

/** The host's own clock. */
export const hostClock: FeedClock = { now: () => Date.now() * 1_000, see: () => undefined }
