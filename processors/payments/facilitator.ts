import { getAddress } from 'viem'
import type { PaymentIntent } from '../../schemas/records.ts'
import type { Clock, Report } from '../kernel/ports.ts'
import { ChainError, type Chain } from './chain.ts'
import { AbortedError, type Losses, type Outcome, type Settler, type Settling } from './settler.ts'
import { hasPaid, hex } from './token.ts'
import { offerV2, type Seller } from './wire/offer.ts'

const VERIFY_MS = 10_000
/** A facilitator that has not answered by then is asked again. */
const SETTLE_MS = 30_000
const POLL_MS = 1_000
/** A facilitator that gave no outcome is asked again this often. */
const ASK_AGAIN_MS = 30_000
const ANSWER_BYTES_MAX = 64 * 1024
/** A node may know that an authorization is used before it knows of the transaction: so many searches find none. */
const SEARCHES_MAX = 30

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
interface FacilitatorReply {
  readonly isGood: boolean
  readonly reason: string
  readonly tx: `0x${string}` | null
}

/** What is known of a settlement that was asked for. */
interface Sight {
  reply: FacilitatorReply | undefined
  /** Times that the authorization was found used, and not for what. */
  searches: number
}

/**
 * Settles through an x402 facilitator. It is always asked in version 2, since the authorization is the same in both.
 * Its word is not enough: a payment is settled when the chain says so, and once it was asked to settle, a payment has
 * failed only when nothing can move the money any more. Source: x402 specification, "Facilitator".
 */
export class FacilitatorSettler implements Settler {
  readonly by = 'facilitator'
  /** The gas is not ours. */
  readonly losses: Losses = { gas: 0n, cooling: 0 }
  readonly #options: FacilitatorOptions
  #trouble: string | null = null

  constructor(options: FacilitatorOptions) {
    this.#options = options
  }

  get trouble(): string | null {
    return this.#trouble
  }

  recall(): void {
    // nothing of it is counted
  }

  async settle(settling: Settling): Promise<Outcome> {
    const { intent, sending } = settling
    const isBegun = settling.sent.length > 0
    if (!isBegun) {
      const verified = await this.#ask('verify', intent, VERIFY_MS)
      if (verified === undefined) return { is: 'failed', tx: null, reason: 'unexpected_settle_error' }
      if (!verified.isGood) return this.#refused(settling, verified.reason)
      await sending({ tx: null, raw: null })
    }
    return this.#watch(settling, isBegun)
  }

