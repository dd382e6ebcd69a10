import { randomBytes } from 'node:crypto'
import type { ApiKey } from '../../schemas/records.ts'
import type { Body } from './body.ts'
import type { ErrorCode } from './errors.ts'
import type { Params, Values } from './params.ts'
import type { Paid, Payer } from '../payments/payments.ts'
import type { Reply } from './reply.ts'
import type { Schema } from './schema.ts'
import type { Services } from '../services.ts'

/** One request of a route, read and validated. */
export interface Call<Input extends Params = Params> {
  readonly route: Route
  readonly input: Values<Input>
  /** The JSON object of the request; of a route that takes one, undefined where there was no body at all. */
  readonly body: Body | undefined
  /** The body as it was sent. */
  readonly bytes: Buffer | undefined
  /** A request header, empty where it is not there. */
  readonly header: (name: string) => string
  /** HEAD is answered like a GET that pays nothing. */
  readonly method: string
  readonly requestId: string
  /** Whom limits are counted for: an IPv4 address or an IPv6 /64. */
  readonly caller: string
  /** Who signed the payment that came with the request; null: nobody, or payments are off. */
  readonly payer: Payer | null
  /** The API key that a route with a price is asked with; null: none, or payments are off. */
  readonly key: ApiKey | null
  readonly services: Services
}

/**
 * Under which the log knows a request: callers may repeat the id that they give, so each has its own after it. No dot is in
 * it: ids of test webhooks are made of it, and a dot parts the id from what else is signed.
 */
export function ownRequest({ requestId }: Pick<Call, 'requestId'>): string {
  return `${requestId.replaceAll('.', '_')}_${randomBytes(8).toString('hex')}`
}

/** Answers a request that was found valid; `paid`: null where nothing is paid for it. */
export type Run = (paid: Paid | null) => Promise<Reply>

export const EVENTS_TYPE = 'text/event-stream'

/** What an answer of one status holds; of events the data of each, by its name. */
export interface Output {
  readonly description: string
  readonly type: 'application/json' | 'text/plain' | 'text/csv' | 'text/html' | typeof EVENTS_TYPE
  readonly schema: Schema
}

export const jsonOutput = (description: string, schema: Schema): Output => ({
  description,
  type: 'application/json',
  schema,
})
export const textOutput = (description: string): Output => ({
  description,
  type: 'text/plain',
  schema: { type: 'string' },
})

/** One row of `routes.ts`. */
export interface Route<Input extends Params = Params> {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PATCH'
  /** Path with `:name` for path parameters. */
  readonly path: string
  /** Identifier in OpenAPI, metrics and logs. */
  readonly name: string
  readonly description: string
  /**
   * USDC for one request; 0: free. Charged only where payments are on: of a GET when its answer stands, of anything else
   * before it is done.
   */
  readonly priceUsdc: number
  /** The same for a body that costs another price. */
  readonly priceOf?: (body: Body) => number
  /** Run again with the same payment it gives the same answer: that is not stored, so its secrets stand nowhere. */
  readonly isIdempotent?: boolean
  /** What was there before is lost, as by any PATCH and DELETE. */
  readonly replaces?: true
  /** It buys credit: for the key that its body names, or for a new one. */
  readonly buysCredit?: true
  /**
   * Only with an Idempotency-Key: what it answers is a secret, its body can be guessed, and its payment can be read on the
   * chain. The key cannot.
   */
  readonly needsKey?: true
  /**
   * What is paid for lasts this long from the settlement on, milliseconds: the money is taken before it begins, and until
   * then the same payment begins it again.
   */
  readonly lastsMs?: number
  /** `caller`: counts against the caller's rate; `none`: for probes, which must not be refused. */
  readonly limit: 'caller' | 'none'
  /** How long an answer may be kept, by us and by callers, milliseconds; 0: not at all. */
  readonly ttlMs: number
  readonly input: Input
  /** The JSON object that it takes; without, a body is not read. */
  readonly body?: BodyRule
  /** Request headers that it looks at, and what for. */
  readonly headers?: Readonly<Record<string, string>>
  readonly outputs: Readonly<Partial<Record<200 | 201 | 202 | 503, Output>>>
  /** Errors beyond those that any route may give. */
  readonly errors: readonly ErrorCode[]
  /** Finds out whether the request can be answered, before anything is paid; a reply is given for nothing. */
  prepare(call: Call<Input>): Promise<Reply | Run>
  /**
   * Keeps what `run` needs for the payment of that id while the money is taken; throws where there is none. Gives how to
   * let go of it.
   */
  readonly keep?: (call: Pick<Call, 'services' | 'caller'>, id: string) => () => void
}

/** What a request's body may hold; a further field is refused. */
export interface BodyRule {
  readonly schema: Schema
  /** One that is taken, for the documentation. */
  readonly example: Body
  /** All fields may be left out, and the body with them. */
  readonly optional: boolean
}

/** Ties what `prepare` gets to the rules of its parameters: they are read by `input` before it is called. */
export function route<Input extends Params>(row: Route<Input>): Route {
  return row
}

/** Its answer is made before the money is taken, which gives nothing away. */
export function isQuestion({ method, lastsMs }: Pick<Route, 'method' | 'lastsMs'>): boolean {
  return method === 'GET' && lastsMs === undefined
}

/** A route of what belongs to callers: it counts against the caller's rate, and its answer is not kept for others. */
export function callerRoute<Input extends Params>(
  row: Omit<Route<Input>, 'limit' | 'ttlMs' | 'priceUsdc'> & { readonly priceUsdc?: number },
): Route {
  return route<Input>({ priceUsdc: 0, ...row, limit: 'caller', ttlMs: 0 })
}

/** A route that answers data: it is read with GET and counts against the caller's rate. */
export function dataRoute<Input extends Params>(row: Omit<Route<Input>, 'method' | 'limit'>): Route {
  return route({ ...row, method: 'GET', limit: 'caller' })
}

/** A route about the service itself: free, without parameters. */
export function opsRoute(row: Omit<Route, 'method' | 'priceUsdc' | 'input' | 'errors'>): Route {
  return route({ ...row, method: 'GET', priceUsdc: 0, input: {}, errors: [] })
}
