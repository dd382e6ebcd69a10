import { createHash } from 'node:crypto'

/** What a payment is for. Two requests that mean the same have the same. */
export interface Bought {
  readonly method: string
  /** Path and query as matched: parameters read, in the table's order. */
  readonly target: string
  /** Headers that the route looks at, by name, empty where they are not there. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array | undefined
}

/**
 * SHA-256, hex. The headers belong to it because a settled authorization can be read on the chain by anybody, while the
 * owner's token or Idempotency-Key cannot: who has only the former does not get the answer.
 */
export function fingerprintOf({ method, target, headers, body }: Bought): string {
  const bodyHash = createHash('sha256')
    .update(body ?? '')
    .digest('hex')
  return createHash('sha256')
    .update(JSON.stringify([method, target, headers, bodyHash]))
    .digest('hex')
}
