/** Payments: intents, what became of them, and the answers they bought. Documented in `records/payment_*.avsc`. */
import type { Micros } from './micros.ts'

export interface PaymentIntent {
  readonly payment_id: string
  readonly request_id: string
  readonly method: string
  readonly route: string
  readonly fingerprint: string
  readonly price: string
  readonly version: number
  readonly chain_id: number
  readonly asset: string
  readonly pay_to: string
  readonly from: string
  readonly value: string
  readonly valid_after: number
  readonly valid_before: number
  readonly nonce: string
  readonly signature: string
  readonly created: Micros
  readonly purchase: string | null
}

export interface PaymentEvent {
  readonly payment_id: string
  readonly event: 'unknown' | 'broadcast' | 'pending' | 'settled' | 'failed' | 'conflict'
  readonly request_id: string
  readonly method: string
  readonly route: string
  readonly fingerprint: string
  readonly payer: string
  readonly amount: string
  readonly tx: string | null
  readonly block: number | null
  readonly reason: string | null
  readonly by: 'unknown' | 'us' | 'facilitator' | 'other'
  readonly valid_before: number
  readonly raw: string | null
  readonly time: Micros
  readonly v: number
  readonly purchase: string | null
}

export interface PaymentAnswer {
  readonly payment_id: string
  readonly fingerprint: string
  readonly status: number
  readonly type: string
  readonly body: Buffer
  readonly time: Micros
}

/** The id of an authorization, also its key in all payment topics. */
export function paymentId(chainId: number, asset: string, from: string, nonce: string): string {
  return `${chainId}:${asset}:${from}:${nonce}`.toLowerCase()
}
