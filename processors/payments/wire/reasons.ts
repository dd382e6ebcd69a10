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
