import { getAddress } from 'viem'
import type { PaymentIntent } from '../../schemas/payments.ts'
import type { Clock, Report } from '../kernel/ports.ts'
import { ChainError, type Chain } from './chain.ts'
import { AbortedError, type Outcome, type Settler, type Settling } from './settler.ts'
import { hasPaid, hex } from './token.ts'
import { offerV2, type Seller } from './wire/offer.ts'

const VERIFY_MS = 10_000
/** Longer than a block, shorter than callers wait; what it comes to is then looked for on the chain. */
const SETTLE_MS = 30_000
const POLL_MS = 1_000
/** A facilitator that gave no outcome is asked again this often. */
const ASK_AGAIN_MS = 30_000
const ANSWER_BYTES_MAX = 64 * 1024
/** A node may know that an authorization is used before it knows of the transaction. */
const SEARCHES_MAX = 10

export interface FacilitatorOptions {
  readonly url: string
  readonly seller: Seller
  readonly chain: Chain
  readonly clock: Clock
  readonly report: Report
  /** For tests. */
  readonly post?: typeof fetch
}

/** What a facilitator said; undefined: nothing that could be understood. */
interface Said {
  readonly isGood: boolean
  readonly reason: string
  readonly tx: `0x${string}` | null
}

/**
 * Settles through an x402 facilitator. It is always asked in version 2, since the authorization is the same in both.
 * Its word is not enough: a payment is settled when the chain says so. Source: x402 specification, "Facilitator".
 */
export class FacilitatorSettler implements Settler {
  readonly by = 'facilitator'
  readonly #options: FacilitatorOptions
  #trouble: string | null = null

  constructor(options: FacilitatorOptions) {
    this.#options = options
  }

  get trouble(): string | null {
    return this.#trouble
  }

  async settle(settling: Settling): Promise<Outcome> {
    const { intent, sending } = settling
    if (settling.sent.length === 0) {
      const verified = await this.#ask('verify', intent, VERIFY_MS)
      if (verified === undefined) return { is: 'failed', tx: null, reason: 'unexpected_settle_error' }
      if (!verified.isGood) return this.#refused(settling, verified, false)
      await sending({ tx: null, raw: null })
    }
    return this.#watch(settling)
  }

  /** Asks until there is an outcome; from the first time on the chain is looked at, whatever the answers were. */
  async #watch(settling: Settling): Promise<Outcome> {
    const { clock } = this.#options
    let said: Said | undefined
    let askedAt = settling.sent.length > 0 ? -Infinity : undefined
    for (;;) {
      assertWanted(settling)
      const used = askedAt === undefined ? undefined : await this.#used(settling, said?.tx ?? null)
      if (used !== undefined) return used
      if (said?.isGood !== true && clock.now() - (askedAt ?? -Infinity) >= ASK_AGAIN_MS) {
        askedAt = clock.now()
        said = await this.#ask('settle', settling.intent, SETTLE_MS)
        if (said?.isGood === true) continue
        if (said !== undefined && !MAY_BE_SENT.test(said.reason)) return this.#refused(settling, said, true)
      }
      if (await this.#isOver(settling)) return { is: 'failed', tx: said?.tx ?? null, reason: EXPIRED }
      await clock.delay(POLL_MS)
    }
  }

