import type { FactRow, FrameEvent } from '../events.ts'
import { alive, factEvent, factRows } from '../fact-fields.ts'
import { isCount, isRecord, jsonOf, notAnObject, notJson, textOf, unknownEvent, badBody } from '../fields.ts'
import type { MakeRequest, RestAnswer } from '../venue.ts'

/**
 * The requests of the streams that `streamOf` names for a symbol. The acknowledgement (`{"result":null,"id":1}`) does
 * not say what it was for, so the number does: twice our id subscribes, one more unsubscribes.
 */
export function requestsFor(streamOf: (symbol: string) => string): MakeRequest {
  return (op, symbols, number) => {
    const [params, id] = [symbols.map(streamOf), number * 2 + (op === 'subscribe' ? 0 : 1)]
    return params.length === 0 ? [] : [JSON.stringify({ method: op.toUpperCase(), params, id })]
  }
}

/** Of trades. Streams are lower case, symbols upper case. */
export const request = requestsFor((symbol) => `${symbol.toLowerCase()}@aggTrade`)

/** What is no data: the answer to a request, or the word that the connection will end. */
export function readControl(message: Record<string, unknown>, stream?: unknown): FrameEvent {
  const { e } = message
  if (e === 'serverShutdown' || (e === undefined && stream === '!serverShutdown'))
    return { kind: 'closing', message: 'serverShutdown' }
  return e === undefined ? readReply(message) : unknownEvent
}

/** `{"result":null,"id":..}` acknowledges, `{"code":..,"msg":..,"id":..}` or `{"error":{..},"id":..}` refuses. */
function readReply(message: Record<string, unknown>): FrameEvent {
  const { result, error, id } = message
  const number = isCount(id) ? id : null
  if (result === null && number !== null) {
    const kind = number % 2 === 0 ? 'subscribed' : 'unsubscribed'
    return { kind, symbols: null, id: Math.floor(number / 2) }
  }
  const failure = isRecord(error) ? error : message
  if (typeof failure['code'] !== 'number' || failure['msg'] === undefined) return unknownEvent
  const text = `${failure['code']} ${textOf(failure['msg'])}`
  return { kind: 'rejected', symbols: null, id: number === null ? null : Math.floor(number / 2), message: text }
}

/** Reads a message of a channel; undefined: of a market or state that we do not follow. */
type Read = (message: Record<string, unknown>) => FactRow | undefined

/**
 * Reads the frames of a channel whose messages are `e: event`: one message or an array of them, raw or in the envelope
 * of a combined stream. Each element of an array is judged alone.
 */
export function parserOf(event: string, read: Read): (frame: string) => FrameEvent[] {
  return (frame) => {
    const value = jsonOf(frame)
    if (value === undefined) return [notJson]
    if (!isRecord(value)) return Array.isArray(value) ? eventsOf(value, event, read) : [notAnObject]
    const { stream, data } = value
    if (stream === undefined) return [eventOf(value, event, read)]
    if (Array.isArray(data)) return eventsOf(data, event, read)
    return [isRecord(data) ? eventOf(data, event, read, stream) : notAnObject]
  }
}

/** A frame of which nothing is for us still says that the channel lives; so does an empty one. */
function eventsOf(list: readonly unknown[], event: string, read: Read): FrameEvent[] {
  const events = list
    .map((element) => (isRecord(element) ? eventOf(element, event, read) : notAnObject))
    .filter((found) => found !== alive)
  return events.length === 0 ? [alive] : events
}

function eventOf(message: Record<string, unknown>, event: string, read: Read, stream?: unknown): FrameEvent {
  if (message['e'] !== event) return readControl(message, stream)
  const row = read(message)
  return row === undefined ? alive : factEvent(row)
}

/** The rows of a body that is an array; `read` gives undefined for a row that is not for us. */
export function rowsOf(body: unknown, read: (row: unknown) => FactRow | undefined): RestAnswer<FactRow> {
  return Array.isArray(body) ? factRows(body, read) : (refusal(body) ?? badBody('an array'))
}

/** `symbol=...`: names outside of ASCII exist. */
export function symbolQuery(symbol: string): string {
  return `symbol=${encodeURIComponent(symbol)}`
}

/** -1001: "Internal error; unable to process your request. Please try again."; -1007: TIMEOUT; -1008: overloaded, "try again". */
const forNow: ReadonlySet<unknown> = new Set([-1001, -1007, -1008])

/** `{"code":-1121,"msg":"Invalid symbol."}`; -1003 is TOO_MANY_REQUESTS. */
export function refusal(body: unknown): RestAnswer<never> | undefined {
  if (!isRecord(body) || typeof body['code'] !== 'number') return undefined
  const [code, message] = [body['code'], textOf(body['msg'])]
  if (code === -1003) return { kind: 'limited' }
  if (forNow.has(code)) return { kind: 'failed', message: `${code} ${message}` }
  return { kind: 'error', code: String(code), message }
}
