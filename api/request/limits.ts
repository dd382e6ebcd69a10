import { isIP } from 'node:net'
import { ApiError, type ErrorDetail } from './errors.ts'

export interface RateLimit {
  /** Requests a second; 0: no limit. */
  readonly perSecond: number
  /** Requests that may come at once. */
  readonly burst: number
  /** Most callers that are remembered; the one quiet for longest is forgotten first, and is then full again. */
  readonly callersMax: number
}

export type Verdict =
  | { readonly kind: 'unlimited' }
  /** `resetSeconds`: until all of the burst is there again. */
  | { readonly kind: 'allowed'; readonly limit: number; readonly remaining: number; readonly resetSeconds: number }
  | Refused

interface Refused {
  readonly kind: 'refused'
  readonly limit: number
  readonly remaining: 0
  readonly resetSeconds: number
  readonly retryAfterSeconds: number
}

interface Bucket {
  tokens: number
  time: number
}

/** One token bucket per caller. */
export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>()
  readonly #limit: RateLimit

  constructor(limit: RateLimit) {
    this.#limit = limit
  }

  get callers(): number {
    return this.#buckets.size
  }

  /** Takes one token of `caller` at `now`, milliseconds of a steady clock. */
  take(caller: string, now: number): Verdict {
    const { perSecond, burst } = this.#limit
    if (perSecond === 0) return { kind: 'unlimited' }
    const bucket = this.#refilled(caller, now)
    const enough = bucket.tokens >= 1
    if (enough) bucket.tokens -= 1
    const resetSeconds = Math.ceil((burst - bucket.tokens) / perSecond)
    if (enough) return { kind: 'allowed', limit: burst, remaining: Math.floor(bucket.tokens), resetSeconds }
    const retryAfterSeconds = Math.ceil((1 - bucket.tokens) / perSecond)
    return { kind: 'refused', limit: burst, remaining: 0, resetSeconds, retryAfterSeconds }
  }

  /** Takes one too; where there is none it throws `rate_limited`, with when to do `what` again. */
  admit(caller: string, now: number, what: string): void {
    const verdict = this.take(caller, now)
    if (verdict.kind !== 'refused') return
    throw rateLimited(`${what} in ${verdict.retryAfterSeconds} s.`, verdict)
  }

  /** A token that was taken for nothing. */
  giveBack(caller: string, now: number): void {
    this.#refilled(caller, now).tokens += 1
  }

  /** What `take` would say. */
  look(caller: string, now: number): Verdict {
    const verdict = this.take(caller, now)
    if (verdict.kind === 'allowed') this.giveBack(caller, now)
    return verdict
  }

  #refilled(caller: string, now: number): Bucket {
    const { perSecond, burst, callersMax } = this.#limit
    const bucket = this.#buckets.get(caller) ?? { tokens: burst, time: now }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.time) / 1000) * perSecond)
    bucket.time = now
    this.#buckets.delete(caller)
    this.#buckets.set(caller, bucket)
    const [oldest] = this.#buckets.size > callersMax ? this.#buckets.keys() : []
    if (oldest !== undefined) this.#buckets.delete(oldest)
    return bucket
  }
}

/** The headers that say so. */
export function limitHeaders(verdict: Verdict): Record<string, string> {
  if (verdict.kind === 'unlimited') return {}
  return {
    'RateLimit-Limit': String(verdict.limit),
    'RateLimit-Remaining': String(verdict.remaining),
    'RateLimit-Reset': String(verdict.resetSeconds),
  }
}

/** The refusal of who has used up a limit. */
export function rateLimited(
  message: string,
  used: Pick<Refused, 'limit' | 'retryAfterSeconds'> & Partial<Refused>,
  detail: Pick<ErrorDetail, 'field'> = {},
): ApiError {
  const { retryAfterSeconds } = used
  const verdict = { resetSeconds: retryAfterSeconds, ...used, kind: 'refused', remaining: 0 } as const
  return new ApiError('rate_limited', message, { ...detail, retryAfterSeconds, headers: limitHeaders(verdict) })
}

/**
 * Whom limits are counted for: the address, of IPv6 the /64, since one household or server has all of it.
 *
 * `forwarded` is the X-Forwarded-For header, given only behind a trusted proxy: its last entry is the proxy's own word.
 */
export function callerOf(socketAddress: string | undefined, forwarded: string | undefined): string {
  const last = forwarded?.split(',').at(-1)?.trim()
  const address = last !== undefined && isIP(last) !== 0 ? last : (socketAddress ?? '')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  return isIP(address) === 6 ? `${network(address)}::/64` : address
}

/** The first four groups of an IPv6 address. */
function network(address: string): string {
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const rest = tail === undefined || tail === '' ? [] : tail.split(':')
  const dotted = rest.some((group) => group.includes('.')) ? 1 : 0
  const missing = tail === undefined ? 0 : 8 - groups.length - rest.length - dotted
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...rest]
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