  /** A definite no: unless somebody else was faster, or its own first attempt was. */
  async #refused(settling: Settling, { reason, tx }: Said, mayHaveSent: boolean): Promise<Outcome> {
    const { chain, clock } = this.#options
    for (let searches = 0; searches < SEARCHES_MAX; searches++) {
      const isUsed = await this.#insist(settling, () => chain.isUsed(settling.intent))
      if (!isUsed && !(mayHaveSent && /nonce|used/.test(reason))) return { is: 'failed', tx, reason }
      const use = await this.#insist(settling, () => chain.findUse(settling.intent))
      if (use === 'cancelled') break
      if (use !== undefined) return this.#settled(use, use.tx === tx || mayHaveSent)
      await clock.delay(POLL_MS)
    }
    return { is: 'failed', tx, reason: 'invalid_exact_evm_nonce_already_used' }
  }

  /** What the chain knows of the authorization, by the facilitator's transaction or by any. */
  async #used(settling: Settling, tx: `0x${string}` | null): Promise<Outcome | undefined> {
    const { chain } = this.#options
    const { intent } = settling
    try {
      const mined = tx === null ? undefined : await chain.receipt(tx)
      if (mined?.isSuccess === true && hasPaid(mined.logs, intent)) return this.#settled(mined, true)
      const isReverted = mined?.isSuccess === false
      if (!(await chain.isUsed(intent))) return isReverted ? { is: 'failed', tx, reason: REVERTED } : undefined
      const use = await chain.findUse(intent)
      return use === undefined || use === 'cancelled' ? undefined : this.#settled(use, true)
    } catch (error) {
      if (!(error instanceof ChainError)) throw error
      return undefined // asked again in a moment
    }
  }

  #settled({ tx, block }: { tx: string; block: number }, isTheirs: boolean): Outcome {
    return { is: 'settled', tx, block, by: isTheirs ? this.by : 'other' }
  }

  /** By the chain's clock the authorization has ended, and it was not used: nobody can use it any more. */
  async #isOver({ intent }: Settling): Promise<boolean> {
    const { chain } = this.#options
    try {
      return (await chain.time()) >= intent.valid_before && !(await chain.isUsed(intent))
    } catch (error) {
      if (!(error instanceof ChainError)) throw error
      return false
    }
  }

  async #ask(what: 'verify' | 'settle', intent: PaymentIntent, deadlineMs: number): Promise<Said | undefined> {
    const { url, report, post = fetch } = this.#options
    try {
      const response = await post(`${url}/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(this.#question(intent)),
        redirect: 'error',
        signal: AbortSignal.timeout(deadlineMs),
      })
      const said = readAnswer(await readText(response))
      this.#trouble = said === undefined ? `the facilitator answered ${what} with status ${response.status}` : null
      return said
    } catch (error) {
      this.#trouble = `the facilitator did not answer ${what}`
      report.warn({ err: error, payment: intent.payment_id }, this.#trouble)
      return undefined
    }
  }

  #question(intent: PaymentIntent): object {
    const { from, pay_to: to, value, valid_after: after, valid_before: before, nonce, signature } = intent
    const offer = offerV2(this.#options.seller, intent.price)
    const addresses = { from: getAddress(from), to: getAddress(to) }
    const authorization = { ...addresses, value, validAfter: String(after), validBefore: String(before), nonce }
    const payload = { authorization, signature }
    return {
      x402Version: 2,
      paymentPayload: { x402Version: 2, payload, accepted: offer },
      paymentRequirements: offer,
    }
  }

  async #insist<Answer>(settling: Settling, ask: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof ChainError)) throw error
        assertWanted(settling)
        await this.#options.clock.delay(POLL_MS)
      }
    }
  }
}

/** What facilitators also say when they have sent a transaction and have not seen its end. */
const MAY_BE_SENT = /settlement_pending|unexpected_settle_error|transaction_failed|transaction_state/
const REVERTED = 'invalid_transaction_state'
const EXPIRED = 'invalid_exact_evm_payload_authorization_valid_before'

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > ANSWER_BYTES_MAX) throw new Error('the facilitator’s answer is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** `isValid` of a verification, `success` of a settlement: the status of the answer says nothing. */
function readAnswer(text: string): Said | undefined {
  const answer = jsonOf(text)
  if (typeof answer !== 'object' || answer === null) return undefined
  const said: Readonly<Record<string, unknown>> = { ...answer }
  const isGood = said['isValid'] ?? said['success']
  if (typeof isGood !== 'boolean') return undefined
  const reason = said['invalidReason'] ?? said['errorReason']
  const tx = said['transaction']
  const isHash = typeof tx === 'string' && /^0x[0-9a-fA-F]{64}$/.test(tx)
  return {
    isGood,
    reason: typeof reason === 'string' && /^\w{1,100}$/.test(reason) ? reason : 'unexpected_settle_error',
    tx: isHash ? hex(tx.toLowerCase()) : null,
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function assertWanted({ signal }: Pick<Settling, 'signal'>): void {
  if (signal.aborted) throw new AbortedError('the settling was ended')
}
