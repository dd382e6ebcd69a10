import { encodeHeader } from './header.ts'
import { offerV1, offerV2, type Resource, type Seller } from './offer.ts'

/** An answer that asks for a payment: clients of version 2 read the header alone, those of version 1 the body alone. */
export interface Challenge {
  /** Value of PAYMENT-REQUIRED. */
  readonly header: string
  /** The JSON object; further fields for people may be added to it. */
  readonly body: { readonly x402Version: 1; readonly accepts: readonly object[] }
}

/** `error`: `payment_required`, or the reason code of a payment that was not accepted. */
export function challengeOf(seller: Seller, amount: string, resource: Resource, error: string): Challenge {
  const required = { x402Version: 2, error, resource, accepts: [offerV2(seller, amount)] }
  return {
    header: encodeHeader(required),
    body: { x402Version: 1, accepts: [offerV1(seller, amount, resource)] },
  }
}
