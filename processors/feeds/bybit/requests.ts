import { countOf, textOf, unknownEvent } from '../fields.ts'
import type { FrameEvent } from '../venue.ts'

export function subscribe(symbols: readonly string[], id: number): string[] {
  return request('subscribe', symbols, id)
}

export function unsubscribe(symbols: readonly string[], id: number): string[] {
  return request('unsubscribe', symbols, id)
}

function request(op: string, symbols: readonly string[], id: number): string[] {
  if (symbols.length === 0) return []
  return [JSON.stringify({ req_id: String(id), op, args: symbols.map((symbol) => `publicTrade.${symbol}`) })]
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
  const symbols = [...text.matchAll(/publicTrade\.([\w-]+)/g)].map(([, symbol = '']) => symbol)
  return symbols.length === 0 ? null : symbols
}
