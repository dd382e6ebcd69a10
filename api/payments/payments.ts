import type { Payment } from '../../processors/payments/wire/decode.ts'
import type { Seller } from '../../processors/payments/wire/offer.ts'
import type { PaymentAnswer, PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import type { Credit } from '../credit/credit.ts'
import type { RateLimiter } from '../request/limits.ts'
import type { SingleFlight } from './single-flight.ts'

/** What became of an intent, as far as it is known within the time that a caller is kept waiting. */
export type Outcome =
  | { readonly is: 'settled'; readonly event: PaymentEvent }
  | { readonly is: 'failed'; readonly reason: string; readonly transaction: string }
  /** The payment is in use for another request. */
  | { readonly is: 'conflict' }
  /** Not known; `transaction` is empty where none was sent yet. */
  | { readonly is: 'pending'; readonly transaction: string }

/** What the log says of a payment that has not failed. */
export type Standing =
  | { readonly is: 'settled'; readonly event: PaymentEvent }
  /** It may yet be settled, or just has been. */
  | {
      readonly is: 'open'
      readonly fingerprint: string
      /** Whether something that moves the money was handed out. */
      readonly isSent: boolean
      /** Empty: none is known. */
      readonly transaction: string
    }

/** What the API knows of payments and how it asks for one to be settled: it never touches the chain for it. */
export interface PaymentLedger {
  /** The payment, with all that was in the log when this was called; rejects with `data_unavailable`. */
  find(id: string): Promise<Standing | undefined>
  /** Writes an intent and tells what became of it; it may be followed later, too. */
  settle(intent: PaymentIntent): Promise<Outcome>
  /** The answer that the payment bought, if it is kept; rejects with `data_unavailable`. */
  answer(id: string): Promise<PaymentAnswer | undefined>
  /** Keeps an answer; gives the one that was kept first, which may be another instance's. */
  keep(answer: PaymentAnswer): Promise<PaymentAnswer>
}

/** Whether the payer, a plain account or a contract wallet, has signed it; rejects with `data_unavailable`. */
export type IsSigned = (payment: Payment) => Promise<boolean>

/** Whether the wallet, a plain account or a contract, has signed a text (EIP-191); rejects with `data_unavailable`. */
export type HasSigned = (address: `0x${string}`, message: string, signature: `0x${string}`) => Promise<boolean>

/** Who signed a payment. */
export interface Payer {
  /** Lower-case hex. */
  readonly address: string
  /** The money has come already, or is on its way: whether the request can still be followed was asked before it was taken. */
  readonly hasPaid: boolean
}

/** A settled payment. */
export interface Paid {
  /** chain, asset, payer, nonce: the same for the same payment. */
  readonly id: string
  readonly payer: string
  /** When it settled, microseconds. */
  readonly time: number
}

/** What paid routes work with. */
export interface Payments {
  readonly seller: Seller
  /** What is paid with is worth nothing: a demo. */
  readonly isPlayMoney: boolean
  /** Base of all addresses that we give, without a slash at its end. */
  readonly publicUrl: string
  readonly ledger: PaymentLedger
  readonly isSigned: IsSigned
  readonly hasSigned: HasSigned
  /** Payments that were not accepted, by caller: paid requests do not count against the rate. */
  readonly refusals: RateLimiter
  readonly inFlight: SingleFlight
  /** API keys and what they have paid in. */
  readonly credit: Credit
}
