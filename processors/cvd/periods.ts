import type { Micros } from '../../schemas/records.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

export interface Period {
  /** How far it looks back, microseconds. */
  readonly length: Micros
  /** Width of the buckets that it is made of, microseconds; divides `length`. */
  readonly bucket: Micros
}

/** The rolling periods: each is a whole number of buckets, the open one included. */
export const periods = {
  '1h': { length: HOUR, bucket: 10 * SECOND },
  '4h': { length: 4 * HOUR, bucket: MINUTE },
  '24h': { length: 24 * HOUR, bucket: 5 * MINUTE },
  '7d': { length: 7 * 24 * HOUR, bucket: 30 * MINUTE },
} as const satisfies Record<string, Period>

export type PeriodName = keyof typeof periods

/** Where the period that ends at `now` starts and ends; half open, both on a bucket's bound; `now` lies in its last bucket. */
export function windowOf({ length, bucket }: Period, now: Micros): { from: Micros; to: Micros } {
  const to = now - (now % bucket) + bucket
  return { from: to - length, to }
}
