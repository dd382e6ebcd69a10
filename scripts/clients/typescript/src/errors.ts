/** What the API says of a request that it does not answer. */
export interface ErrorReply {
  readonly status: number
  /** The API's identifier: `symbol_not_found`, `data_unavailable`, a reason code of x402, ... */
  readonly code: string
  readonly message: string
  readonly requestId: string | undefined
  /** The parameter at fault. */
  readonly field: string | undefined
  /** When asking again makes sense, seconds. */
  readonly retryAfterSeconds: number | undefined
}

/** An answer that is no success. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
  readonly told: ErrorReply

  constructor(told: ErrorReply) {
    super(`${told.status} ${told.code}: ${told.message}`)
    this.told = told
  }

  get code(): string {
    return this.told.code
  }

  get status(): number {
    return this.told.status
  }
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

/** An offer that is not to be paid; nothing was signed. */
export class NotPaidError extends Error {
  override readonly name = 'NotPaidError'
  readonly code: 'over_max_per_call' | 'over_total' | 'unknown_offer'

  constructor(code: NotPaidError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** No answer came: the connection failed, or the deadline was over. Whether the request was followed is not known. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  readonly code = 'no_answer'
}

export function errorOf(told: ErrorReply): ApiError {
  if (told.status === 402) return new PaymentRequiredError(told)
  if (told.status === 429) return new RateLimitedError(told)
  return told.status === 503 || told.status === 202 ? new UnavailableError(told) : new ApiError(told)
}
