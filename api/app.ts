import { randomUUID } from 'node:crypto'
import Router, { type RouterContext } from '@koa/router'
import Koa, { type Context, type Middleware, type Next } from 'koa'
import { ApiError } from './errors.ts'
import { callerOf, type RateLimiter, type Verdict } from './limits.ts'
import { readParams, type Raw } from './params.ts'
import type { Answer, Route } from './route.ts'
import type { Services } from './services.ts'
import { DatabaseError } from './views/database.ts'

/** When a caller should come back while ClickHouse is away, seconds. */
const DATABASE_RETRY_SECONDS = 5
const JSON_TYPE = 'application/json; charset=utf-8'

export interface AppOptions {
  readonly services: Services
  readonly limiter: RateLimiter
  /** Requests answered at once; beyond, 503 at once. */
  readonly inFlightMax: number
  /** X-Forwarded-For is the word of our own proxy. */
  readonly trustProxy: boolean
}

/** What our middleware knows of a request. */
interface Seen {
  requestId: string
  /** Name of the matched route; `none` before and without a match. */
  route: string
  /** Requests that were being answered when it came, itself included. */
  readonly inFlight: number
}

const seen = new WeakMap<Context['req'], Seen>()

/** The Koa application that follows from the route table. */
export function createApp(routes: readonly Route[], options: AppOptions): Koa {
  const app = new Koa()
  const router = new Router({ sensitive: true })
  for (const row of routes) router.get(row.name, row.path, serve(row, options))
  app.use(observe(options.services))
  app.use(explain(options.services))
  app.use(router.routes())
  app.use(unmatched(options))
  // What reaches this is a connection that broke while its answer was being written.
  app.on('error', (error: unknown) => options.services.log.debug({ err: error }, 'an answer could not be sent'))
  return app
}

/** Names the request, counts it and measures it. */
function observe({ metrics, mode, now }: Services): Middleware {
  let inFlight = 0
  return async (context, next) => {
    const started = now()
    inFlight += 1
    const given = context.get('x-request-id')
    const about: Seen = { requestId: /^[\w.-]{1,64}$/.test(given) ? given : randomUUID(), route: 'none', inFlight }
    seen.set(context.req, about)
    context.set('X-Request-Id', about.requestId)
    context.set('X-Content-Type-Options', 'nosniff')
    if (mode !== 'live') context.set('X-Mode', mode)
    metrics.inFlight.set(inFlight)
    try {
      await next()
    } finally {
      inFlight -= 1
      metrics.inFlight.set(inFlight)
      metrics.requests.inc({ route: about.route, status: String(context.status) })
      metrics.seconds.observe({ route: about.route }, (now() - started) / 1000)
    }
  }
}

/** Turns what is thrown into the error form; what is not expected is logged and not shown. */
function explain({ log }: Services): Middleware {
  return async (context, next) => {
    try {
      await next()
    } catch (error) {
      const requestId = seen.get(context.req)?.requestId ?? ''
      const expected = expectedError(error)
      if (expected === undefined) log.error({ err: error, requestId }, 'a request failed unexpectedly')
      else if (expected.status >= 500) log.warn({ requestId, why: whyOf(expected) }, 'a request could not be answered')
      const shown = expected ?? new ApiError('internal_error', 'Something failed on our side; try again.')
      writeError(context, shown, requestId)
    }
  }
}

/** One line: an outage that lasts must not fill the log with stacks. */
function whyOf({ code, cause }: ApiError): string {
  const root = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return root instanceof Error ? `${code}: ${root.message}` : code
}

/** Our own errors; a database that is away for a moment is one of them. */
function expectedError(error: unknown): ApiError | undefined {
  if (error instanceof DatabaseError && error.code !== 'refused')
    return new ApiError('data_unavailable', 'The data cannot be read right now; try again in a few seconds.', {
      retryAfterSeconds: DATABASE_RETRY_SECONDS,
      cause: error,
    })
  return error instanceof ApiError ? error : undefined
}

