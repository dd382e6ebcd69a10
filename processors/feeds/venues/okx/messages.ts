import type { FactRow, FrameEvent } from '../events.ts'
import { alive, factEvent } from '../fact-fields.ts'
import { badBody, badField, countOf, fromObject, isRecord, isSymbol, textOf, unknownEvent } from '../fields.ts'
import type { MakeRequest, RestAnswer } from '../venue.ts'

/** Requests for a channel; `parameter` names what its argument is called: an instrument or a whole type of them. */
export function requestsFor(channel: string, parameter: 'instId' | 'instType' = 'instId'): MakeRequest {
  return (op, symbols, id) => {
    const args = symbols.map((symbol) => ({ channel, [parameter]: symbol }))
    return args.length === 0 ? [] : [JSON.stringify({ id: String(id), op, args })]
  }
}

/** One acknowledgement per symbol: `{"id":"1","event":"subscribe","arg":{"channel":"trades-all","instId":".."},..}`. */
export function readReply(message: Record<string, unknown>): FrameEvent[] {
  const { event, arg, id: text, code, msg } = message
  const id = countOf(text) ?? null
  const reason = `${textOf(code)} ${textOf(msg)}`.trim()
  switch (event) {
    case 'subscribe':
    case 'unsubscribe': {
      const symbol = isRecord(arg) ? (arg['instId'] ?? arg['instType']) : undefined
      if (!isSymbol(symbol)) return [unknownEvent]
      return [{ kind: event === 'subscribe' ? 'subscribed' : 'unsubscribed', symbols: [symbol], id }]
    }
    case 'error':
      return [{ kind: 'rejected', symbols: symbolsIn(textOf(msg)), id, message: reason }]
    // 64008: "The connection will soon be closed for a service upgrade. Please reconnect."
    case 'notice':
      return code === '64008' ? [{ kind: 'closing', message: reason }] : [unknownEvent]
    // How many connections subscribe to a channel: nothing to do.
    case 'channel-conn-count':
      return []
    default:
      return [unknownEvent]
  }
}

/** `Wrong URL or channel:trades-all,instId:NOT-USDT-SWAP doesn't exist.` */
function symbolsIn(text: string): string[] | null {
  const symbols = [...text.matchAll(/"?instId"?:"?([\w-]+)/g)].map(([, symbol = '']) => symbol)
  return symbols.length === 0 ? null : symbols
}

/** The data of a body whose code is 0. */
function dataOf(body: unknown): unknown[] | undefined {
  if (!isRecord(body) || body['code'] !== '0') return undefined
  return Array.isArray(body['data']) ? body['data'] : undefined
}

/** 50011: "Rate limit reached"; 50013: "Systems are busy. Please try again later." */
const limitCodes: ReadonlySet<unknown> = new Set(['50011', '50013'])
/** 50001: "Service temporarily unavailable. Try again later"; 50004: "API endpoint request timeout"; 50026: "System error. Try again later". */
const forNow: ReadonlySet<unknown> = new Set(['50001', '50004', '50026'])

function refusal(body: unknown): RestAnswer<never> | undefined {
  if (!isRecord(body) || typeof body['code'] !== 'string' || body['code'] === '0') return undefined
  const [code, message] = [body['code'], textOf(body['msg'])]
  if (limitCodes.has(code)) return { kind: 'limited' }
  if (forNow.has(code)) return { kind: 'failed', message: `${code} ${message}` }
  return { kind: 'error', code, message }
}

/** What a row of a channel or of a call says; none: it is not of our markets. */
export type ReadRow = (row: unknown) => readonly FactRow[]

/** Reads a frame of a stream of one channel. */
export function parserOf(channel: string, read: ReadRow): (frame: string) => FrameEvent[] {
  return (frame) => {
    // The answer to our ping, and what shows that a channel with nothing to say lives.
    if (frame === 'pong') return [{ kind: 'pong' }, alive]
    return fromObject(frame, (message) => {
      const { arg, data, event } = message
      if (event !== undefined) return readReply(message)
      if (!isRecord(arg) || arg['channel'] !== channel) return [unknownEvent]
      return Array.isArray(data) ? data.flatMap(read).map(factEvent) : [badField]
    })
  }
}

/** Reads the answer of a call; `read` gives none for a row that is not for us. */
export function answerOf<Row>(body: unknown, read: (row: unknown) => Row | readonly Row[]): RestAnswer<Row> {
  const data = dataOf(body)
  if (data === undefined) return refusal(body) ?? badBody('data')
  return { kind: 'rows', rows: data.flatMap(read) }
}
