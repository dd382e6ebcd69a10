import { countOf, textOf, unknownEvent } from '../fields.ts'
import type { FrameEvent, StreamProtocol } from '../venue.ts'

/** Requests about one topic; a frame names at most `argsMax` symbols ("spot: up to 10 args", linear has no such limit). */
export function requestsFor(topic: string, argsMax = Infinity): Pick<StreamProtocol, 'subscribe' | 'unsubscribe'> {
  return {
    subscribe: (symbols, id) => request('subscribe', topic, symbols, id, argsMax),
    unsubscribe: (symbols, id) => request('unsubscribe', topic, symbols, id, argsMax),
  }
}

export const { subscribe, unsubscribe } = requestsFor('publicTrade')

function request(op: string, topic: string, symbols: readonly string[], id: number, argsMax: number): string[] {
  if (symbols.length === 0) return []
  const args = symbols.slice(0, argsMax).map((symbol) => `${topic}.${symbol}`)
  const frame = JSON.stringify({ req_id: String(id), op, args })
  return [frame, ...request(op, topic, symbols.slice(args.length), id, argsMax)]
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
