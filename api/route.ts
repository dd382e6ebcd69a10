import type { ErrorCode } from './errors.ts'
import type { Params, Values } from './params.ts'
import type { Schema } from './schema.ts'
import type { Kept, Services } from './services.ts'
import type { Micros } from '../schemas/records.ts'

/** One request, read and checked. */
export interface Call<Input extends Params = Params> {
  readonly input: Values<Input>
  /** Whom limits are counted for: an IPv4 address or an IPv6 /64. */
  readonly caller: string
  readonly services: Services
}

/**
 * What a handler gives back.
 * - `kept`: an answer from the cache, under `key`; `used` is called whenever it is given again;
 * - `data`: any other JSON object; `freshForMs`: how long a caller may keep it;
 * - `text`: anything else, as it is.
 */
export type Answer =
  | {
      readonly kind: 'kept'
      readonly key: string
      readonly kept: Kept
      readonly clock: Micros
      readonly cached: boolean
      readonly freshForMs: number
      readonly used?: () => void
    }
  | {
      readonly kind: 'data'
      readonly status: 200 | 202 | 503
      readonly body: object
      readonly cached: boolean
      readonly freshForMs: number
      readonly retryAfterSeconds?: number
    }
  | { readonly kind: 'text'; readonly type: string; readonly body: string; readonly freshForMs: number }

/** What an answer of one status holds. */
export interface Output {
  readonly says: string
  readonly type: 'application/json' | 'text/plain'
  readonly schema: Schema
  readonly example?: unknown
}

/** One row of `routes.ts`. */
export interface Route<Input extends Params = Params> {
  readonly method: 'GET'
  /** Path with `:name` for path parameters. */
  readonly path: string
  /** Identifier in OpenAPI, metrics and logs. */
  readonly name: string
  readonly says: string
  /** USDC for one request; 0: free. Charged only where payments are on. */
  readonly priceUsdc: number
  /** `caller`: counts against the caller's rate; `none`: for probes, which must not be refused. */
  readonly limit: 'caller' | 'none'
  /** How long an answer is kept and shared, milliseconds; 0: not at all. */
  readonly ttlMs: number
  readonly input: Input
  readonly outputs: Readonly<Partial<Record<200 | 202 | 503, Output>>>
  /** Errors beyond those that any route may give. */
  readonly errors: readonly ErrorCode[]
  handle(call: Call<Input>): Promise<Answer>
}

/** Ties a handler's input to the rules of its parameters: the app reads them by `input` before it calls `handle`. */
export function route<const Input extends Params>(row: Route<Input>): Route {
  return row
}

/** A route that answers data: it is read with GET and counts against the caller's rate. */
export function dataRoute<const Input extends Params>(row: Omit<Route<Input>, 'method' | 'limit'>): Route {
  return route({ ...row, method: 'GET', limit: 'caller' })
}

/** A route about the service itself: free, without parameters. */
export function opsRoute(row: Omit<Route, 'method' | 'priceUsdc' | 'input' | 'errors'>): Route {
  return route({ ...row, method: 'GET', priceUsdc: 0, input: {}, errors: [] })
}
