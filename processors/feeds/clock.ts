import type { Micros } from '../../schemas/records.ts'

/** The feed's time: receive times, marks and Kafka record times. Microseconds since the Unix epoch. */
export interface FeedClock {
  /** 0 while it is not known. */
  now(): Micros
  /** Something of this venue time has come. */
  see(venue: string, time: Micros): void
}

/** The newest venue time seen: a tape of last year is written in its own time. */
export function tapeClock(): FeedClock {
  let newest = 0
  return {
    now: () => newest,
    see: (_venue, time) => {
      newest = Math.max(newest, time)
    },
  }
}
