import type { Operation } from './api.ts'
import { errorOf, NoAnswerError, type ErrorReply } from './errors.ts'

/** A request as it goes out, whatever is paid for it. */
export interface Request {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Sending it twice does what sending it once does. */
  readonly isRepeatable: boolean
}

/** One attempt's outcome: an answer, or none. */
export type Outcome =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly headers: Headers
      readonly text: string
      /** What goes on coming, in place of a text. */
      readonly events?: AsyncIterable<Uint8Array>
    }
  | { readonly kind: 'lost'; readonly why: string }

/** What follows from it. */
export type Next =
  | { readonly do: 'give' }
  | { readonly do: 'pay' }
  | { readonly do: 'wait'; readonly ms: number; readonly error: Error }
  | { readonly do: 'throw'; readonly error: Error }

const WAIT_MS_MAX = 30_000
const WAIT_MS = 500

/** `isPaid`: a payment was sent with it, which the same request may be sent again with: it is charged once. */
export function nextOf(outcome: Outcome, request: Request, state: { isPaid: boolean; attempt: number }): Next {
  const isSafe = request.isRepeatable || state.isPaid
  const backoff = Math.min(WAIT_MS * 2 ** (state.attempt - 1), WAIT_MS_MAX)
  if (outcome.kind === 'lost') {
    const error = new NoAnswerError(`${request.method} ${request.url}: ${outcome.why}`)
    return isSafe ? { do: 'wait', ms: backoff, error } : { do: 'throw', error }
  }
  const { status } = outcome
  if (status === 200 || status === 201) return { do: 'give' }
  if (status === 402 && !state.isPaid) return { do: 'pay' }
  const told = errorReplyOf(outcome)
  const error = errorOf(told)
  const ms = Math.min((told.retryAfterSeconds ?? 0) * 1000 || backoff, WAIT_MS_MAX)
  // A refusal at the door was not followed; any other 503 may have been.
  const isRefusal = status === 429 || told.code === 'overloaded'
  return isRefusal || ((status === 503 || status === 202) && isSafe)
    ? { do: 'wait', ms, error }
    : { do: 'throw', error }
}

export function errorReplyOf({ status, headers, text }: Extract<Outcome, { kind: 'answer' }>): ErrorReply {
  const body = objectIn(text)
  const textField = (name: string): string | undefined => (typeof body[name] === 'string' ? body[name] : undefined)
  const seconds = Number(headers.get('retry-after') ?? '')
  return {
    status,
    code: textField('error') ?? textField('status') ?? 'unknown',
    message: textField('message') ?? 'The answer is not in the API’s form.',
    requestId: textField('request_id') ?? headers.get('x-request-id') ?? undefined,
    field: textField('field'),
    pointer: textField('pointer'),
    allowed: Array.isArray(body['allowed']) ? body['allowed'].map(String) : [],
    retryAfterSeconds: seconds > 0 ? seconds : undefined,
  }
}

/** Empty where it is no object. */
export function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {} // not from the API, but from something between
  }
}

/** The request of an operation; `input`: its flat input, `key`: its Idempotency-Key. */
export function requestOf(operation: Operation, base: string, input: object, key: string | undefined): Request {
  const given = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(textOf(given.get(name))))
  const query = operation.query.flatMap((name): [string, string][] =>
    given.has(name) ? [[name, textOf(given.get(name))]] : [],
  )
  const fields = operation.body.filter((name) => given.has(name)).map((name) => [name, given.get(name)])
  const token = given.get('manage_token')
  const headers = {
    accept: 'application/json, text/event-stream',
    ...(given.has('last_event_id') ? { 'last-event-id': textOf(given.get('last_event_id')) } : {}),
    ...(operation.isOwners && typeof token === 'string' ? { authorization: `Bearer ${token}` } : {}),
    ...(operation.isKeyed && key !== undefined ? { 'idempotency-key': key } : {}),
    ...(operation.body.length === 0 ? {} : { 'content-type': 'application/json' }),
  }
  return {
    url: `${base}${path}${query.length === 0 ? '' : `?${new URLSearchParams(query).toString()}`}`,
    method: operation.method,
    headers,
    body: operation.body.length === 0 ? undefined : JSON.stringify(Object.fromEntries(fields)),
    isRepeatable: operation.isQuestion || operation.isKeyed,
  }
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(',')
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** A server-sent event; `id`: of the last event that had one, this one included. */
export interface ServerEvent {
  readonly name: string
  readonly id: string
  readonly data: unknown
}

const EVENT_CHARACTERS_MAX = 4_000_000

/** The events of a stream as they come; throws where the connection is lost. `id`: of the event before. */
export async function* eventsOf(stream: AsyncIterable<Uint8Array>, id: string): AsyncGenerator<ServerEvent, void> {
  const decoder = new TextDecoder()
  let rest = ''
  let last = id
  for await (const bytes of stream) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > EVENT_CHARACTERS_MAX) throw new Error('an event is too long')
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line] as const))
      const valueOf = (field: string): string | undefined => fields.get(field)?.slice(field.length + 2)
      last = valueOf('id') ?? last
      const [name, data] = [valueOf('event'), valueOf('data')]
      if (name !== undefined && data !== undefined) yield { name, id: last, data: JSON.parse(data) }
    }
  }
}
