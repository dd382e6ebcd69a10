import type { FrameEvent } from '../events.ts'
import { alive } from '../fact-fields.ts'
import { badBody, countOf, fromObject, isRecord, textOf, unknownEvent } from '../fields.ts'
import type { MakeRequest, RestAnswer } from '../venue.ts'

/** Requests about one topic; a frame names at most `argsMax` symbols ("spot: up to 10 args", linear has no such limit). */
export function requestsFor(topic: string, argsMax = Infinity): MakeRequest {
  return function request(op, symbols, id): string[] {
    if (symbols.length === 0) return []
    const args = symbols.slice(0, argsMax).map((symbol) => `${topic}.${symbol}`)
    const frame = JSON.stringify({ req_id: String(id), op, args })
    return [frame, ...request(op, symbols.slice(args.length), id)]
  }
}

/** `{"success":true,"ret_msg":"","conn_id":"..","req_id":"1","op":"subscribe"}`; one bad topic fails the request. */
export function readReply(message: Record<string, unknown>): FrameEvent {
  const { op, success, req_id, ret_msg } = message
  const id = countOf(req_id) ?? null
  // "op" of the reply stays "ping" on public streams, private ones say "pong".
  if (op === 'pong' || (op === 'ping' && ret_msg === 'pong')) return { kind: 'pong' }
  if (op !== 'subscribe' && op !== 'unsubscribe') return unknownEvent
  if (success === true) return { kind: op === 'subscribe' ? 'subscribed' : 'unsubscribed', symbols: null, id }
  if (success !== false) return unknownEvent
  return { kind: 'rejected', symbols: symbolsIn(textOf(ret_msg)), id, message: textOf(ret_msg) }
}

function symbolsIn(text: string): string[] | null {
  const topics = text.matchAll(/(?:publicTrade|tickers|allLiquidation)\.([\w-]+)/g)
  const symbols = [...topics].map(([, symbol = '']) => symbol)
  return symbols.length === 0 ? null : symbols
}

/** What a message of a topic says; undefined fields are for the reader to judge. */
type ReadMessage = (message: Record<string, unknown>) => FrameEvent[]

/** Reads a frame of a stream of `topic`: its messages by `read`, all else here. */
export function parserOf(topic: string, read: ReadMessage): (frame: string) => FrameEvent[] {
  const readMessage: ReadMessage = (message) => {
    if (message['op'] !== undefined) return replied(readReply(message))
    const name = message['topic']
    return typeof name === 'string' && name.startsWith(`${topic}.`) ? read(message) : [unknownEvent]
  }
  return (frame) => fromObject(frame, readMessage)
}

/** These channels may have nothing to say for long: that our ping was answered is what shows that they live. */
function replied(reply: FrameEvent): FrameEvent[] {
  return reply.kind === 'pong' ? [reply, alive] : [reply]
}

/** The list of a body whose `retCode` is 0. */
function listOf(body: unknown): unknown[] | undefined {
  if (!isRecord(body) || body['retCode'] !== 0 || !isRecord(body['result'])) return undefined
  return Array.isArray(body['result']['list']) ? body['result']['list'] : undefined
}

/** HTTP is 200 whatever happened. 10006: "Too many visits"; 10018: the address's limit; 429, 10429: system protection. */
const limitCodes: ReadonlySet<unknown> = new Set([10006, 10018, 429, 10429])
/** 10000: "Server Timeout"; 10016: "Server error". */
const forNow: ReadonlySet<unknown> = new Set([10000, 10016])

function refusal(body: unknown): RestAnswer<never> | undefined {
  if (!isRecord(body) || typeof body['retCode'] !== 'number' || body['retCode'] === 0) return undefined
  const [code, message] = [body['retCode'], textOf(body['retMsg'])]
  if (limitCodes.has(code)) return { kind: 'limited' }
  if (forNow.has(code)) return { kind: 'failed', message: `${code} ${message}` }
  return { kind: 'error', code: String(code), message }
}

/** What `read` makes of the rows of a body's list; it gives undefined for a row that is not for us. */
export function answerOf<Row>(body: unknown, read: (row: unknown) => Row | undefined): RestAnswer<Row> {
  const list = listOf(body)
  if (list === undefined) return refusal(body) ?? badBody('a result with a list')
  return { kind: 'rows', rows: list.map(read).filter((row) => row !== undefined) }
}
