import { isCount, isRecord, isSymbol, textOf, unknownEvent } from '../fields.ts'
import type { FrameEvent } from '../venue.ts'

/** Symbols of one request. */
const SYMBOLS_MAX = 100

/** "bbo: on a change of the best bid or offer"; by default there is a message on trades only, with an old book. */
const channel = { channel: 'ticker', event_trigger: 'bbo' }

/** "snapshot" is said always: documents differ on what it is otherwise. */
export function subscribe(symbols: readonly string[], id: number): string[] {
  return request('subscribe', { ...channel, snapshot: true }, symbols, id)
}

export function unsubscribe(symbols: readonly string[], id: number): string[] {
  return request('unsubscribe', channel, symbols, id)
}

function request(method: string, params: object, symbols: readonly string[], id: number): string[] {
  if (symbols.length === 0) return []
  const symbol = symbols.slice(0, SYMBOLS_MAX)
  const frame = JSON.stringify({ method, params: { ...params, symbol }, req_id: id })
  return [frame, ...request(method, params, symbols.slice(SYMBOLS_MAX), id)]
}

/** One answer per symbol; `{"method":"subscribe","success":false,"error":"Currency pair not supported FOO/USD",..}`. */
export function readReply(message: Record<string, unknown>): FrameEvent {
  const { method, success, result, error, req_id } = message
  if (method === 'pong') return { kind: 'pong' }
  if (method !== 'subscribe' && method !== 'unsubscribe') return unknownEvent
  const id = isCount(req_id) ? req_id : null
  const symbol = isRecord(result) ? result['symbol'] : message['symbol']
  const symbols = isSymbol(symbol) ? [symbol] : null
  if (success === false) return { kind: 'rejected', symbols, id, message: textOf(error) }
  if (success !== true || symbols === null) return unknownEvent
  return { kind: method === 'subscribe' ? 'subscribed' : 'unsubscribed', symbols, id }
}
