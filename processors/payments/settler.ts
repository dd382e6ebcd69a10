import type { Hex } from 'viem'
import type { PaymentEvent, PaymentIntent } from '../../schemas/records.ts'

/** Something that may move the money and was, or was about to be, handed out. */
export interface Sent {
  /** Transaction hash; null: a facilitator was asked, whose transaction is not known. */
  readonly tx: Hex | null
  /** The signed transaction. */
  readonly raw: Hex | null
}

/** How a payment ended. `failed` is said only when nothing that was sent can move the money any more. */
export type Outcome =
  | {
      readonly is: 'settled'
      readonly tx: string | null
      readonly block: number | null
      readonly by: PaymentEvent['by']
    }
  | { readonly is: 'failed'; readonly tx: string | null; readonly reason: string }

export interface Settling {
  readonly intent: PaymentIntent
  /** What was handed out before, by this process or by one before it. */
  readonly sent: readonly Sent[]
  /** Resolves when the log has it; only then may it be handed out. */
  readonly sending: (sent: Sent) => Promise<void>
  /** Ends the settling where it stands; it is gone on with from the log. */
  readonly signal: AbortSignal
}

/** Thrown into a settling that is to end where it stands. */
export class AbortedError extends Error {
  readonly code = 'aborted'
}

/** Takes a payment to its end, by a wallet of ours or by a facilitator. */
export interface Settler {
  /** Who submits what it hands out. */
  readonly by: 'us' | 'facilitator'
  /** Resolves with the outcome, however long it takes; rejects when the log refuses or the signal is given. */
  settle(settling: Settling): Promise<Outcome>
  /** What stands in the way of settling now, for `/healthz`; null: nothing. */
  readonly trouble: string | null
  readonly losses: Losses
  /**
   * Payments of a former owner that failed after something was sent for them. `left`: what was sent for these, and for
   * payments that another transaction than ours has settled: it may hold up what is sent after it.
   */
  recall(failures: readonly Failure[], left: readonly Sent[]): void
}

/** What came to nothing, for `/healthz`. */
export interface Losses {
  /** Gas of transactions that were undone within the last hour, wei. */
  readonly gas: bigint
  /** Kinds of payers that nothing is sent for, for a while. */
  readonly cooling: number
}

export interface Failure {
  readonly payer: string
  /** What was sent last. */
  readonly tx: Hex
  readonly raw: Hex
  /** Milliseconds since the Unix epoch. */
  readonly time: number
}
