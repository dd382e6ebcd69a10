import { createHmac, timingSafeEqual } from 'node:crypto'

const TOLERANCE_SECONDS = 300

/** A header's value; header names come in any case, so ask for them in lower case. */
type Headers = (name: string) => string | undefined

/** X-SVC-Signature: `sha256=<hex>` over the raw body; the key is the whole webhook_secret. */
export function verifySvc(secret: string, headers: Headers, body: Buffer): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return isSame(headers('x-svc-signature') ?? '', expected)
}

/** Standard Webhooks: `v1,<base64>` over `id.timestamp.body`; the key is what follows whsec_, decoded. */
export function verifyStandard(secret: string, headers: Headers, body: Buffer, nowSeconds: number): boolean {
  const id = headers('webhook-id') ?? ''
  const timestamp = headers('webhook-timestamp') ?? ''
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signed = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body)
  const expected = `v1,${signed.digest('base64')}`
  // There may be several, separated by blanks, while a secret is being replaced.
  return (headers('webhook-signature') ?? '').split(' ').some((given) => isSame(given, expected))
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
