import type { Payment } from './payment.ts'

/** What the API says of a request that it does not answer. */
export interface ErrorReply {
  readonly status: number
  /** The API's identifier: `symbol_not_found`, `data_unavailable`, a reason code of x402, ... */
  readonly code: string
  readonly message: string
  readonly requestId: string | undefined
  /** The parameter at fault. */
  readonly field: string | undefined
  /** Where in it, as a JSON pointer into the body: of a rule. */
  readonly pointer: string | undefined
  /** What could be there; empty: the message says it. */
  readonly allowed: readonly string[]
  /** When asking again makes sense, seconds. */
  readonly retryAfterSeconds: number | undefined
}

/** A call that came to nothing, with what it was sent with, which is not shown where the error is logged. */
export abstract class CallError extends Error {
  #payment: Payment | undefined
  #idempotencyKey: string | undefined

  abstract get code(): string

  /** Signed for the call and not refused: it may have been settled. Handed back in `CallOptions` it is charged once. */
  get payment(): Payment | undefined {
    return this.#payment
  }

  /** Of a creation; a payment has its key with it. */
  get idempotencyKey(): string | undefined {
    return this.#idempotencyKey
  }

  keep(payment: Payment | undefined, idempotencyKey: string | undefined): void {
    this.#payment = payment
    this.#idempotencyKey = idempotencyKey
  }
}

/** An answer that is no success. */
export class ApiError extends CallError {
  override readonly name: string = 'ApiError'
  readonly told: ErrorReply

  constructor(told: ErrorReply) {
    super(`${told.status} ${told.code}: ${told.message}${placeOf(told)}`)
    this.told = told
  }

  override get code(): string {
    return this.told.code
  }

  get status(): number {
    return this.told.status
  }
}

function placeOf({ pointer, allowed }: ErrorReply): string {
  if (pointer === undefined) return ''
  return ` (at ${pointer}${allowed.length === 0 ? '' : `; allowed: ${allowed.join(', ')}`})`
}

/** 402: it costs something and nobody pays, or the payment was refused; `code` is `payment_required` or the reason. */
export class PaymentRequiredError extends ApiError {
  override readonly name = 'PaymentRequiredError'
}

/** 429, and no time or try is left. */
export class RateLimitedError extends ApiError {
  override readonly name = 'RateLimitedError'
}

/** 503, or 202 for a symbol that warms up, and no time or try is left. */
export class UnavailableError extends ApiError {
  override readonly name = 'UnavailableError'
}

/** An offer that is not to be paid, or a payment of before that is not sent again; nothing was signed. */
export class NotPaidError extends Error {
  override readonly name = 'NotPaidError'
  readonly code: 'over_max_per_call' | 'over_total' | 'unknown_offer'

  constructor(code: NotPaidError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** No answer came: the connection failed, or the deadline was over. Whether the request was followed is not known. */
export class NoAnswerError extends CallError {
  override readonly name = 'NoAnswerError'

  override get code(): 'no_answer' {
    return 'no_answer'
  }
}

export function errorOf(told: ErrorReply): ApiError {
  if (told.status === 402) return new PaymentRequiredError(told)
  if (told.status === 429) return new RateLimitedError(told)
  return told.status === 503 || told.status === 202 ? new UnavailableError(told) : new ApiError(told)
}
