import type { IncomingMessage, ServerResponse } from 'node:http'
import Router from '@koa/router'
import Koa, { type Context, type Next } from 'koa'
import { admissionOf, refusalOf } from '../../infra/http/guard.ts'
import type { Logger } from '../../infra/log.ts'
import { hasPath } from '../request/admission.ts'
import type { RateLimiter } from '../request/limits.ts'
import { callerOf } from '../request/limits.ts'
import { loadFiles, loadPage, pages, type StaticFile } from './files.ts'
import { isKnown, isToken, sessionCookie, sessionOf } from './session.ts'
import type { Update } from '../stream/board.ts'
import { isWished, type Hub, type Subscription, type Tell } from '../stream/hub.ts'
import { keysMax } from './stream/digest.ts'

export interface ConsoleOptions {
  readonly mode: string
  /** undefined: none is needed, and only names of this machine are answered. */
  readonly token: string | undefined
  /** X-Forwarded-Proto and -For are the word of our own proxy. */
  readonly trustProxy: boolean
  readonly logins: RateLimiter
  readonly log: Logger
  readonly now: () => number
  /** Milliseconds of a steady clock, of `logins`. */
  readonly steady: () => number
  readonly hub: Hub<null>
  /** The data of an event; all pages share it. */
  readonly words: Tell<null>
  /** What a page begins with in any case; undefined: the log is not followed yet. */
  readonly begun: () => readonly Update[] | undefined
  readonly views: Readonly<Record<string, () => Promise<object>>>
  /** An API key's invoice of a month (`2026-11`) as CSV. */
  readonly invoice: (key: string, month: string) => Promise<string>
  /** The API, free of charge; it gets the path behind `/api`. */
  readonly api: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>
}

/** Nothing is loaded from elsewhere, nothing runs that is not a file of ours, nobody frames it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const NO_PAGE = 'There is no such page.'
const MEND = 'open the console as http://127.0.0.1 or localhost, or set CONSOLE_TOKEN.'

/** Key and month. */
const INVOICE = /^([0-9a-f]{20})-(\d{4}-(?:0[1-9]|1[0-2]))\.csv$/

const FORM_BYTES_MAX = 4_096
const RETRY_SECONDS = 2
/** All pages are one caller. */
const PAGES = 'pages'

/** What may be had without the token: how to log in, and whether the console is up. */
const open = new Set(['/login', '/healthz', '/app/console.css', '/app/theme.ts', '/app/icon.svg'])

type Step = (context: Context, next: Next) => Promise<void>

/** The console: guard, login, pages, live stream, and the API below `/api`. */
export function createConsole(options: ConsoleOptions): Koa {
  const app = new Koa()
  const router = new Router()
  const files = loadFiles()
  const shown = { mode: options.mode, tokenIsNeeded: options.token !== undefined }
  for (const { name, path } of pages) {
    const page = loadPage(name, shown)
    router.get(path, (context) => give(context, page))
  }
  for (const [path, file] of files) router.get(path, (context) => give(context, file))
  for (const [name, view] of Object.entries(options.views))
    router.get(`/view/${name}`, async (context) => {
      context.body = await view()
    })
  router.get('/invoice/:name', async (context: Context & { params: { name?: string } }) => {
    const [, key, month] = INVOICE.exec(context.params.name ?? '') ?? []
    if (key === undefined || month === undefined) return
    context.attachment(`invoice-${key}-${month}.csv`)
    context.type = 'text/csv; charset=utf-8'
    context.body = await options.invoice(key, month)
  })
  router.get('/healthz', (context) => {
    context.body = { ok: true }
  })
  router.get('/stream', (context) => listen(context, options))
  if (options.token !== undefined) loginRoutes(router, options.token, options, loadPage('login', shown))
  app.use(explain(options.log))
  app.use(shield())
  app.use((context, next) => (hasPath(context) ? next() : refuse(context, 404, 'not_found', NO_PAGE)))
  app.use(admit(options))
  app.use(mount(options))
  app.use(router.routes())
  app.on('error', (error: unknown) => options.log.debug({ err: error }, 'an answer could not be sent'))
  return app
}

function explain(log: Logger): Step {
  return async (context, next) => {
    try {
      await next()
      if (context.status === 404 && context.body === undefined && context.respond !== false)
        refuse(context, 404, 'not_found', NO_PAGE)
    } catch (error) {
      log.error({ err: error, path: context.path }, 'a request failed unexpectedly')
      refuse(context, 500, 'internal_error', 'Something failed on our side; try again.')
    }
  }
}

function shield(): Step {
  return (context, next) => {
    context.set({
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cache-Control': 'no-store',
    })
    return next()
  }
}

