import { createHash } from 'node:crypto'
import type { Micros } from '../../schemas/records.ts'

const SECOND = 1_000_000

/** Pauses after the first, second, ... failed attempt; after the last of them the trigger is exhausted. Seconds. */
export const retrySteps = [5, 30, 120, 600, 1_800, 7_200, 21_600, 43_200, 86_400] as const
/** A pause is longer or shorter by up to this share, so that receivers that fail together are not asked together. */
const JITTER = 0.2
/** A receiver may ask for more time, up to this many times the step. */
const RETRY_AFTER_STEPS_MAX = 2

/**
 * When the attempt after `attempts` failed ones is due; null: there is none any more. The jitter follows from the
 * trigger and the attempt, so that a restart plans the same. `retryAfterSeconds`: as the receiver said, never earlier.
 */
export function nextAttempt(
  triggerId: string,
  attempts: number,
  now: Micros,
  retryAfterSeconds?: number,
): Micros | null {
  const step = retrySteps[attempts - 1]
  if (step === undefined) return null
  const planned = step * (1 - JITTER + 2 * JITTER * fraction(`${triggerId}|${attempts}`))
  const asked = Math.min(retryAfterSeconds ?? 0, step * RETRY_AFTER_STEPS_MAX)
  return now + Math.round(Math.max(planned, asked) * SECOND)
}

/** Evenly spread over [0, 1). */
function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32
}

/** Seconds that a `Retry-After` header asks for; undefined where it is absent or says nothing. */
export function retryAfterSeconds(header: string | null | undefined, now: Micros): number | undefined {
  if (header === null || header === undefined) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header)
  const at = /^[A-Z][a-z]+, /.test(header) ? Date.parse(header) : NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at / 1_000 - now / SECOND)
}
