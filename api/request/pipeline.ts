import { randomUUID } from 'node:crypto'
import Router from '@koa/router'
import Koa, { type Next, type ParameterizedContext } from 'koa'
import type { AllowedHosts } from '../../infra/http/guard.ts'
import { messageOf } from '../../infra/log.ts'
import type { ApiKey } from '../../schemas/records.ts'
import { ApiError } from './errors.ts'
import { assertKnown, Bodies } from './body.ts'
import { allowPreflight, assertAdmitted, hasPath, openToPages } from './admission.ts'
import { holderOf, knownHolderOf, sentToken, usedKey } from '../credit/tokens.ts'
import { callerOf, limitHeaders, rateLimited, type RateLimiter } from './limits.ts'
import { readParams, type Raw } from './params.ts'
import { assertCredit, countRefusal, isPaying, pay } from '../payments/pay.ts'
import { jsonReply, type Reply } from './reply.ts'
import type { Call, Route } from './route.ts'
import type { Services } from '../services.ts'
import { DatabaseError } from '../views/database.ts'

/** When a caller should come back while ClickHouse is away, seconds. */
const DATABASE_RETRY_SECONDS = 5
/** When an answer is late; where it is paid for, a block of the chain is waited for, milliseconds. */
const SLOW_MS = 1_000
const SLOW_PAID_MS = 5_000
/** Part of the requests in flight that may be bodies of one caller which are still coming. */
const BODIES_PART = 0.1

export interface AppOptions {
  readonly services: Services
  readonly limiter: RateLimiter
  /** Requests answered at once; beyond, 503 at once. */
  readonly inFlightMax: number
  /** X-Forwarded-For is the word of our own proxy. */
  readonly trustProxy: boolean
  /** Names that it is asked by; others' pages are kept out of what is this machine's alone. */
  readonly allowedHosts: AllowedHosts
}

/** What our middleware knows of a request: Koa's state. */
interface State {
  requestId: string
  /** Name of the matched route; `none` before and without a match. */
  route: string
  /** Requests that were being answered when it came, itself included. */
  inFlight: number
  /** From when on the answer is late, milliseconds. */
  slowMs: number
}

type Context = ParameterizedContext<State>
type Step = (context: Context, next: Next) => Promise<void>

/** The Koa application that follows from the route table: the way of every request, from top to bottom. */
export function createApp(routes: readonly Route[], options: AppOptions): Koa<State> {
  const { services } = options
  const app = new Koa<State>()
  const router = new Router<State>({ sensitive: true })
  const bodies = new Bodies(Math.max(1, Math.floor(options.inFlightMax * BODIES_PART)))
  for (const route of routes)
    router.register(route.path, [route.method], serve(route, { ...options, bodies }), { name: route.name })
  app.use(measure(services))
  if (services.payments !== null) app.use(openToPages)
  app.use(explain(services))
  app.use(keepOut(options))
  const refuse = unmatched(options)
  app.use((context, next) => (hasPath(context) ? next() : refuse(context, next)))
  app.use(router.routes())
  app.use(refuse)
  // What reaches this is a connection that broke while its answer was being written.
  app.on('error', (error: unknown) => services.log.debug({ err: error }, 'an answer could not be sent'))
  return app
}

/** One route: limit, validate, prepare, pay, run, respond. */
function serve(
  route: Route,
  options: AppOptions & { readonly bodies: Bodies },
): (context: Context & { params: unknown }) => Promise<void> {
  const { services, bodies } = options
  const { payments } = services
  const answer =
    payments !== null && route.priceUsdc > 0 ? (call: Call): Promise<Reply> => pay(payments, call) : answerFree
  return async (context) => {
    context.state.route = route.name
    if (payments !== null && route.priceUsdc > 0) context.state.slowMs = SLOW_PAID_MS
    const caller = callerOfContext(context, options)
    const key = await limit(context, route, caller, options)
    await services.asked()
    const call = await validate(context, { route, caller, key, services, bodies })
    respond(context, await answer(call), call)
  }
}

async function answerFree(call: Call): Promise<Reply> {
  const prepared = await call.route.prepare(call)
  return typeof prepared === 'object' ? prepared : prepared(null)
}

/** Names the request, counts it and measures it. */
function measure({ metrics, mode, steady }: Services): Step {
  let inFlight = 0
  return async (context, next) => {
    const { state } = context
    const started = steady()
    const given = context.get('x-request-id')
    inFlight += 1
    state.inFlight = inFlight
    state.route = 'none'
    state.slowMs = SLOW_MS
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
      const ms = steady() - started
      metrics.timed(state.route).observe(ms / 1000)
      metrics.answers.add(context.status, ms, state.slowMs)
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
      write(context, errorReply(shown, requestId))
      // What is left of a body that was not read is not waited for.
      if (shown.status === 413 || shown.status === 415) context.set('Connection', 'close')
    }
  }
}

