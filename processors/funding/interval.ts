import type { Micros } from '../../schemas/records.ts'
import { asRatio } from '../prices/decimal.ts'
import { MINUTE, UNSETTLED_MINUTES, type KnownPerp, type Perp, type Minutes } from './state.ts'

/**
 * The minute, since the Unix epoch, of the last settlement at partition time `now`; null while nothing tells.
 *
 * It is one interval before the settlement that the venue announces; that one itself once it has passed, even if the
 * venue has not said the next; and never before a settlement that we have seen, so that a contract whose interval has
 * changed does not reach back into what is settled.
 */
export function startOf({ rate, settled, terms }: Perp, now: Micros): number | null {
  if (terms === null) return null
  const interval = terms.intervalHours * 60
  const minute = Math.floor(now / MINUTE)
  const seen = settled === null ? null : Math.round(settled.time / MINUTE)
  const next = rate?.next ?? null
  if (next === null) return seen === null ? null : rolled(seen, interval, minute)
  const announced = Math.round(next / MINUTE)
  const last = announced > minute ? announced - interval : rolled(announced, interval, minute)
  return seen !== null && seen < announced ? Math.max(seen, last) : last
}

/** The settlement to come. */
export function nextOf({ rate, terms }: KnownPerp, start: number | null, now: Micros): Micros | null {
  const announced = rate?.next ?? 0
  if (announced > now) return announced
  return start === null ? null : (start + terms.intervalHours * 60) * MINUTE
}

/** The last bound of an interval since `from` that is not behind `minute`; `from` itself where that is to come. */
function rolled(from: number, interval: number, minute: number): number {
  return from + Math.max(0, Math.floor((minute - from) / interval)) * interval
}

/** Begins the series anew at `start`: minutes before it are settled. Before any start is known a day is kept. */
export function forgetSettled(perp: Perp, start: number | null): void {
  perp.start = start
  perp.isChanged = true
  const from = start ?? (perp.premium?.minute ?? 0) - UNSETTLED_MINUTES
  for (const minute of perp.minutes.keys()) {
    if (minute >= from) continue
    perp.minutes.delete(minute)
    perp.changedHours.add(Math.floor(minute / 60))
  }
}

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
 * settlement on, to twelve decimals. A missing minute is left out with its weight.
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
  return { average: samples === 0 ? null : asRatio(sum / weights), samples }
}
