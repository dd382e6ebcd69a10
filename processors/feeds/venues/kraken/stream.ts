import type { FactRow, FrameEvent } from '../events.ts'
import { alive, factEvent, plain, refusedField, tickerOf } from '../fact-fields.ts'
import { badField, fromObject, isCount, isRecord, isSymbol, microsOfIso, textOf, unknownEvent } from '../fields.ts'

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
function readReply(message: Record<string, unknown>): FrameEvent {
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

/** Reads one frame of a WebSocket v2 connection that subscribes to `ticker`. */
export function parse(frame: string): FrameEvent[] {
  return fromObject(frame, readMessage)
}

function readMessage(message: Record<string, unknown>): FrameEvent[] {
  const { channel, data, method } = message
  if (method !== undefined) return [readReply(message)]
  switch (channel) {
    case 'ticker':
      return Array.isArray(data) ? data.map((row) => factEvent(readTicker(row))) : [badField]
    // About once a second, as long as anything is subscribed.
    case 'heartbeat':
      return [alive]
    // On connecting, and when the exchange goes into maintenance: orders are its concern, not the connection.
    case 'status':
      return []
    default:
      return [unknownEvent]
  }
}

/** Numbers are JSON numbers. "change_pct" is in percent; older messages have no "timestamp". */
function readTicker(row: unknown): FactRow {
  if (!isRecord(row) || !isSymbol(row['symbol'])) return refusedField
  const { symbol, timestamp = null, change_pct } = row
  const time = timestamp === null ? null : typeof timestamp === 'string' ? microsOfIso(timestamp) : undefined
  if (time === undefined || (change_pct !== undefined && typeof change_pct !== 'number')) return refusedField
  return tickerOf(symbol, time, {
    bid: plain(row['bid']),
    ask: plain(row['ask']),
    last: plain(row['last']),
    change24h: change_pct ?? null,
    volume24h: plain(row['volume']),
  })
}
