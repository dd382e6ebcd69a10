/** Shortest and longest span that a delay is drawn from, milliseconds. */
export interface BackoffRules {
  readonly firstMs: number
  readonly maxMs: number
}

/**
 * How long to wait before attempt number `attempt` (0: the first retry), with full jitter: anything from 0 to the
 * doubled span, so that many clients do not come back at once. `random` is from 0 to 1.
 */
export function backoffMs(attempt: number, random: number, { firstMs, maxMs }: BackoffRules): number {
  return Math.round(random * Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30)))
}
