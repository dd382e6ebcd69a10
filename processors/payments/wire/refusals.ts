import type { PaymentIntent } from '../../../schemas/records.ts'
import type { Payment } from './decode.ts'
import type { Seller } from './offer.ts'

/**
 * Why a payment is not accepted, by the protocol's reason codes. Source: x402 specification, "Error Handling"; where
 * specification and reference code differ, the specification's. What only this service says is at the end.
 */
export const reasons = {
  invalid_x402_version: 'The x402Version must be 1 in X-PAYMENT and 2 in PAYMENT-SIGNATURE.',
  unsupported_scheme: 'Pay with the scheme exact.',
  invalid_network: 'Pay on the network of the offer.',
  invalid_payment_requirements: 'The accepted offer is not the one of this route; ask again and sign what it says now.',
  invalid_exact_evm_payload_recipient_mismatch: 'The authorization must pay the payTo of the offer.',
  invalid_exact_evm_payload_authorization_value_mismatch: 'The authorization must be about exactly the amount offered.',
  invalid_exact_evm_payload_authorization_valid_after: 'The authorization is not valid yet; sign one that is.',
  invalid_exact_evm_payload_authorization_valid_before:
    'The authorization has expired, is about to, or lasts far longer than the offer; sign one of maxTimeoutSeconds.',
  invalid_exact_evm_payload_signature:
    'The signature is not the payer’s; look at name, version and chain of the offer.',
  insufficient_funds: 'The payer has too little of the token.',
  invalid_transaction_state: 'The transaction of the payment failed; sign a new authorization.',
  invalid_exact_evm_transaction_simulation_failed: 'The token would refuse the transfer; look at the payer’s account.',
  invalid_exact_evm_nonce_already_used: 'The authorization was used or cancelled; sign a new one.',
  unexpected_settle_error: 'The payment could not be settled, and nothing was taken; send the same again in a moment.',
  resource_mismatch: 'The payment names another resource than this one; ask again and sign what it says now.',
  payer_cooling_down:
    'Transfers of this payer, or of wallets with its code, were undone in the block; come again in some minutes, or pay from another account.',
  paid_time_over: 'The time that this payment was for is over; sign a new one.',
  insufficient_credit: 'The API key has too little credit left; POST /credit with its key_id buys more.',
  idempotency_key_in_use: 'Another payment is taken for this Idempotency-Key; send that one again.',
} as const satisfies Readonly<Record<string, string>>

/** Of the payments for one Idempotency-Key another is being taken, or was. */
export const BOUGHT_OTHERWISE = 'idempotency_key_in_use' satisfies Reason

/** Nothing is sent for such payers for a while. */
export const COOLING = 'payer_cooling_down' satisfies Reason

/** What it paid for lasted so long and no longer. */
export const OVER = 'paid_time_over' satisfies Reason

export type Reason = keyof typeof reasons

/** One sentence that says how to mend it. */
export function adviceOf(reason: string): string {
  return isReason(reason) ? reasons[reason] : 'The payment was not accepted; ask again and sign a new one.'
}

function isReason(text: string): text is Reason {
  return Object.hasOwn(reasons, text)
}

/** What a route asks for. */
interface Asked {
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
  const { version, declared, scheme, network, accepted, resource, authorization } = payment
  if (declared !== version) return 'invalid_x402_version'
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
function aheadMax({ maxTimeoutSeconds }: Seller): number {
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

const ADDRESS = /^0x[0-9a-f]{40}$/
const NONCE = /^0x[0-9a-f]{64}$/
const SIGNATURE = /^0x(?:[0-9a-f]{2}){1,4096}$/
const DIGITS = /^(?:0|[1-9][0-9]{0,77})$/
/** Clocks of the machines that write and read intents differ by less, seconds. */
const SKEW_SECONDS = 600

/**
 * Why an intent is not settled at all: null, or the reason code. The interface has checked the same and more, but the log
 * is anyone's input, and our configuration may have changed since. `now`: seconds since the Unix epoch.
 */
export function refusalOf(intent: PaymentIntent, seller: Seller, now: number): string | null {
  if (!isWhole(intent)) return 'invalid_payload'
  const { chain_id: chain, asset, pay_to: to, price, value, valid_before: before } = intent
  if (chain !== seller.network.chainId) return 'invalid_network'
  if (asset !== seller.asset.toLowerCase()) return 'invalid_payment_requirements'
  if (to !== seller.payTo.toLowerCase()) return 'invalid_exact_evm_payload_recipient_mismatch'
  if (value !== price) return 'invalid_exact_evm_payload_authorization_value_mismatch'
  const isFarAhead = before > now + aheadMax(seller) + SKEW_SECONDS
  return isFarAhead ? 'invalid_exact_evm_payload_authorization_valid_before' : null
}

function isWhole(intent: PaymentIntent): boolean {
  const { asset, from, pay_to: to, value, price, nonce, signature, valid_after: after, valid_before: before } = intent
  return (
    [asset, from, to].every((text) => ADDRESS.test(text)) &&
    NONCE.test(nonce) &&
    SIGNATURE.test(signature) &&
    [value, price].every((text) => DIGITS.test(text)) &&
    [after, before].every((time) => Number.isSafeInteger(time) && time >= 0)
  )
}
