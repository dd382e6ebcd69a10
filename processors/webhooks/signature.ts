import { hash } from 'node:crypto'
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
  readonly whole: HmacKey
  readonly decoded: HmacKey
}

/** The key's two pads of RFC 2104, one block of SHA-256 each. */
interface HmacKey {
  readonly inner: Buffer
  readonly outer: Buffer
}

/** `secret`: the alert's whole `webhook_secret`, `whsec_` and base64. */
export function signingKeys(secret: string): SigningKeys {
  const decoded = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64')
  return { whole: hmacKey(Buffer.from(secret, 'utf8')), decoded: hmacKey(decoded) }
}

/**
 * The signature headers of one attempt.
 *
 * - `X-SVC-Signature: sha256=<hex>`: HMAC-SHA256 of the body; the key is the secret's text as UTF-8.
 * - Standard Webhooks' trio: HMAC-SHA256 of `id.timestamp.body`; the key is the secret's base64 part decoded. The id is
 *   percent-encoded, as a header has ASCII only and assets are called what their venues like.
 */
export function signatureHeaders({ keys, triggerId, body, at }: Signed): Record<string, string> {
  const id = encodeURI(triggerId)
  const timestamp = String(Math.floor(at / 1_000_000))
  return {
    'X-SVC-Signature': `sha256=${hmac(keys.whole, '', body, 'hex')}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmac(keys.decoded, `${id}.${timestamp}.`, body, 'base64')}`,
  }
}

const BLOCK_BYTES = 64

function hmacKey(secret: Buffer): HmacKey {
  const block = Buffer.alloc(BLOCK_BYTES)
  const key = secret.length > BLOCK_BYTES ? hash('sha256', secret, 'buffer') : secret
  key.copy(block)
  const pad = (mask: number): Buffer => Buffer.from(block.map((byte) => byte ^ mask))
  return { inner: pad(0x36), outer: pad(0x5c) }
}

const DIGEST_BYTES = 32
/** Where the two messages of an HMAC are put together, anew for each; nothing is awaited between. */
let message = Buffer.alloc(4_096)
const last = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES)

/**
 * HMAC-SHA256 of `start` as UTF-8 and `rest`, by its definition, over the runtime's SHA-256: `createHmac` sets up a
 * context each time, which takes longer.
 */
function hmac({ inner, outer }: HmacKey, start: string, rest: Buffer, encoding: 'hex' | 'base64'): string {
  const most = BLOCK_BYTES + 3 * start.length + rest.length // a UTF-16 unit is at most three bytes
  if (message.length < most) message = Buffer.alloc(2 * most)
  message.set(inner)
  const restAt = BLOCK_BYTES + message.write(start, BLOCK_BYTES)
  message.set(rest, restAt)
  last.set(outer)
  last.set(hash('sha256', message.subarray(0, restAt + rest.length), 'buffer'), BLOCK_BYTES)
  return hash('sha256', last, encoding)
}
