import { atomicUnits } from '../../processors/payments/wire/amount.ts'
import { challengeOf } from '../../processors/payments/wire/challenge.ts'
import { adviceOf } from '../../processors/payments/wire/reasons.ts'
import { receiptHeader, type Settlement } from '../../processors/payments/wire/receipt.ts'
import { ApiError } from '../errors.ts'
import type { Route } from '../route.ts'
import type { Payments } from './payments.ts'

/** What a request is asked to pay: the matched route's price, and the address that it stands for. */
export interface Bill {
  readonly row: Route
  readonly amount: string
  readonly url: string
}

export type Billing = Pick<Payments, 'seller' | 'publicUrl'>

export function billOf({ publicUrl }: Billing, row: Route, target: string): Bill {
  return { row, amount: atomicUnits(row.priceUsdc), url: publicUrl + target }
}

const ASKED = 'payment_required'

/** A 402 to who has not paid: a header for clients of version 2, a body for those of version 1 and for people. */
export interface Ask {
  readonly kind: 'ask'
  /** Value of PAYMENT-REQUIRED. */
  readonly header: string
  /** JSON up to the value of the last field, `request_id`. */
  readonly open: string
}

export function ask(billing: Billing, bill: Bill): Ask {
  const { header, body } = challengeFor(billing, bill, ASKED)
  const docs = `${billing.publicUrl}/llms.txt`
  const text = JSON.stringify({ error: ASKED, message: askText(billing, bill), docs, ...body })
  return { kind: 'ask', header, open: `${text.slice(0, -1)},"request_id":` }
}

function challengeFor({ seller }: Billing, { row, amount, url }: Bill, error: string): ReturnType<typeof challengeOf> {
  return challengeOf(seller, amount, { url, description: row.says, mimeType: 'application/json' }, error)
}

function askText({ seller, publicUrl }: Billing, { row }: Bill): string {
  const { assetName, network } = seller
  return `This costs ${row.priceUsdc} ${assetName} on ${network.v1}: pay by x402, with PAYMENT-SIGNATURE or X-PAYMENT; ${publicUrl}/pricing has all prices.`
}

/** 402: the payment was not accepted, and nothing was taken; with a fresh offer. */
export function refuses(billing: Billing, bill: Bill, refusal: Refusal): ApiError {
  const { reason, payer } = refusal
  const { headers, body } = refusalParts(billing, bill, refusal)
  return new ApiError('payment_required', adviceOf(reason), { headers, more: { ...body, error: reason, payer } })
}

/** When payments may be settled again, seconds. */
const SETTLE_RETRY_SECONDS = 5

/** 503: nothing is wrong with the payment, and nothing was taken; with a fresh offer for who would rather sign anew. */
export function cannotSettle(billing: Billing, bill: Bill, refusal: Refusal): ApiError {
  const { headers } = refusalParts(billing, bill, refusal)
  const retryAfterSeconds = SETTLE_RETRY_SECONDS
  return new ApiError('data_unavailable', adviceOf(refusal.reason), { headers, retryAfterSeconds })
}

function refusalParts(
  billing: Billing,
  bill: Bill,
  { reason, payer, version, transaction = '' }: Refusal,
): { headers: Record<string, string>; body: object } {
  const { header, body } = challengeFor(billing, bill, reason)
  const settlement: Settlement = { success: false, errorReason: reason, transaction, payer }
  return { headers: { 'PAYMENT-REQUIRED': header, ...receiptHeaders(settlement, version, billing) }, body }
}

export interface Refusal {
  readonly reason: string
  readonly payer: string
  readonly version: number
  readonly transaction?: string
}

export function receiptHeaders(
  settlement: Settlement,
  version: number,
  { seller }: Pick<Billing, 'seller'>,
): Record<string, string> {
  const receipt = receiptHeader(settlement, version, seller.network)
  return { 'PAYMENT-RESPONSE': receipt, 'X-PAYMENT-RESPONSE': receipt }
}

/** Targets that are remembered, how long one may be (characters), and for how long (milliseconds). */
const TARGETS_MAX = 4_000
const TARGET_LENGTH_MAX = 256
const KEPT_MS = 1_000

export interface Shelved {
  readonly row: Route
  readonly ask: Ask
}

/** Questions that were found valid a moment ago, with what they cost: whoever asks without paying is told at once. */
export class ChallengeShelf {
  readonly #shelf = new Map<string, Shelved & { readonly until: number }>()

  get size(): number {
    return this.#shelf.size
  }

  /** `now`: milliseconds. */
  find(target: string, now: number): Shelved | undefined {
    const found = this.#shelf.get(target)
    if (found === undefined || now < found.until) return found
    this.#shelf.delete(target)
    return undefined
  }

  put(target: string, shelved: Shelved, now: number): void {
    if (target.length > TARGET_LENGTH_MAX) return
    const [oldest] = this.#shelf.size < TARGETS_MAX ? [] : this.#shelf.keys()
    if (oldest !== undefined) this.#shelf.delete(oldest)
    this.#shelf.set(target, { ...shelved, until: now + KEPT_MS })
  }
}
