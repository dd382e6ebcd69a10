import type { FactRow, FrameEvent } from '../events.ts'
import { alive, factEvent, plain, refusedField, tickerOf } from '../fact-fields.ts'
import type { StreamProtocol } from '../venue.ts'
import { badField, fromObject, isCount, isRecord, isSymbol, microsOfIso, textOf, unknownEvent } from '../fields.ts'

/** Symbols of one request. */
const SYMBOLS_MAX = 100

/** Requests for a channel. "snapshot" is said always: documents differ on what it is otherwise. */
function requestsFor(channel: object, snapshot: boolean): Pick<StreamProtocol, 'subscribe' | 'unsubscribe'> {
  return {
    subscribe: (symbols, id) => request('subscribe', { ...channel, snapshot }, symbols, id),
    unsubscribe: (symbols, id) => request('unsubscribe', channel, symbols, id),
  }
}

/** "bbo: on a change of the best bid or offer"; by default there is a message on trades only, with an old book. */
export const tickerRequests = requestsFor({ channel: 'ticker', event_trigger: 'bbo' }, true)
/** The snapshot would be the last 50 trades, of before the subscription. */
export const tradeRequests = requestsFor({ channel: 'trade' }, false)

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

/** Reads the data of a channel; `type` is snapshot or update. */
type ReadData = (data: readonly unknown[], type: unknown) => FrameEvent[]

/** Reads the frames of a WebSocket v2 connection that subscribes to one channel. */
export function parserOf(name: string, read: ReadData): (frame: string) => FrameEvent[] {
  return (frame) => fromObject(frame, (message) => readMessage(message, name, read))
}

export const parseTickers = parserOf('ticker', (data) => data.map((row) => factEvent(readTicker(row))))

function readMessage(message: Record<string, unknown>, name: string, read: ReadData): FrameEvent[] {
  const { channel, type, data, method } = message
  if (method !== undefined) return [readReply(message)]
  switch (channel) {
    case name:
      return Array.isArray(data) ? read(data, type) : [badField]
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
