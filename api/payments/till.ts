import type { Next, ParameterizedContext } from 'koa'
import { ApiError } from '../errors.ts'
import type { Answer, Call, Route } from '../route.ts'
import type { Ask } from './challenges.ts'
import { passGate } from './gate.ts'
import type { Given } from './given.ts'
import type { Payments } from './payments.ts'
import { targetOf } from './target.ts'

/** A request as the app has read it. */
export interface Request {
  readonly row: Route
  readonly call: Call
  readonly requestId: string
  readonly method: string
  /** As it was sent. */
  readonly url: string
  /** The body as it was sent. */
  readonly bytes: Buffer | undefined
}

export type Outcome = Answer | Given | Ask

/** The answer of a route: for nothing where payments are off or it costs nothing, else through the gate. */
export async function answerFor(request: Request): Promise<Outcome> {
  const { row, call } = request
  const { payments } = call.services
  if (payments !== null && row.priceUsdc > 0) return counted(payments, request)
  const result = await row.handle(call)
  if (result.kind === 'deed') return result.act(null)
  return result.kind === 'draft' ? result.give() : result
}

/** What comes with a payment and is not charged counts against a rate of its own: checking it costs us. */
async function counted(payments: Payments, request: Request): Promise<Outcome> {
  const { call, method } = request
  const isPaying = method !== 'HEAD' && hasHeader(call.header)
  const { metrics, now } = call.services
  try {
    const outcome = await sell(payments, request)
    metrics.payments(outcome.kind === 'ask' ? 'asked' : outcome.kind === 'given' ? 'given' : 'free').inc()
    if (isPaying && outcome.kind !== 'given') payments.refusals.take(call.caller, now())
    return outcome
  } catch (error) {
    metrics.payments(error instanceof ApiError ? error.code : 'internal_error').inc()
    if (isPaying) payments.refusals.take(call.caller, now())
    throw error
  }
}

async function sell(payments: Payments, { url, ...request }: Request): Promise<Outcome> {
  const { row, call, method } = request
  const outcome = await passGate(payments, { ...request, target: targetOf(row, call.input) })
  if (outcome.kind === 'ask' && method === 'GET')
    payments.challenges.put(url, { row, ask: outcome }, call.services.now())
  return outcome
}

/** Refuses who has sent too many payments that came to nothing. */
export function assertCredit({ refusals }: Payments, caller: string, now: number): void {
  if (refusals.hasRoom(caller, now)) return
  throw new ApiError('rate_limited', 'Too many payments of yours were not accepted; wait a second.', {
    retryAfterSeconds: 1,
  })
}

type Context = ParameterizedContext<object>

export function hasPayment({ method, req: { headers } }: Pick<Context, 'method' | 'req'>): boolean {
  return method !== 'HEAD' && (Boolean(headers['payment-signature']) || Boolean(headers['x-payment']))
}

function hasHeader(header: (name: string) => string): boolean {
  return header('payment-signature') !== '' || header('x-payment') !== ''
}

const READABLE =
  'PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Request-Id'
const SENDABLE =
  'Content-Type, Authorization, Idempotency-Key, PAYMENT-SIGNATURE, X-PAYMENT, SIGN-IN-WITH-X, Access-Control-Expose-Headers, X-Request-Id'

/** Clients that pay run in web pages, too. There are no cookies: a page can do no more than anyone else. */
export function openToPages(context: Context, next: Next): Promise<void> {
  context.set('Access-Control-Allow-Origin', '*')
  context.set('Access-Control-Expose-Headers', READABLE)
  return next()
}

export function allowPreflight(context: Context, methods: readonly string[]): void {
  context.set('Access-Control-Allow-Methods', methods.join(', '))
  context.set('Access-Control-Allow-Headers', SENDABLE)
  context.set('Access-Control-Max-Age', '600')
}