function writeError(context: Context, error: ApiError, requestId: string): void {
  const { field, retryAfterSeconds, allow } = error.detail
  context.status = error.status
  context.set('Cache-Control', 'no-store')
  if (retryAfterSeconds !== undefined) context.set('Retry-After', String(retryAfterSeconds))
  if (allow !== undefined) context.set('Allow', allow.join(', '))
  context.body = {
    error: error.code,
    message: error.message,
    request_id: requestId,
    ...(field === undefined ? {} : { field }),
  }
}

/** One route: limits, parameters, handler, answer. */
function serve(row: Route, options: AppOptions): (context: RouterContext) => Promise<void> {
  return async (context) => {
    const about = seen.get(context.req)
    if (about !== undefined) about.route = row.name
    const caller = callerOfContext(context, options)
    if (row.limit === 'caller') admit(context, caller, options)
    const input = readParams(row.input, context.params as Record<string, Raw>, context.query)
    writeAnswer(context, row, await row.handle({ input, caller, services: options.services }), options.services)
  }
}

function callerOfContext(context: Context, { trustProxy }: AppOptions): string {
  const forwarded = trustProxy ? context.get('x-forwarded-for') : undefined
  return callerOf(context.req.socket.remoteAddress, forwarded)
}

/** Refuses the caller that asks too often, and everybody while too much is going on. */
function admit(context: Context, caller: string, { limiter, inFlightMax, services }: AppOptions): void {
  const verdict = limiter.take(caller, services.now())
  writeLimits(context, verdict)
  if (verdict.kind === 'refused')
    throw new ApiError(
      'rate_limited',
      `Ask again in ${verdict.retryAfterSeconds} s; ${verdict.limit} may come at once.`,
      {
        retryAfterSeconds: verdict.retryAfterSeconds,
      },
    )
  if ((seen.get(context.req)?.inFlight ?? 0) > inFlightMax)
    throw new ApiError('overloaded', 'Too many requests are being answered; try again in a second.', {
      retryAfterSeconds: 1,
    })
}

function writeLimits(context: Context, verdict: Verdict): void {
  if (verdict.kind === 'unlimited') return
  context.set('RateLimit-Limit', String(verdict.limit))
  context.set('RateLimit-Remaining', String(verdict.remaining))
  context.set('RateLimit-Reset', String(verdict.resetSeconds))
}

function writeAnswer(context: Context, row: Route, answer: Answer, services: Services): void {
  const seconds = Math.floor(answer.freshForMs / 1000)
  // What was paid for is the caller's alone: no shared cache may hand it on.
  const scope = row.priceUsdc === 0 ? 'public' : 'private'
  context.set('Cache-Control', isKept(answer) ? `${scope}, max-age=${seconds}` : 'no-store')
  if (answer.kind === 'text') {
    context.type = answer.type
    context.body = answer.body
    return
  }
  context.status = answer.status
  if (answer.retryAfterSeconds !== undefined) context.set('Retry-After', String(answer.retryAfterSeconds))
  context.type = JSON_TYPE
  const timestamp = new Date(services.now()).toISOString()
  context.body = `${answer.open},"timestamp":"${timestamp}","cached":${answer.cached}${answer.close}`
}

function isKept(answer: Answer): boolean {
  return answer.freshForMs > 0 && (answer.kind === 'text' || answer.status === 200)
}

/** No route has the path, or not the method. */
function unmatched(options: AppOptions): Middleware {
  return async (context: Context & { matched?: readonly { methods: readonly string[] }[] }, _next: Next) => {
    admit(context, callerOfContext(context, options), options)
    const methods = new Set((context.matched ?? []).flatMap((layer) => layer.methods))
    if (methods.size === 0) throw new ApiError('not_found', 'There is no such path; see /openapi.json.')
    const allow = [...methods, 'OPTIONS'].toSorted()
    if (context.method !== 'OPTIONS') throw new ApiError('method_not_allowed', `Use ${allow.join(', ')}.`, { allow })
    context.status = 204
    context.set('Allow', allow.join(', '))
  }
}
