import { encodeHeader } from './header.ts'
import type { Network } from './networks.ts'

/** How a payment ended, as the answer's headers tell it. */
export type Settlement =
  | { readonly success: true; readonly transaction: string; readonly payer: string; readonly amount: string }
  /** `transaction`: empty where none was sent. */
  | { readonly success: false; readonly errorReason: string; readonly transaction: string; readonly payer: string }

/** Value of PAYMENT-RESPONSE and X-PAYMENT-RESPONSE: clients of either version look at their own. */
export function receiptHeader(settlement: Settlement, version: number, network: Network): string {
  const { transaction, payer } = settlement
  const named = { transaction, network: version === 1 ? network.v1 : network.caip2, payer }
  if (!settlement.success) return encodeHeader({ success: false, errorReason: settlement.errorReason, ...named })
  return encodeHeader({ success: true, ...named, ...(version === 1 ? {} : { amount: settlement.amount }) })
}
