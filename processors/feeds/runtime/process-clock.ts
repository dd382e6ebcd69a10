import { type FeedClock, HostTime } from '../time/clock.ts'

/** The clocks of this process. Nothing else in the feeds reads the host's. */
export const hostTime = new HostTime({ wall: () => Date.now(), mono: () => performance.now() })

/** Milliseconds since the Unix epoch. */
export function hostNow(): number {
  return hostTime.now()
}

/** The time that trades are stamped with. */
export const hostClock: FeedClock = {
  now: () => hostNow() * 1_000,
  see: (venue, time) => hostTime.venues.see(venue, time, performance.now()),
}
