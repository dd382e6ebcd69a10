import type { Hex } from 'viem'
import type { Clock, Report } from '../kernel/ports.ts'
import type { PaymentIntent } from '../../schemas/records.ts'
import { ChainError, type Chain, type Mined } from './chain.ts'
import type { GasGuard } from './gas.ts'
import { AbortedError, type Failure, type Losses, type Outcome } from './settler.ts'
import type { Sent, Settler, Settling } from './settler.ts'
import { hasPaid, hex, transferCall } from './token.ts'
import { costOf, NotSentError, type Wallet } from './wallet.ts'
import { COOLING } from './wire/refusals.ts'

const POLL_MS = 250
/** Beyond this it is looked at less often, and more is asked. */
const PATIENT_AFTER_MS = 10_000
const PATIENT_POLL_MS = 2_000
/** A node may know of a block before it knows of the receipts in it. */
const MISSES_MAX = 5
/** A node may know that an authorization is used before it knows of the transaction. */
const SEARCHES_MAX = 5
/** For so long a payment waits for others to end, milliseconds. */
const ROOM_MS = 5_000
const ALREADY_USED = 'invalid_exact_evm_nonce_already_used'

export interface OwnSettlerOptions {
  readonly chain: Chain
  readonly wallet: Wallet
  readonly guard: GasGuard
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
    const { wallet, guard, clock } = this.#options
    return wallet.refusal ?? guard.trouble(clock.now())
  }

  get losses(): Losses {
    const { guard, clock } = this.#options
    return { gas: guard.lost(clock.now()), cooling: guard.cooling(clock.now()) }
  }

  /** What it has cost is not in the log: the most that it can have cost is counted. */
  recall(failures: readonly Failure[], left: readonly Sent[]): void {
    const { guard, wallet, report } = this.#options
    wallet.recall(left).catch((error: unknown) => report.warn({ err: error }, 'what was sent before cannot be read'))
    for (const { payer, tx, raw, time } of failures) {
      guard.lose(tx, costOf(raw), time)
      guard.cool(payer, time)
    }
  }

  async settle(asked: Settling): Promise<Outcome> {
    const { wallet, guard } = this.#options
    const { payment_id: id } = asked.intent
    const sent = [...asked.sent]
    const settling = { ...asked, sending: this.#sendingOf(asked, sent) }
    let hasEnded = false
    try {
      for (const each of sent) await wallet.adopt(each, settling.sending)
      for (const { raw } of sent) if (raw !== null) guard.hold(id, costOf(raw))
      const begun = sent.length === 0 ? await this.#begin(settling, sent) : undefined
      const outcome = begun ?? (await this.#watch(settling, sent))
      hasEnded = true
      return outcome
    } finally {
      wallet.leave(settling.sending, hasEnded)
      guard.release(id)
    }
  }

  /**
   * Until a transaction may be on its way. An outcome: there is none, or there was one of somebody else. Of what was sent
   * before the token alone says that it has failed.
   */
  async #begin(settling: Settling, sent: Sent[]): Promise<Outcome | undefined> {
    const { chain, wallet } = this.#options
    const { intent } = settling
    const isFirst = sent.length === 0
    const failed = (reason: string): Outcome | undefined => (isFirst ? { is: 'failed', tx: null, reason } : undefined)
    try {
      if (isFirst && (await this.#isCooling(intent))) return failed(COOLING)
      const reason = await chain.simulate(intent, wallet.address)
      if (reason === ALREADY_USED && !isFirst) return undefined // by what, is looked for on
      if (reason !== null) return await this.#refused(settling, sent, reason)
      if (!(await this.#hasRoom(settling))) return failed('unexpected_settle_error')
      await wallet.send(hex(intent.asset), transferCall(intent), settling.sending)
      return undefined
    } catch (error) {
      if (!(error instanceof ChainError || error instanceof NotSentError)) throw error
      this.#options.report.warn({ err: error, payment: intent.payment_id }, 'a payment could not be settled')
      if (error instanceof NotSentError) sent.pop() // its number is free for the next
      // A number that was taken may have been taken by the very transaction, if the node's first answer got lost.
      return sent.length > 0 ? undefined : failed('unexpected_settle_error')
    }
  }

  #sendingOf(settling: Settling, sent: Sent[]): (signed: Sent) => Promise<void> {
    return ({ tx, raw }) => {
      sent.push({ tx, raw })
      if (raw !== null) this.#options.guard.hold(settling.intent.payment_id, costOf(raw))
      return settling.sending({ tx, raw })
    }
  }

  /** Its gas is lost, and has bought that others are not held up. */
  readonly #emptied = ({ tx, raw }: { readonly tx: Hex; readonly raw: Hex }): void => {
    const { guard, clock } = this.#options
    guard.lose(tx, costOf(raw), clock.now())
  }

  /** Waits a moment for others to end, where what is on its way may cost all that may be lost. */
  async #hasRoom({ intent, signal }: Settling): Promise<boolean> {
    const { wallet, guard, clock } = this.#options
    const until = clock.now() + ROOM_MS
    for (;;) {
      const room = guard.take(intent.payment_id, await wallet.quote(), clock.now())
      if (room !== 'later' || clock.now() >= until) return room === 'held'
      assertWanted(signal)
      await clock.delay(POLL_MS)
    }
  }

  async #isCooling({ from }: PaymentIntent): Promise<boolean> {
    const { chain, guard, clock } = this.#options
    if (guard.isCooling(from, clock.now())) return true
    const code = guard.cooling(clock.now()) === 0 ? null : await chain.codeHash(from)
    return code !== null && guard.isCooling(code, clock.now())
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
      if (use === 'gone') break
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
        if (isPatient) await wallet.raise(this.#emptied)
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
    const { chain } = this.#options
    const { intent } = settling
    for (const { tx } of sent) {
      const mined = tx === null ? undefined : await chain.receipt(tx)
      if (mined === undefined) continue
      if (mined.isSuccess && hasPaid(mined.logs, intent)) return this.#settledBy(mined, sent)
      return this.#undone(settling, sent, mined)
    }
    return undefined
  }

  /** Our gas is lost. Funds and the authorization are the payer's own; anything else is what its code has said. */
  async #undone(settling: Settling, sent: readonly Sent[], { tx, block, cost }: Mined): Promise<Outcome> {
    const { chain, wallet, guard, clock } = this.#options
    const { intent } = settling
    const reason = (await chain.simulate(intent, wallet.address)) ?? 'invalid_transaction_state'
    const outcome = await this.#refused(settling, sent, reason, block)
    const isOwn = reason === 'insufficient_funds' || reason === ALREADY_USED
    const code = isOwn ? null : await chain.codeHash(intent.from)
    guard.lose(tx, cost, clock.now())
    if (outcome.is === 'failed') guard.cool(code ?? intent.from, clock.now())
    return outcome
  }

  /** Somebody else may have been faster while ours waits. */
  async #lookAround({ intent }: Settling, sent: readonly Sent[]): Promise<Outcome | undefined> {
    const { chain } = this.#options
    if (!(await chain.isUsed(intent))) return undefined
    const use = await chain.findUse(intent)
    return use === undefined || use === 'gone' ? undefined : this.#settledBy(use, sent)
  }

  /** The numbers of all our transactions are used, and no block has any of them: they can never be in one. */
  async #isPassed(sent: readonly Sent[]): Promise<boolean> {
    const { wallet } = this.#options
    for (const { raw } of sent) if (raw === null || !(await wallet.hasPassed(raw))) return false
    return true
  }

  /** Begins anew, with another number: the authorization can be used only once. Where it was, its transaction is awaited. */
  async #again(settling: Settling, sent: Sent[]): Promise<Outcome | undefined> {
    const { chain, report } = this.#options
    const { intent } = settling
    if (await chain.isUsed(intent)) {
      const isGone = (await chain.findUse(intent)) === 'gone'
      return isGone ? { is: 'failed', tx: sent.at(-1)?.tx ?? null, reason: ALREADY_USED } : undefined
    }
    report.warn({ payment: intent.payment_id }, 'a settlement was displaced; sending it again')
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
