import type { UTCTimestamp } from 'lightweight-charts'

/** Widths of a bucket that the API has. */
export const intervals = ['1m', '3m', '5m', '15m', '30m', '1h', '2h', '4h', '8h', '12h', '1d', '1w'] as const
export type Interval = (typeof intervals)[number]

const MINUTE = 60
/** Widths in seconds. */
const units = { m: MINUTE, h: 60 * MINUTE, d: 1_440 * MINUTE, w: 10_080 * MINUTE } as const
/** The first Monday of the epoch, seconds: buckets are counted from there, as the API's. */
const FIRST_MONDAY = 4 * units.d

/** The chart library's time of an instant (ISO): seconds, of a type of its own. */
export function secondsOf(iso: string): UTCTimestamp {
  return Math.floor(Date.parse(iso) / 1000) as UTCTimestamp
}

/** The start of the bucket that an instant lies in. */
export function bucketOf(iso: string, interval: Interval): UTCTimestamp {
  const width = Number.parseInt(interval, 10) * units[interval.slice(-1) as keyof typeof units]
  return (Math.floor((secondsOf(iso) - FIRST_MONDAY) / width) * width + FIRST_MONDAY) as UTCTimestamp
}
