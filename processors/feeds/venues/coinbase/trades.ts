import type { Micros } from '../../../../schemas/records.ts'
import type { FrameEvent } from '../events.ts'
import {
  badBody,
  badField,
  DECIMAL,
  DIGITS,
  fromObject,
  isCount,
  isDecimal,
  ISO_TIME,
  isRecord,
  isSymbol,
  microsOfIso,
  microsOfIsoAt,
  NAME,
  pageRow,
  textOf,
  tradeEvent,
  unknownEvent,
} from '../fields.ts'
import { FrameReader } from '../frame-reader.ts'
import { type Backfill, tradeStreamOf } from '../venue.ts'
import { listing } from './listing.ts'
import { readSubscriptions, refusal, subscribe, unsubscribe } from './messages.ts'

/**
 * Reads one frame of the Exchange feed.
 *
 * Source: Coinbase Exchange, "Matches channel", "Heartbeat channel". Frames in the field order that the venue writes are
 * read by a pattern, all others by way of JSON.
 */
function parse(frame: string): FrameEvent[] {
  const match = readMatch(frame)
  return match === undefined ? fromObject(frame, (message) => [readMessage(message)]) : [match]
}

const matchPattern = new RegExp(
  `^\\{"type":"match","trade_id":${DIGITS},"maker_order_id":"[\\w-]*","taker_order_id":"[\\w-]*",` +
    `"side":"(?:buy|sell)","size":"${DECIMAL}","price":"${DECIMAL}","product_id":"${NAME}",` +
    `"sequence":${DIGITS},"time":"${ISO_TIME}"\\}$`,
)
const reader = new FrameReader()

function readMatch(frame: string): FrameEvent | undefined {
  if (!reader.takes(matchPattern, frame)) return undefined
  const id = reader.number('{"type":"match","trade_id":')
  reader.passText(',"maker_order_id":"')
  reader.passText('","taker_order_id":"')
  const makerBuys = reader.either('","side":"', 'buy', 'sell')
  const size = reader.text('","size":"')
  const price = reader.text('","price":"')
  const symbol = reader.text('","product_id":"')
  const sequence = reader.number('","sequence":')
  const time = reader.read(',"time":"', microsOfIsoAt)
  return match(symbol, id, sequence, price, size, makerBuys, time)
}

function readMessage(message: Record<string, unknown>): FrameEvent {
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
function readRow(row: unknown, symbol: unknown): FrameEvent {
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

/** "limit: number of results per request. Maximum 1000." */
const PAGE_SIZE = 1000

/**
 * "after: request page after (older) this pagination id", newest first; the id is the trade id. `before` gives the
 * newest page, which leaves a hole, so we page backwards. The whole history is there.
 */
const backfill: Backfill = {
  direction: 'backward',
  pageSize: PAGE_SIZE,
  page: (symbol, _from, to) => ({
    path: `/products/${encodeURIComponent(symbol)}/trades?after=${to + 1}&limit=${PAGE_SIZE}`,
    cost: 1,
  }),
  newest: (symbol) => ({ path: `/products/${encodeURIComponent(symbol)}/trades?limit=${PAGE_SIZE}`, cost: 1 }),
  parse(symbol, body) {
    if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of trades')
    return { kind: 'rows', rows: body.map((row) => pageRow(readRow(row, symbol))) }
  },
}

/** Coinbase Exchange spot in US dollars, matches. Evidence: README.md beside this file. */
export const trades = tradeStreamOf('coinbase', {
  // Trade ids go up by one per product.
  channels: ['matches'],
  socket: {
    path: '/',
    copies: 1,
    // Heartbeats come once a second per product.
    silentAfterMs: 10_000,
    maxSymbolsPerConnection: 100,
    // 100 client messages a second; the first must come within 5 s of the connection.
    minFrameSpacingMs: 100,
    // 8 requests a second per address.
    minConnectSpacingMs: 500,
  },
  subscribe,
  unsubscribe,
  parse,
  listing,
  backfill,
})
