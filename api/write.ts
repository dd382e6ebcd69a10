import type { ParameterizedContext } from 'koa'
import { textOf } from './kept.ts'
import type { Ask } from './payments/challenges.ts'
import type { Outcome } from './payments/till.ts'
import type { Answer, Route } from './route.ts'
import type { Services } from './services.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** What our middleware knows of a request: Koa's state. */
export interface Seen {
  requestId: string
  /** Name of the matched route; `none` before and without a match. */
  route: string
  /** Requests that were being answered when it came, itself included. */
  inFlight: number
}

export type Context = ParameterizedContext<Seen>

/** Writes what a route gives; what may be given again without asking is remembered. */
export function write(context: Context, row: Route, answer: Outcome, services: Services): void {
  switch (answer.kind) {
    case 'ask':
      return writeAsk(context, answer)
    case 'given':
      context.status = answer.status
      context.set(answer.headers)
      context.set('Cache-Control', 'private, no-store')
      context.set('Content-Type', answer.type)
      context.body = answer.body
      return
    case 'kept': {
      writeKept(context, row, answer, services)
      const { key, used } = answer
      // What costs something is never given again from here.
      if (services.payments === null || row.priceUsdc === 0)
        services.recall.put(context.url, { row, key, ...(used === undefined ? {} : { used }) })
      return
    }
    case 'page':
      return writePage(context, answer)
    case 'data':
    case 'json':
    case 'text':
      return writeAnswer(context, row, answer, services)
  }
}

/** 402: what it costs. */
export function writeAsk(context: Context, { header, open }: Ask): void {
  context.status = 402
  context.set('Cache-Control', 'no-store')
  context.set('PAYMENT-REQUIRED', header)
  context.set('Content-Type', JSON_TYPE)
  context.body = `${open}${JSON.stringify(context.state.requestId)}}`
}

/** An answer from the cache, with its age as of now. */
export function writeKept(
  context: Context,
  row: Route,
  answer: Pick<Extract<Answer, { kind: 'kept' }>, 'kept' | 'clock' | 'cached' | 'freshForMs'>,
  services: Services,
): void {
  const { kept, clock, cached, freshForMs } = answer
  services.metrics.hits(row.name, String(cached)).inc()
  context.set('Cache-Control', cacheControl(row, freshForMs))
  context.set('Content-Type', JSON_TYPE)
  context.body = textOf(kept, clock, { timestamp: services.timestamp(), cached })
}

/** A page, or 304 to who has it already. */
function writePage(context: Context, answer: Extract<Answer, { kind: 'page' }>): void {
  context.status = 200
  context.set(answer.headers)
  context.set('Cache-Control', `public, max-age=${Math.floor(answer.freshForMs / 1000)}`)
  context.set('ETag', answer.etag)
  context.type = answer.type
  if (context.fresh) context.status = 304
  else context.body = answer.body
}

function writeAnswer(
  context: Context,
  row: Route,
  answer: Exclude<Answer, { kind: 'kept' | 'page' }>,
  services: Services,
): void {
  context.set('Cache-Control', isKept(answer) ? cacheControl(row, answer.freshForMs) : 'no-store')
  if (answer.kind === 'text') {
    context.type = answer.type
    context.body = answer.body
    return
  }
  context.status = answer.status
  if (answer.kind === 'json') {
    context.body = answer.body
    return
  }
  if (answer.retryAfterSeconds !== undefined) context.set('Retry-After', String(answer.retryAfterSeconds))
  context.body = { ...answer.body, timestamp: services.timestamp(), cached: answer.cached }
}

/** What was paid for is the caller's alone: no shared cache may hand it on. */
function cacheControl(row: Route, freshForMs: number): string {
  return `${row.priceUsdc === 0 ? 'public' : 'private'}, max-age=${Math.floor(freshForMs / 1000)}`
}

function isKept(answer: Exclude<Answer, { kind: 'kept' | 'page' }>): boolean {
  return answer.freshForMs > 0 && (answer.kind === 'text' || answer.status === 200)
}
