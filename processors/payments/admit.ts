import type { PaymentIntent } from '../../schemas/records.ts'
import { aheadMax } from './wire/match.ts'
import type { Seller } from './wire/offer.ts'

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
