import type { Payment } from './decode.ts'
import type { Seller } from './offer.ts'
import type { Reason } from './reasons.ts'

/** What a route asks for. */
export interface Asked {
  readonly seller: Seller
  /** Atomic units, decimal digits. */
  readonly amount: string
  /** `resource.url` of the offer. */
  readonly url: string
}

/**
 * Whether a payment is for what the route asks, whatever the time: null, or why not. Price, receiver, token and network
 * are the route's and the configuration's; what the payer says of them is only compared.
 */
export function mismatchOf(payment: Payment, { seller, amount, url }: Asked): Reason | null {
  const { version, said, scheme, network, accepted, resource, authorization } = payment
  if (said !== version) return 'invalid_x402_version'
  if (scheme !== 'exact') return 'unsupported_scheme'
  if (network !== (version === 1 ? seller.network.v1 : seller.network.caip2)) return 'invalid_network'
  if (accepted !== null && !isOffer(accepted, seller, amount)) return 'invalid_payment_requirements'
  if (!isAddress(authorization.to, seller.payTo)) return 'invalid_exact_evm_payload_recipient_mismatch'
  if (authorization.value !== amount) return 'invalid_exact_evm_payload_authorization_value_mismatch'
  return resource !== null && resource !== url ? 'resource_mismatch' : null
}

function isOffer({ amount, asset, payTo }: NonNullable<Payment['accepted']>, seller: Seller, price: string): boolean {
  return amount === price && isAddress(asset, seller.asset) && isAddress(payTo, seller.payTo)
}

/** The case of an address is a checksum. */
function isAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

/** A transaction must still get into a block: as facilitators have it, seconds. */
const SETTLE_SECONDS = 6
/** Payers sign the offer's time by a clock of their own, which may be ahead of ours by less, seconds. */
const CLOCKS_SECONDS = 600

/**
 * How far ahead an authorization may end, seconds: as the offer says. One that lasts longer could move the money, or cost
 * us gas, long after everybody has forgotten it.
 */
export function aheadMax({ maxTimeoutSeconds }: Seller): number {
  return maxTimeoutSeconds + CLOCKS_SECONDS
}

/** Whether it is the time for a payment at `now`, seconds since the Unix epoch. */
export function untimelyOf({ authorization }: Payment, seller: Seller, now: number): Reason | null {
  const after = BigInt(authorization.validAfter)
  const before = BigInt(authorization.validBefore)
  const at = BigInt(Math.floor(now))
  if (after > at) return 'invalid_exact_evm_payload_authorization_valid_after'
  return before < at + BigInt(SETTLE_SECONDS) || before > at + BigInt(aheadMax(seller))
    ? 'invalid_exact_evm_payload_authorization_valid_before'
    : null
}
