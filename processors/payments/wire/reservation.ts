import type { Micros, PaymentIntent } from '../../../schemas/records.ts'

/** Version of an intent that no payment comes with. */
export const RESERVING = 0

/** An Idempotency-Key means the same for so long, seconds. */
const DAY_SECONDS = 86_400

export type Reserving = Pick<
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
