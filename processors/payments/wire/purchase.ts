import { createHash } from 'node:crypto'
import type { Micros, PaymentIntent } from '../../../schemas/records.ts'

/** What a payment is for. Two requests that mean the same have the same. */
interface Bought {
  readonly method: string
  /** Path and query as matched: parameters read, in the table's order. */
  readonly target: string
  /** Headers that the route looks at, by name, empty where they are not there, and the Idempotency-Key that it goes by. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array | undefined
}

/**
 * SHA-256, hex. The headers belong to it because a settled authorization can be read on the chain by anybody, while the
 * owner's token or Idempotency-Key cannot: who has only the former gets no answer.
 */
export function fingerprintOf({ method, target, headers, body }: Bought): string {
  const bodyHash = createHash('sha256')
    .update(body ?? '')
    .digest('hex')
  return createHash('sha256')
    .update(JSON.stringify([method, target, headers, bodyHash]))
    .digest('hex')
}

/** Version of an intent that no payment comes with. */
export const RESERVING = 0

/** An Idempotency-Key means the same for so long, seconds. */
const DAY_SECONDS = 86_400

type Reserving = Pick<
  PaymentIntent,
  'request_id' | 'method' | 'route' | 'price' | 'chain_id' | 'asset' | 'pay_to' | 'from'
> & { readonly purchase: string; readonly created: Micros }

/**
 * What a request that is charged to credit writes before it is done: of it and the payments for the same purchase the log's
 * order takes one. It is the same for every request of the purchase, which is done once by its Idempotency-Key.
 */
export function reservationOf(asked: Reserving): PaymentIntent {
  const { purchase, price, created } = asked
  return {
    ...asked,
    payment_id: `credit:${purchase}`,
    fingerprint: purchase,
    version: RESERVING,
    value: price,
    valid_after: 0,
    valid_before: Math.floor(created / 1e6) + DAY_SECONDS,
    nonce: '',
    signature: '',
    credit: null,
  }
}
