import type { Clock, Report } from '../kernel/ports.ts'
import { ChainError, type Chain, type Mined } from './chain.ts'
import { AbortedError, type Outcome, type Sent, type Settler, type Settling } from './settler.ts'
import { hasPaid, hex, transferCall } from './token.ts'
import { nonceOf, NotSentError, type Wallet } from './wallet.ts'

const POLL_MS = 250
/** Beyond this it is looked at less often, and more is asked. */
const PATIENT_AFTER_MS = 10_000
const PATIENT_POLL_MS = 2_000
/** A node may know of a block before it knows of the receipts in it. */
const MISSES_MAX = 5
/** A node may know that an authorization is used before it knows of the transaction. */
const SEARCHES_MAX = 5
const ALREADY_USED = 'invalid_exact_evm_nonce_already_used'

export interface OwnSettlerOptions {
  readonly chain: Chain
  readonly wallet: Wallet
  readonly clock: Clock
  readonly report: Report
}

/** Settles with a wallet of ours. */
export class OwnSettler implements Settler {
  readonly by = 'us'
  readonly #options: OwnSettlerOptions

  constructor(options: OwnSettlerOptions) {
    this.#options = options
  }

  get trouble(): string | null {
    return this.#options.wallet.refusal
  }

  async settle(settling: Settling): Promise<Outcome> {
    for (const sent of settling.sent) this.#options.wallet.adopt(sent)
    const sent = [...settling.sent]
    if (sent.length === 0) {
      const outcome = await this.#begin(settling, sent)
      if (outcome !== undefined) return outcome
    }
    return this.#watch(settling, sent)
  }

  /** Until a transaction may be on its way. An outcome: there is none, or there was one of somebody else. */
  async #begin(settling: Settling, sent: Sent[]): Promise<Outcome | undefined> {
    const { chain, wallet } = this.#options
    const { intent } = settling
    const sentBefore = sent.length
    try {
      const reason = await chain.simulate(intent, wallet.address)
      if (reason !== null) return await this.#refused(settling, sent, reason)
      await wallet.send(hex(intent.asset), transferCall(intent), this.#sendingOf(settling, sent))
      return undefined
    } catch (error) {
      if (!(error instanceof ChainError || error instanceof NotSentError)) throw error
      this.#options.report.warn({ err: error, payment: intent.payment_id }, 'a payment could not be settled')
      // A number that was taken may have been taken by the very transaction, if the node's first answer got lost.
      const refused = error instanceof NotSentError ? 1 : 0
      if (sent.length - sentBefore > refused) return undefined
      return { is: 'failed', tx: null, reason: 'unexpected_settle_error' }
    }
  }

  #sendingOf(settling: Settling, sent: Sent[]): (signed: Sent) => Promise<void> {
    return ({ tx, raw }) => {
      sent.push({ tx, raw })
      return settling.sending({ tx, raw })
    }
  }

  /** The token says no: because of somebody else who was faster, or for good. */
  async #refused(settling: Settling, sent: readonly Sent[], reason: string, since = 0): Promise<Outcome> {
    const { chain } = this.#options
    const { intent, signal } = settling
    const tx = sent.at(-1)?.tx ?? null
    const isUsed = reason === ALREADY_USED || (await this.#insist(signal, () => chain.isUsedSince(intent, since)))
    if (!isUsed) return { is: 'failed', tx, reason }
    for (let searches = 0; searches < SEARCHES_MAX; searches++) {
      const use = await this.#insist(signal, () => chain.findUse(intent))
      if (use === 'cancelled') break
      if (use !== undefined) return this.#settledBy(use, sent)
      await this.#options.clock.delay(PATIENT_POLL_MS)
    }
    return { is: 'failed', tx, reason: ALREADY_USED }
  }

  #settledBy({ tx, block, from }: Mined, sent: readonly Sent[]): Outcome {
    const isOurs =
      sent.some((each) => each.tx === tx) || from.toLowerCase() === this.#options.wallet.address.toLowerCase()
    return { is: 'settled', tx, block, by: isOurs ? 'us' : 'other' }
  }

  /** From the first transaction on: until the chain says how it ended. */
  async #watch(settling: Settling, sent: Sent[]): Promise<Outcome> {
    const { clock, report, wallet } = this.#options
    const startedAt = clock.now()
    let misses = 0
    for (let isWarned = false; ;) {
      assertWanted(settling.signal)
      const isPatient = clock.now() - startedAt > PATIENT_AFTER_MS
      try {
        const outcome =
          (await this.#look(settling, sent)) ?? (isPatient ? await this.#lookAround(settling, sent) : undefined)
        if (outcome !== undefined) return outcome
        misses = isPatient && (await this.#isPassed(sent)) ? misses + 1 : 0
        if (misses > MISSES_MAX) {
          misses = 0
          const again = await this.#again(settling, sent)
          if (again !== undefined) return again
        }
        const last = sent.at(-1)
        if (isPatient && last !== undefined) await wallet.raise(last, this.#sendingOf(settling, sent))
        await wallet.resend()
      } catch (error) {
        if (!(error instanceof ChainError || error instanceof NotSentError)) throw error
        if (!isWarned)
          report.warn({ err: error, payment: settling.intent.payment_id }, 'the chain does not answer; asking on')
        isWarned = true
      }
      await clock.delay(isPatient ? PATIENT_POLL_MS : POLL_MS)
    }
  }

  /** What has become of our own transactions. */
  async #look(settling: Settling, sent: readonly Sent[]): Promise<Outcome | undefined> {
    const { chain, wallet } = this.#options
    const { intent } = settling
    for (const { tx } of sent) {
      const mined = tx === null ? undefined : await chain.receipt(tx)
      if (mined === undefined) continue
      if (mined.isSuccess && hasPaid(mined.logs, intent)) return this.#settledBy(mined, sent)
      const reason = await chain.simulate(intent, wallet.address)
      return this.#refused(settling, sent, reason ?? 'invalid_transaction_state', mined.block)
    }
    return undefined
  }

  /** Somebody else may have been faster while ours waits. */
  async #lookAround({ intent }: Settling, sent: readonly Sent[]): Promise<Outcome | undefined> {
    const { chain } = this.#options
    if (!(await chain.isUsed(intent))) return undefined
    const use = await chain.findUse(intent)
    return use === undefined || use === 'cancelled' ? undefined : this.#settledBy(use, sent)
  }

  /** The numbers of all our transactions are used, and no block has any of them: they can never be in one. */
  async #isPassed(sent: readonly Sent[]): Promise<boolean> {
    const { wallet } = this.#options
    const used = await wallet.usedNonces()
    return sent.every(({ raw }) => raw !== null && nonceOf(raw) < used)
  }

  /** Begins anew, with another number: the authorization itself can be used only once. */
  #again(settling: Settling, sent: Sent[]): Promise<Outcome | undefined> {
    this.#options.report.warn({ payment: settling.intent.payment_id }, 'a settlement was displaced; sending it again')
    return this.#begin(settling, sent)
  }

  /** Asks until the node answers: money may have moved, so that no other answer will do. */
  async #insist<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof ChainError)) throw error
        assertWanted(signal)
        await this.#options.clock.delay(PATIENT_POLL_MS)
      }
    }
  }
}

function assertWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new AbortedError('the settling was ended')
}
