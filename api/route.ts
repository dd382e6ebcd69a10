import type { ErrorCode } from './errors.ts'
import type { Params, Values } from './params.ts'
import type { Schema } from './schema.ts'
import type { Kept, Services } from './services.ts'
import type { Micros } from '../schemas/records.ts'

/** One request, read and checked. */
export interface Call<Input extends Params = Params> {
  readonly input: Values<Input>
  /** The JSON object of the request; of a route that takes one, undefined where there was no body at all. */
  readonly body: Body | undefined
  /** A request header, empty where it is not there. */
  readonly header: (name: string) => string
  /** Whom limits are counted for: an IPv4 address or an IPv6 /64. */
  readonly caller: string
  /** Who signed the payment that came with the request; null: nobody, or payments are off. */
  readonly payer: Payer | null
  readonly services: Services
}

/**
 * What a handler gives back.
 * - `kept`: an answer from the cache, under `key`; `used` is called whenever it is given again;
 * - `data`: any other JSON object; `freshForMs`: how long a caller may keep it;
 * - `text`: anything else, as it is;
 * - `json`: what does not depend on when it is asked for.
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
  /** A page of the documentation: the same for as long as the service runs; who has it asks again by its ETag. */
  | {
      readonly kind: 'page'
      readonly type: string
      readonly body: string
      readonly etag: string
      readonly headers: Readonly<Record<string, string>>
      readonly freshForMs: number
    }
  /** A JSON object that is the same whenever it is given: nothing is added to it. */
  | { readonly kind: 'json'; readonly status: 200 | 201; readonly body: object; readonly freshForMs: number }

/** A request that was found valid and is to be done: what costs something is paid between the two. */
export interface Deed {
  readonly kind: 'deed'
  /**
   * Whether acting again with the same payment gives the same answer: then it need not be kept, and its secrets stand
   * nowhere.
   */
  readonly isRepeatable: boolean
  act(paid: Paid | null): Promise<Answer>
}

/** A request for data that was found valid: its answer is made before it is paid for, and never for who pays nothing. */
export interface Draft {
  readonly kind: 'draft'
  give(): Promise<Answer>
}

/** Who signed a payment. */
export interface Payer {
  /** Lower-case hex. */
  readonly address: string
  /** The money has come already, or is on its way: whether the request can still be followed was asked before it was taken. */
  readonly hasPaid: boolean
}

/** A settled payment. */
export interface Paid {
  /** chain, asset, payer, nonce: the same for the same payment. */
  readonly id: string
  readonly payer: string
}

/** A JSON object as it was sent. */
export type Body = Readonly<Record<string, unknown>>

/** What an answer of one status holds. */
export interface Output {
  readonly says: string
  readonly type: 'application/json' | 'text/plain' | 'text/html'
  readonly schema: Schema
}

/** One row of `routes.ts`. */
export interface Route<Input extends Params = Params> {
  readonly method: 'GET' | 'POST' | 'DELETE'
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
  /** The JSON object that it takes; without, a body is not read. */
  readonly body?: BodyRule
  /** Request headers that it looks at, and what for. */
  readonly headers?: Readonly<Record<string, string>>
  readonly outputs: Readonly<Partial<Record<200 | 201 | 202 | 503, Output>>>
  /** Errors beyond those that any route may give. */
  readonly errors: readonly ErrorCode[]
  handle(call: Call<Input>): Promise<Answer | Deed | Draft>
}

/** What a request's body may hold; a further field is refused. */
export interface BodyRule {
  readonly schema: Schema
  /** One that is taken, for the documentation. */
  readonly example: Body
  /** All fields may be left out, and the body with them. */
  readonly optional: boolean
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
