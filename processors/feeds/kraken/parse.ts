import { alive, factEvent, plain, refusedField, tickerOf } from '../fact-fields.ts'
import { badField, isRecord, isSymbol, jsonOf, microsOfIso, notAnObject, notJson, unknownEvent } from '../fields.ts'
import type { FactRow } from '../source.ts'
import type { FrameEvent } from '../venue.ts'
import { readReply } from './requests.ts'

/** Reads one frame of a WebSocket v2 connection that subscribes to `ticker`. */
export function parse(frame: string): FrameEvent[] {
  const message = jsonOf(frame)
  if (message === undefined) return [notJson]
  if (!isRecord(message)) return [notAnObject]
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
