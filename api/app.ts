import { randomUUID } from 'node:crypto'
import Router from '@koa/router'
import Koa, { type Next } from 'koa'
import type { Door } from '../infra/http/guard.ts'
import { ApiError } from './errors.ts'
import { assertKnown, readBody } from './body.ts'
import { assertAdmitted } from './door.ts'
import { callerOf, type RateLimiter, type Verdict } from './limits.ts'
import { readParams, type Raw } from './params.ts'
import { allowPreflight, answerFor, assertCredit, hasPayment, openToPages } from './payments/till.ts'
import type { Call, Route } from './route.ts'
import type { Services } from './services.ts'
import { DatabaseError } from './views/database.ts'
import { write, writeAsk, writeKept, type Context, type Seen } from './write.ts'

/** When a caller should come back while ClickHouse is away, seconds. */
const DATABASE_RETRY_SECONDS = 5

export interface AppOptions {
  readonly services: Services
  readonly limiter: RateLimiter
  /** Requests answered at once; beyond, 503 at once. */
  readonly inFlightMax: number
  /** X-Forwarded-For is the word of our own proxy. */
  readonly trustProxy: boolean
  /** Names that it is asked by; others' pages are kept out of what is this machine's alone. */
  readonly door: Door
}

type Step = (context: Context, next: Next) => Promise<void>

/** The Koa application that follows from the route table. */
export function createApp(routes: readonly Route[], options: AppOptions): Koa<Seen> {
  const app = new Koa<Seen>()
  const router = new Router<Seen>({ sensitive: true })
  for (const row of routes) router.register(row.path, [row.method], serve(row, options), { name: row.name })
  app.use(observe(options.services))
  if (options.services.payments !== null) app.use(openToPages)
  app.use(explain(options.services))
  app.use(keepOut(options))
  app.use(repeat(options))
  app.use(router.routes())
  app.use(unmatched(options))
  // What reaches this is a connection that broke while its answer was being written.
  app.on('error', (error: unknown) => options.services.log.debug({ err: error }, 'an answer could not be sent'))
  return app
}

/** Names the request, counts it and measures it. */
function observe({ metrics, mode, now }: Services): Step {
  let inFlight = 0
  return async (context, next) => {
    const { state } = context
    const started = now()
    const given = context.get('x-request-id')
    inFlight += 1
    state.inFlight = inFlight
    state.route = 'none'
    state.requestId = given !== '' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()
    context.set('X-Request-Id', state.requestId)
    context.set('X-Content-Type-Options', 'nosniff')
    if (mode !== 'live') context.set('X-Mode', mode)
    metrics.inFlight.set(inFlight)
    try {
      await next()
    } finally {
      inFlight -= 1
      metrics.inFlight.set(inFlight)
      metrics.counted(state.route, String(context.status)).inc()
      metrics.timed(state.route).observe((now() - started) / 1000)
    }
  }
}

/** Turns what is thrown into the error form; what is not expected is logged and not shown. */
function explain({ log }: Services): Step {
  return async (context, next) => {
    try {
      await next()
    } catch (error) {
      const { requestId } = context.state
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
  const { field, retryAfterSeconds, allow, headers, more } = error.detail
  context.status = error.status
  context.set('Cache-Control', 'no-store')
  if (retryAfterSeconds !== undefined) context.set('Retry-After', String(retryAfterSeconds))
  if (allow !== undefined) context.set('Allow', allow.join(', '))
  if (headers !== undefined) context.set(headers)
  if (error.status === 401) context.set('WWW-Authenticate', 'Bearer')
  // What is left of a body that was not read is not waited for.
  if (error.status === 413 || error.status === 415) context.set('Connection', 'close')
  context.body = {
    error: error.code,
    message: error.message,
    request_id: requestId,
    ...(field === undefined ? {} : { field }),
    ...more,
  }
}

/** Web pages of other sites, before anything is done for them. */
function keepOut({ door, services }: AppOptions): Step {
  return (context, next) => {
    assertAdmitted(context, door, services.payments !== null)
    return next()
  }
}

/**
 * A question that was answered a moment ago and whose answer, or price, is still kept: limits and answer, without
 * routing and reading. On a tape ages follow from the log, so there every request goes the long way.
 */
function repeat(options: AppOptions): Step {
  const { recall, payments, mode, now } = options.services
  return async (context, next) => {
    if (context.method !== 'GET') return next()
    const unpaid = payments === null || hasPayment(context) ? undefined : payments.challenges.find(context.url, now())
    if (unpaid !== undefined) {
      context.state.route = unpaid.row.name
      admit(context, callerOfContext(context, options), options)
      options.services.metrics.payments('asked').inc()
      return writeAsk(context, unpaid.ask)
    }
    const known = mode === 'tape' ? undefined : recall.find(context.url)
    if (known === undefined) return next()
    const { recalled, hit } = known
    context.state.route = recalled.row.name
    guard(context, recalled.row, options)
    recalled.used?.()
    writeKept(context, recalled.row, { ...hit, kept: hit.value, clock: now() * 1000 }, options.services)
  }
}

/** One route: limits, parameters, handler, payment, answer. */
function serve(row: Route, options: AppOptions): (context: Context & { params: unknown }) => Promise<void> {
  const { services } = options
  return async (context) => {
    const { state, method, url, query } = context
    state.route = row.name
    const caller = guard(context, row, options)
    const input = readParams(row.input, context.params as Record<string, Raw>, query)
    const sent = row.body === undefined ? undefined : await readBody(context.req)
    if (row.body !== undefined && sent !== undefined) assertKnown(sent.object, row.body)
    const header = (name: string): string => context.get(name)
    const call: Call = { input, body: sent?.object, header, caller, payer: null, services }
    const answer = await answerFor({ row, call, requestId: state.requestId, method, url, bytes: sent?.bytes })
    write(context, row, answer, services)
  }
}

/** What stands before every answer of a route; gives whom limits are counted for. */
function guard(context: Context, row: Route, options: AppOptions): string {
  const caller = callerOfContext(context, options)
  if (row.limit === 'none') return caller
  const { payments } = options.services
  // Who pays is bounded by concurrency only; what comes of it may count against another rate.
  const isPaying = payments !== null && row.priceUsdc > 0 && hasPayment(context)
  if (!isPaying) admit(context, caller, options)
  else {
    assertCredit(payments, caller, options.services.now())
    assertRoom(context, options)
  }
  return caller
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
  assertRoom(context, { inFlightMax })
}

function assertRoom(context: Context, { inFlightMax }: Pick<AppOptions, 'inFlightMax'>): void {
  if (context.state.inFlight > inFlightMax)
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

/** No route has the path, or not the method. */
function unmatched(options: AppOptions): Step {
  return async (context: Context & { matched?: readonly { methods: readonly string[] }[] }) => {
    admit(context, callerOfContext(context, options), options)
    const methods = new Set((context.matched ?? []).flatMap((layer) => layer.methods))
    if (methods.size === 0) throw new ApiError('not_found', 'There is no such path; see /openapi.json.')
    const allow = [...methods, 'OPTIONS'].toSorted()
    if (context.method !== 'OPTIONS') throw new ApiError('method_not_allowed', `Use ${allow.join(', ')}.`, { allow })
    context.status = 204
    context.set('Allow', allow.join(', '))
    if (options.services.payments !== null) allowPreflight(context, allow)
  }
}