/** One line: an outage that lasts must not fill the log with stacks. */
function whyOf({ code, cause }: ApiError): string {
  return cause instanceof Error ? `${code}: ${messageOf(cause)}` : code
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

function errorReply({ code, status, message, detail }: ApiError, requestId: string): Reply {
  const { field, retryAfterSeconds, allow, headers, more } = detail
  const body = { error: code, message, request_id: requestId, ...(field === undefined ? {} : { field }), ...more }
  return jsonReply(status, body, {
    headers: {
      ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
      ...(allow === undefined ? {} : { Allow: allow.join(', ') }),
      ...headers,
      ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    },
  })
}

/** Web pages of other sites, before anything is done for them. */
function keepOut({ allowedHosts, services }: AppOptions): Step {
  return (context, next) => {
    assertAdmitted(context, allowedHosts, services.payments !== null)
    return next()
  }
}

/** What stands before every answer of a route; gives the API key that it is to be charged to. */
async function limit(context: Context, route: Route, caller: string, options: AppOptions): Promise<ApiKey | null> {
  if (route.limit === 'none') return null
  const { services } = options
  const { payments, now, steady } = services
  // Who pays is bounded by concurrency only; what comes of it may count against another rate.
  const pays = payments !== null && route.priceUsdc > 0 && context.method !== 'HEAD'
  const header = (name: string): string => context.get(name)
  if (pays && isPaying(header)) {
    assertCredit(payments, caller, steady())
    assertRoom(context, options)
    return null
  }
  const token = pays && route.buysCredit !== true ? sentToken(header) : undefined
  const known = token === undefined ? undefined : knownHolderOf(services, token)
  // Whoever makes a key up is limited by its address, before the log is asked for it.
  if (payments === null || known === undefined) admit(context, caller, options)
  else admit(context, known.key_id, { ...options, limiter: payments.credit.rate })
  return token === undefined ? null : usedKey(known ?? (await holderOf(services, token)), now() * 1_000)
}

type Asked = Pick<Call, 'route' | 'caller' | 'key' | 'services'> & { readonly bodies: Bodies }

/** Reads what was sent by the route's rules; throws what is at fault first. */
async function validate(context: Context & { params: unknown }, asked: Asked): Promise<Call> {
  try {
    return await read(context, asked)
  } catch (error) {
    const { route, caller, services } = asked
    const { payments, steady } = services
    const sent = { caller, method: context.method, header: (name: string) => context.get(name) }
    if (payments !== null && route.priceUsdc > 0) countRefusal(payments, sent, steady())
    throw error
  }
}

async function read(
  context: Context & { params: unknown },
  { route, caller, key, services, bodies }: Asked,
): Promise<Call> {
  const { state, method, query } = context
  const input = readParams(route.input, context.params as Record<string, Raw>, query)
  const sent = route.body === undefined ? undefined : await bodies.read(context.req, caller)
  if (route.body !== undefined && sent !== undefined) assertKnown(sent.object, route.body.schema)
  const header = (name: string): string => context.get(name)
  const { requestId } = state
  return {
    route,
    input,
    body: sent?.object,
    bytes: sent?.bytes,
    header,
    method,
    requestId,
    caller,
    payer: null,
    key,
    services,
  }
}

/** Writes a route's reply; what was paid for is the caller's alone: no shared cache may hand it on. */
function respond(context: Context, reply: Reply, { route, services, method, caller }: Call): void {
  const { status, cached, freshForMs = 0 } = reply
  if (cached !== undefined) services.metrics.hits(route.name, String(cached)).inc()
  const isKept = status === 200 && freshForMs > 0
  const whose = route.priceUsdc === 0 ? 'public' : 'private'
  write(context, reply, isKept ? `${whose}, max-age=${Math.floor(freshForMs / 1000)}` : 'no-store')
  if (reply.listen !== undefined && method !== 'HEAD') stream(context, reply.listen, caller)
}

/** Leaves the answer to who goes on writing it. */
function stream(context: Context, listen: NonNullable<Reply['listen']>, caller: string): void {
  const { req, res } = context
  context.respond = false
  context.remove('Content-Length')
  context.set('X-Accel-Buffering', 'no')
  req.socket.setNoDelay(true)
  res.writeHead(context.status)
  listen({ response: res, seen: context.get('Last-Event-ID'), caller })
}

/** The reply, or 304 to who has it already. */
function write(context: Context, { status, type, body, headers = {} }: Reply, cacheControl = 'no-store'): void {
  context.status = status
  context.set('Cache-Control', cacheControl)
  context.set(headers)
  context.set('Content-Type', type)
  if ('ETag' in headers && context.fresh) context.status = 304
  else context.body = body
}

function callerOfContext(context: Context, { trustProxy }: AppOptions): string {
  const forwarded = trustProxy ? context.get('x-forwarded-for') : undefined
  return callerOf(context.req.socket.remoteAddress, forwarded)
}

/** Refuses the caller that asks too often, and everybody while too much is going on. */
function admit(context: Context, caller: string, { limiter, inFlightMax, services }: AppOptions): void {
  const verdict = limiter.take(caller, services.steady())
  context.set(limitHeaders(verdict))
  if (verdict.kind === 'refused')
    throw rateLimited(`Ask again in ${verdict.retryAfterSeconds} s; ${verdict.limit} may come at once.`, verdict)
  assertRoom(context, { inFlightMax })
}

function assertRoom(context: Context, { inFlightMax }: Pick<AppOptions, 'inFlightMax'>): void {
  if (context.state.inFlight > inFlightMax)
    throw new ApiError('overloaded', 'Too many requests are being answered; try again in a second.', {
      retryAfterSeconds: 1,
    })
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
