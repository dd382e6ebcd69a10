import {
  badField,
  DECIMAL,
  DIGITS,
  isCount,
  isDecimal,
  isRecord,
  isSymbol,
  jsonOf,
  ISO_TIME,
  microsOfIso,
  microsOfIsoAt,
  NAME,
  notAnObject,
  notJson,
  textOf,
  tradeEvent,
  unknownEvent,
} from '../fields.ts'
import type { Micros } from '../../../schemas/records.ts'
import type { FrameEvent } from '../venue.ts'
import { Walk } from '../walk.ts'
import { readSubscriptions } from './requests.ts'

/**
 * Reads one frame of the Exchange feed.
 *
 * Source: Coinbase Exchange, "Matches channel", "Heartbeat channel". Frames in the field order that the venue writes are
 * read by a pattern, all others by way of JSON.
 */
export function parse(frame: string): FrameEvent[] {
  return [readMatch(frame) ?? readJson(frame)]
}

const matchPattern = new RegExp(
  `^\\{"type":"match","trade_id":${DIGITS},"maker_order_id":"[\\w-]*","taker_order_id":"[\\w-]*",` +
    `"side":"(?:buy|sell)","size":"${DECIMAL}","price":"${DECIMAL}","product_id":"${NAME}",` +
    `"sequence":${DIGITS},"time":"${ISO_TIME}"\\}$`,
)
const walk = new Walk()

function readMatch(frame: string): FrameEvent | undefined {
  if (!walk.takes(matchPattern, frame)) return undefined
  const id = walk.number('{"type":"match","trade_id":')
  walk.passText(',"maker_order_id":"')
  walk.passText('","taker_order_id":"')
  const makerBuys = walk.either('","side":"', 'buy', 'sell')
  const size = walk.text('","size":"')
  const price = walk.text('","price":"')
  const symbol = walk.text('","product_id":"')
  const sequence = walk.number('","sequence":')
  const time = walk.read(',"time":"', microsOfIsoAt)
  return match(symbol, id, sequence, price, size, makerBuys, time)
}

function readJson(frame: string): FrameEvent {
  const message = jsonOf(frame)
  if (message === undefined) return notJson
  if (!isRecord(message)) return notAnObject
  switch (message['type']) {
    case 'match':
      return readRow(message, message['product_id'])
    // The newest trade before the subscription, and once a second how far the product has come: what the last id must be.
    case 'last_match':
      return readProgress(message, message['trade_id'])
    case 'heartbeat':
      return readProgress(message, message['last_trade_id'])
    case 'subscriptions':
      return readSubscriptions(message)
    case 'error':
      return readError(message)
    default:
      return unknownEvent
  }
}

/** Also the row of a REST page, which has neither product nor sequence. */
export function readRow(row: unknown, symbol: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { trade_id, side, size, price, sequence = null, time } = row
  if (!isSymbol(symbol) || !isCount(trade_id) || typeof time !== 'string') return badField
  if (!isDecimal(size) || !isDecimal(price) || (side !== 'buy' && side !== 'sell')) return badField
  if (sequence !== null && !isCount(sequence)) return badField
  return match(symbol, trade_id, sequence, price, size, side === 'buy', microsOfIso(time))
}

/** `sequence` counts all events of the product's book, so it has holes between matches; `trade_id` has none. */
function match(
  symbol: string,
  id: number,
  sequence: number | null,
  price: string,
  size: string,
  makerBuys: boolean,
  time: Micros | undefined,
): FrameEvent {
  // "The side field indicates the maker order side": the taker did the opposite.
  return tradeEvent(symbol, id, 1, sequence, price, size, makerBuys ? 'sell' : 'buy', time)
}

export function readProgress(message: Record<string, unknown>, lastId: unknown): FrameEvent {
  const symbol = message['product_id']
  return isSymbol(symbol) && isCount(lastId) ? { kind: 'heartbeat', symbol, lastId } : badField
}

/** `{"type":"error","message":"Failed to subscribe","reason":"NOT-USD is not a valid product"}` */
export function readError(message: Record<string, unknown>): FrameEvent {
  const said = `${textOf(message['message'])}: ${textOf(message['reason'])}`
  const symbol = /([A-Z0-9]+-[A-Z0-9]+) is not/.exec(said)?.[1]
  return { kind: 'rejected', symbols: symbol === undefined ? null : [symbol], id: null, message: said }
}
