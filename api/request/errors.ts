/** Every error identifier of an answer, with its HTTP status. */
export const errorStatus = {
  invalid_symbol: 400,
  invalid_period: 400,
  invalid_interval: 400,
  invalid_exchange: 400,
  invalid_limit: 400,
  invalid_range: 400,
  invalid_threshold: 400,
  invalid_sort: 400,
  invalid_where: 400,
  invalid_symbols: 400,
  invalid_channels: 400,
  invalid_seconds: 400,
  invalid_body: 400,
  invalid_condition: 400,
  invalid_rule: 400,
  invalid_target_price: 400,
  invalid_webhook_url: 400,
  invalid_channel: 400,
  invalid_quiet_hours: 400,
  invalid_digest: 400,
  invalid_agent_wallet: 400,
  invalid_wallet_proof: 400,
  expires_in_hours_too_long: 400,
  invalid_expires_in_hours: 400,
  invalid_add_hours: 400,
  invalid_until: 400,
  invalid_threshold_pct: 400,
  invalid_min_value_usd: 400,
  invalid_cursor: 400,
  invalid_idempotency_key: 400,
  invalid_payment: 400,
  invalid_amount: 400,
  invalid_month: 400,
  unauthorized: 401,
  payment_required: 402,
  forbidden: 403,
  foreign_page: 403,
  alert_not_found: 404,
  key_not_found: 404,
  symbol_not_found: 404,
  market_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  alert_not_active: 409,
  payment_already_used: 409,
  idempotency_conflict: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  wrong_host: 421,
  rate_limited: 429,
  quota_reached: 429,
  internal_error: 500,
  data_unavailable: 503,
  settlement_pending: 503,
  overloaded: 503,
} as const

export type ErrorCode = keyof typeof errorStatus

export interface ErrorDetail {
  /** The parameter at fault. */
  readonly field?: string
  /** When asking again makes sense, seconds. */
  readonly retryAfterSeconds?: number
  /** Methods that the path has. */
  readonly allow?: readonly string[]
  /** Further headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further fields of the answer; one of the same name replaces the usual one. */
  readonly more?: object
  readonly cause?: unknown
}

/** An expected failure of a request. The message is one sentence that says how to mend it; it is shown to the caller. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly detail: ErrorDetail

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, { cause: detail.cause })
    this.code = code
    this.status = errorStatus[code]
    this.detail = detail
  }
}
