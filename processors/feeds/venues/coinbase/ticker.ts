import { changeOf, factEvent, isSigned, refusedField, tickerOf } from '../fact-fields.ts'
import { badBody, fromObject, isDecimal, isRecord, isSymbol, microsOfIso, textOf, unknownEvent } from '../fields.ts'
import type { FactRow, FrameEvent } from '../events.ts'
import type { RestAnswer } from '../venue.ts'
import { readSubscriptions, refusal } from './messages.ts'
import { readError, readProgress } from './trades.ts'

/** Reads one frame of a connection that subscribes to `ticker` and `heartbeat`. */
export function parseTickers(frame: string): FrameEvent[] {
  return fromObject(frame, readMessage)
}

function readMessage(message: Record<string, unknown>): FrameEvent[] {
  switch (message['type']) {
    case 'ticker':
      return [factEvent(readTicker(message))]
    case 'heartbeat':
      return [readProgress(message, message['last_trade_id'])]
    case 'subscriptions':
      return [readSubscriptions(message, 'ticker')]
    case 'error':
      return [readError(message)]
    default:
      return [unknownEvent]
  }
}

/** "Real-time price updates every time a match happens"; `open_24h` is the price of 24 hours ago. */
function readTicker(message: Record<string, unknown>): FactRow {
  const { product_id, price: last, open_24h, volume_24h: volume24h, best_bid: bid, best_ask: ask } = message
  const time = microsOfIso(textOf(message['time']))
  if (!isSymbol(product_id) || !isDecimal(last) || time === undefined) return refusedField
  return tickerOf(product_id, time, { bid, ask, last, change24h: changeOf(open_24h, last), volume24h })
}

/**
 * The whole market over the retail interface: last prices, without a time and without the top of the book, so that none
 * of before may stand beside them. Products in other currencies are not ours.
 */
export function parseMarket(body: unknown): RestAnswer<FactRow> {
  const products = isRecord(body) ? body['products'] : undefined
  if (!Array.isArray(products)) return refusal(body) ?? badBody('products')
  return { kind: 'rows', rows: products.map(readProduct).filter((row) => row !== undefined) }
}

function readProduct(row: unknown): FactRow | undefined {
  if (!isRecord(row)) return refusedField
  const { product_id, quote_currency_id, price: last, price_percentage_change_24h: change } = row
  if (quote_currency_id !== 'USD') return undefined
  if (!isSymbol(product_id) || !isDecimal(last)) return refusedField
  const change24h = isSigned(change) ? Number(change) : null
  return tickerOf(product_id, null, { bid: null, ask: null, last, change24h, volume24h: row['volume_24h'] })
}
