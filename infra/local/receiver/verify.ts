import { createHmac, timingSafeEqual } from 'node:crypto'

/** What Standard Webhooks allows a clock to be off, seconds. */
const TOLERANCE_SECONDS = 300

export type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * What a receiver finds out about a webhook.
 * - `verified`: both signatures are right and it is of now;
 * - `stale`: they are, but its time is more than 5 minutes off: it may be a replay;
 * - `wrong`: no known secret makes them;
 * - `unknown-secret`: there is no secret to check with.
 */
export type Verdict = 'verified' | 'stale' | 'wrong' | 'unknown-secret'

/** Checks both signatures of the raw body with each secret; `now` in seconds. Written from the documentation alone. */
export function verify(headers: Headers, body: Buffer, secrets: readonly string[], now: number): Verdict {
  if (secrets.length === 0) return 'unknown-secret'
  if (!secrets.some((secret) => isServiceSignature(headers, body, secret) && isStandard(headers, body, secret)))
    return 'wrong'
  return Math.abs(now - Number(text(headers, 'webhook-timestamp'))) <= TOLERANCE_SECONDS ? 'verified' : 'stale'
}

/** `X-SVC-Signature: sha256=<hex>`: the key is the whole secret as UTF-8, the message is the body. */
function isServiceSignature(headers: Headers, body: Buffer, secret: string): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return isSame(expected, text(headers, 'x-svc-signature'))
}

/** `webhook-signature: v1,<base64> ...`: the key is the secret's base64 part, the message is `id.timestamp.body`. */
function isStandard(headers: Headers, body: Buffer, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const head = `${text(headers, 'webhook-id')}.${text(headers, 'webhook-timestamp')}.`
  const expected = `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`
  return text(headers, 'webhook-signature')
    .split(' ')
    .some((given) => isSame(expected, given))
}

export function text(headers: Headers, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

/** In a time that does not tell how much of it is right. */
function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
