import { createHmac, createSecretKey, type Hmac } from 'node:crypto'
import type { Micros } from '../../schemas/records.ts'

/** What is signed: the bytes that are sent, never a second serialisation of the same value. */
export interface Signed {
  /** The alert's whole `webhook_secret`: `whsec_` and base64. */
  readonly secret: string
  /** Stays the same over all attempts. */
  readonly triggerId: string
  readonly body: Buffer
  /** When this attempt is made. */
  readonly at: Micros
}

/**
 * The signature headers of one attempt.
 *
 * - `X-SVC-Signature: sha256=<hex>`: HMAC-SHA256 of the body; the key is the secret's text as UTF-8.
 * - Standard Webhooks' trio: HMAC-SHA256 of `id.timestamp.body`; the key is the secret's base64 part decoded.
 */
export function signatureHeaders({ secret, triggerId, body, at }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000_000))
  const whole = hmac(Buffer.from(secret, 'utf8'))
  const standard = hmac(Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64'))
  return {
    'X-SVC-Signature': `sha256=${whole.update(body).digest('hex')}`,
    'webhook-id': triggerId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${standard.update(`${triggerId}.${timestamp}.`).update(body).digest('base64')}`,
  }
}

/** By way of a key object: bytes given as a key cost ten times as much. */
function hmac(key: Buffer): Hmac {
  return createHmac('sha256', createSecretKey(key))
}
