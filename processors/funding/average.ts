/** Closes of the premium index, fraction, by minute since the Unix epoch. */
export type Minutes = Map<number, number>

export interface Average {
  /** Fraction; null without a sample. */
  readonly average: number | null
  /** Minutes that it rests on. */
  readonly samples: number
}

/** Puts a minute's close in, whenever it comes: the last word on a minute stands. False where it says nothing new. */
export function record(minutes: Minutes, minute: number, premium: number): boolean {
  if (minutes.get(minute) === premium) return false
  minutes.set(minute, premium)
  return true
}

/**
 * The linearly time-weighted mean of the minutes `[start, start + elapsed)`: `sum(i x P_i) / sum(i)`, i from 1 at the
 * settlement on. A missing minute is left out with its weight.
 */
export function average(minutes: Minutes, start: number, elapsed: number): Average {
  let sum = 0
  let weights = 0
  let samples = 0
  for (let i = 1; i <= elapsed; i++) {
    const premium = minutes.get(start + i - 1)
    if (premium === undefined) continue
    sum += i * premium
    weights += i
    samples += 1
  }
  return { average: samples === 0 ? null : sum / weights, samples }
}
