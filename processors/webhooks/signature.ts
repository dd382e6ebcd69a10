import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Micros } from '../../schemas/records.ts'

/** What is signed: the bytes that are sent, never a second serialisation of the same value. */
export interface Signed {
  readonly keys: SigningKeys
  /** Stays the same over all attempts. */
  readonly triggerId: string
  readonly body: Buffer
  /** When this attempt is made. */
  readonly at: Micros
}

/** An alert's secret, ready to sign with: making it ready costs as much as signing. */
export interface SigningKeys {
  readonly whole: KeyObject
  readonly decoded: KeyObject
}

/** `secret`: the alert's whole `webhook_secret`, `whsec_` and base64. */
export function signingKeys(secret: string): SigningKeys {
  const decoded = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64')
  return { whole: createSecretKey(Buffer.from(secret, 'utf8')), decoded: createSecretKey(decoded) }
}

/**
 * The signature headers of one attempt.
 *
 * - `X-SVC-Signature: sha256=<hex>`: HMAC-SHA256 of the body; the key is the secret's text as UTF-8.
 * - Standard Webhooks' trio: HMAC-SHA256 of `id.timestamp.body`; the key is the secret's base64 part decoded.
 */
export function signatureHeaders({ keys, triggerId, body, at }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000_000))
  const standard = createHmac('sha256', keys.decoded).update(`${triggerId}.${timestamp}.`).update(body)
  return {
    'X-SVC-Signature': `sha256=${createHmac('sha256', keys.whole).update(body).digest('hex')}`,
    'webhook-id': triggerId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${standard.digest('base64')}`,
  }
}
