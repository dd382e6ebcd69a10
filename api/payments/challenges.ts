import { atomicUnits } from '../../processors/payments/wire/offer.ts'
import { challengeOf, receiptHeader, type Settlement } from '../../processors/payments/wire/headers.ts'
import { adviceOf, type Reason } from '../../processors/payments/wire/refusals.ts'
import { ApiError } from '../request/errors.ts'
import { jsonReply, type Reply } from '../request/reply.ts'
import type { Call, Route } from '../request/route.ts'
import type { Payments } from './payments.ts'

/** What a request is asked to pay: the matched route's price for its body, and the address that it stands for. */
export interface Bill {
  readonly route: Route
  /** USDC. */
  readonly price: number
  readonly amount: string
  readonly url: string
}

export type Billing = Pick<Payments, 'seller' | 'publicUrl'>

export function billOf({ publicUrl }: Billing, { route, body }: Pick<Call, 'route' | 'body'>, target: string): Bill {
  const price = (body === undefined ? undefined : route.priceOf?.(body)) ?? route.priceUsdc
  return { route, price, amount: atomicUnits(price), url: publicUrl + target }
}

const ASKED = 'payment_required'

/** A 402 to who has not paid: a header for clients of version 2, a body for those of version 1 and for people. */
export function challenge(billing: Billing, bill: Bill, requestId: string, why: typeof ASKED | Reason = ASKED): Reply {
  const { header, body } = challengeFor(billing, bill, why)
  const docs = `${billing.publicUrl}/llms.txt`
  const advice = why === ASKED ? '' : `${adviceOf(why)} `
  const shown = { error: why, message: advice + askText(billing, bill), docs, ...body, request_id: requestId }
  return jsonReply(402, shown, { headers: { 'PAYMENT-REQUIRED': header } })
}

function challengeFor(
  { seller }: Billing,
  { route, amount, url }: Bill,
  error: string,
): ReturnType<typeof challengeOf> {
  return challengeOf(seller, amount, { url, description: route.description, mimeType: 'application/json' }, error)
}

function askText({ seller, publicUrl }: Billing, { price, route }: Bill): string {
  const { assetName, network } = seller
  const key = route.needsKey === true ? ' and an Idempotency-Key, best a random UUID' : ''
  return `This costs ${price} ${assetName} on ${network.v1}: pay by x402, with PAYMENT-SIGNATURE or X-PAYMENT${key}; ${publicUrl}/pricing has all prices.`
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