  /** Nothing was asked for yet: its no is enough, unless somebody else was faster. */
  async #refused(settling: Settling, reason: string): Promise<Outcome> {
    const { chain, clock } = this.#options
    const sight: Sight = { reply: undefined, searches: 0 }
    while (await this.#insist(settling, () => chain.isUsed(settling.intent))) {
      const use = await this.#insist(settling, () => this.#use(settling, sight))
      if (use !== undefined) return use.is === 'settled' ? { ...use, by: 'other' } : use
      await clock.delay(POLL_MS)
    }
    return { is: 'failed', tx: null, reason }
  }

  /**
   * Until the chain says how it ended, whatever the answers are, and whether there are any. The facilitator is asked
   * beside it, and again from time to time until it says that it has settled.
   */
  async #watch(settling: Settling, wasAsked: boolean): Promise<Outcome> {
    const { clock } = this.#options
    const sight: Sight = { reply: undefined, searches: 0 }
    let asking: Promise<void> | undefined
    let askedAt = wasAsked ? -Infinity : undefined
    for (;;) {
      assertWanted(settling)
      const outcome = askedAt === undefined ? undefined : await this.#look(settling, sight)
      if (outcome !== undefined) return outcome
      const isDue = sight.reply?.isGood !== true && clock.now() - (askedAt ?? -Infinity) >= ASK_AGAIN_MS
      if (asking === undefined && isDue) {
        askedAt = clock.now()
        asking = this.#askToSettle(settling.intent, sight).finally(() => (asking = undefined))
      }
      await Promise.race([clock.delay(POLL_MS), ...(asking === undefined ? [] : [asking])])
    }
  }

  async #askToSettle(intent: PaymentIntent, sight: Sight): Promise<void> {
    sight.reply = (await this.#ask('settle', intent, SETTLE_MS)) ?? sight.reply
  }

  /** The outcome, if the chain and our own node know one; undefined: it may yet be settled. */
  async #look(settling: Settling, sight: Sight): Promise<Outcome | undefined> {
    const { chain } = this.#options
    const { intent } = settling
    const { reply } = sight
    const tx = reply?.tx ?? null
    try {
      const mined = tx === null ? undefined : await chain.receipt(tx)
      if (mined?.isSuccess === true && hasPaid(mined.logs, intent)) return this.#settled(mined)
      const use = await this.#use(settling, sight)
      if (use !== undefined) return use
      if (await chain.isOver(intent)) return { is: 'failed', tx, reason: EXPIRED }
      const isUndone = mined?.isSuccess === false && (await chain.isUndone(mined, intent))
      if (isUndone) return { is: 'failed', tx, reason: REVERTED }
      if (reply === undefined || reply.isGood || !DEFINITE.has(reply.reason)) return undefined
      const reason = await chain.simulate(intent, hex(intent.pay_to))
      return reason === null || reason === USED ? undefined : { is: 'failed', tx, reason }
    } catch (error) {
      if (!(error instanceof ChainError)) throw error
      return undefined // asked again in a moment
    }
  }

  /** What a used authorization was used for; undefined: it is not, or its transaction is not known yet. */
  async #use({ intent }: Settling, sight: Sight): Promise<Outcome | undefined> {
    const { chain } = this.#options
    if (!(await chain.isUsed(intent))) return undefined
    const use = await chain.findUse(intent)
    if (use !== undefined && use !== 'gone') return this.#settled(use)
    sight.searches += 1
    return use === 'gone' || sight.searches > SEARCHES_MAX ? { is: 'failed', tx: null, reason: USED } : undefined
  }

  #settled({ tx, block }: { tx: string; block: number }): Outcome & { is: 'settled' } {
    return { is: 'settled', tx, block, by: this.by }
  }

  async #ask(
    what: 'verify' | 'settle',
    intent: PaymentIntent,
    deadlineMs: number,
  ): Promise<FacilitatorReply | undefined> {
    const { url, report, post = fetch } = this.#options
    try {
      const response = await post(`${url}/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(this.#question(intent)),
        redirect: 'error',
        signal: AbortSignal.timeout(deadlineMs),
      })
      const answer = readAnswer(await readText(response))
      this.#trouble = answer === undefined ? `the facilitator answered ${what} with status ${response.status}` : null
      return answer
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

const REVERTED = 'invalid_transaction_state'
const EXPIRED = 'invalid_exact_evm_payload_authorization_valid_before'
const USED = 'invalid_exact_evm_nonce_already_used'

/**
 * What a facilitator finds before it sends anything. After it was asked to settle this is all that it is believed, and
 * only where our own node refuses the transfer as well: any other no may be that of one that has sent a transaction and
 * has not seen its end. Source: the reason codes of the x402 specification and of its reference facilitator.
 */
const DEFINITE: ReadonlySet<string> = new Set([
  'insufficient_funds',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_payload_authorization_valid_after',
  EXPIRED,
])

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
function readAnswer(text: string): FacilitatorReply | undefined {
  const answer = jsonOf(text)
  if (typeof answer !== 'object' || answer === null) return undefined
  const fields: Readonly<Record<string, unknown>> = { ...answer }
  const isGood = fields['isValid'] ?? fields['success']
  if (typeof isGood !== 'boolean') return undefined
  const reason = fields['invalidReason'] ?? fields['errorReason']
  const tx = fields['transaction']
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