/** Other sites' pages first, then who does not know the token. */
function admit({ token, now }: ConsoleOptions): Step {
  return async (context, next) => {
    const admission = admissionOf(context.req, token === undefined ? [] : 'any')
    if (admission !== 'allowed') {
      const { status, error, message } = refusalOf(admission, MEND)
      return refuse(context, status, error, message)
    }
    const proof = { authorization: context.get('authorization'), cookie: context.get('cookie') }
    if (token === undefined || open.has(context.path) || isKnown(token, proof, now())) return next()
    if (context.method === 'GET' && context.accepts('json', 'html') === 'html') return context.redirect('/login')
    context.set('WWW-Authenticate', 'Bearer')
    refuse(context, 401, 'unauthorized', 'Log in, or send Authorization: Bearer and CONSOLE_TOKEN.')
  }
}

/** What is below `/api` is the API's; it writes its answer by itself. */
function mount({ api, token }: ConsoleOptions): Step {
  return async (context, next) => {
    const { req, res, url } = context
    if (!url.startsWith('/api/')) return next()
    context.respond = false
    req.url = url.slice('/api'.length)
    // The console's token is not the API's business.
    if (token !== undefined) delete req.headers.authorization
    res.statusCode = 200
    // What the API lets others keep is for who is let in here alone.
    const set = res.setHeader.bind(res)
    res.setHeader = (name, value) => (name.toLowerCase() === 'cache-control' ? res : set(name, value))
    await api(req, res)
  }
}

function give(context: Context, { type, body, gzip, etag }: StaticFile): void {
  context.set({ 'Content-Type': type, ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' })
  if (context.get('if-none-match') === etag) {
    context.status = 304
    return
  }
  const packed = context.acceptsEncodings('gzip', 'identity') === 'gzip'
  if (packed) context.set('Content-Encoding', 'gzip')
  context.body = packed ? gzip : body
}

function listen(context: Context, { hub, begun, words }: ConsoleOptions): void {
  const first = begun()
  if (first === undefined || hub.room(PAGES) !== 'free') {
    context.set('Retry-After', String(RETRY_SECONDS))
    const why = first === undefined ? 'The log is not followed yet' : 'Too many pages listen'
    return refuse(
      context,
      503,
      first === undefined ? 'starting' : 'too_many_listeners',
      `${why}; try again in a moment.`,
    )
  }
  const wish = wishOf(context.query, words)
  if (wish === undefined)
    return refuse(context, 400, 'invalid_kinds', `kinds must be some of ${Object.keys(keysMax).join(', ')}.`)
  const { last_event_id: last } = context.query
  const seen = context.get('last-event-id')
  context.respond = false
  context.req.socket.setNoDelay(true)
  context.res.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
  const at = seen !== '' || typeof last !== 'string' ? seen : last
  hub.add({ response: context.res, seen: at, caller: PAGES }, { ...wish, first: first.filter(isWished(wish)) })
}

function wishOf({ kinds: asked, asset }: Context['query'], tell: Tell<null>): Subscription<null> | undefined {
  const names = typeof asked === 'string' ? asked.split(',') : Object.keys(keysMax)
  if (names.length === 0 || !names.every((name) => name in keysMax)) return undefined
  const assets = typeof asset === 'string' && asset !== '' ? { assets: new Set([asset]) } : {}
  return { kinds: new Set(names), tell, ...assets }
}

function loginRoutes(router: Router, token: string, options: ConsoleOptions, page: StaticFile): void {
  const { logins, now, steady, trustProxy } = options
  const isSecure = (context: Context): boolean => trustProxy && context.get('x-forwarded-proto') === 'https'
  router.get('/login', (context) => give(context, page))
  router.post('/login', async (context) => {
    const forwarded = trustProxy ? context.get('x-forwarded-for') : undefined
    const verdict = logins.take(callerOf(context.req.socket.remoteAddress, forwarded), steady())
    if (verdict.kind === 'refused') {
      context.set('Retry-After', String(verdict.retryAfterSeconds))
      return refuse(context, 429, 'rate_limited', `Too many tries; the next one in ${verdict.retryAfterSeconds} s.`)
    }
    const given = new URLSearchParams(await formOf(context.req)).get('token') ?? ''
    if (!isToken(token, given)) return context.redirect('/login?wrong')
    context.set('Set-Cookie', sessionCookie(sessionOf(token, now()), isSecure(context)))
    context.redirect('/')
    context.status = 303
  })
  router.post('/logout', (context) => {
    context.set('Set-Cookie', sessionCookie('', isSecure(context)))
    context.redirect('/login')
    context.status = 303
  })
}

/** The text of a small form; what is longer is no form of ours and counts as empty. */
async function formOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > FORM_BYTES_MAX) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function refuse(context: Context, status: number, error: string, message: string): void {
  context.status = status
  context.body = { error, message }
}
