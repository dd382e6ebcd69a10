import type { VenueTrade, FrameEvent, PageRow } from '../events.ts'
import {
  archivedTrade,
  isWhole,
  archivedMicros,
  badBody,
  badField,
  DECIMAL,
  DIGITS,
  isCount,
  isDecimal,
  isRecord,
  isSymbol,
  jsonOf,
  microsOf,
  NAME,
  notAnObject,
  notJson,
  offBook,
  pageRow,
  textOf,
  tradeEvent,
} from '../fields.ts'
import { type ArchiveRefusal, type TradeArchive, type Backfill, type RestAnswer, tradeStreamOf } from '../venue.ts'
import { FrameReader } from '../frame-reader.ts'
import { refusal, readControl, request } from './messages.ts'
import { listing } from './listing.ts'

/**
 * Binance's public data, aggregated trades of a day. "Each zip file has a .CHECKSUM file together in the same folder to
 * verify data integrity." The aggregates are those of the stream, ids included.
 */
export function aggTradesOf(folder: 'futures/um' | 'spot'): TradeArchive {
  return {
    path: (symbol, date) => `/data/${folder}/daily/aggTrades/${symbol}/${symbol}-aggTrades-${date}.zip`,
    checksumOf: (path) => `${path}.CHECKSUM`,
    begins: [0],
    read: readBinance,
  }
}

/**
 * Binance's daily files, by their number of columns and where the flag stands (README of its public data):
 * aggTrades `agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker[,is_best_match]`,
 * trades `id,price,qty,quote_qty,time,is_buyer_maker[,is_best_match]`. "Was the buyer the maker" means that the taker sold.
 * Times are milliseconds; "the timestamp for SPOT Data from January 1st 2025 onwards will be in microseconds".
 */
export function readBinance(columns: readonly string[], symbol: string): VenueTrade | ArchiveRefusal {
  if (columns.length < 6 || columns.length > 8) return 'bad-columns'
  if (!/^\d/.test(columns[0] ?? '')) return 'header'
  const isAggregate = flagOf(columns[5]) === undefined
  const [id, price, size] = columns
  const first = isAggregate ? columns[3] : '0'
  const last = isAggregate ? columns[4] : '0'
  const maker = flagOf(isAggregate ? columns[6] : columns[5])
  const time = archivedMicros(isAggregate ? columns[5] : columns[4])
  if (maker === undefined || time === undefined || !isWhole(first) || !isWhole(last)) return 'bad-field'
  const count = Number(last) - Number(first) + 1
  return archivedTrade({ symbol, id, count, price, size, taker: maker ? 'sell' : 'buy', time })
}

function flagOf(text: string | undefined): boolean | undefined {
  const flag = text?.trim().toLowerCase()
  return flag === 'true' ? true : flag === 'false' ? false : undefined
}

/**
 * Reads one frame of the USD-M market stream, raw or in the envelope of a combined stream; of the spot market too, whose
 * messages have their fields in another order.
 *
 * Source: USD-M futures, "Aggregate Trade Streams". Two paths, one rule: frames in the field order that the venue writes
 * are judged by a pattern and walked (half of the time that `JSON.parse` takes), all others in any order by way of JSON.
 */
export function parse(frame: string): FrameEvent[] {
  return [readAggTrade(frame) ?? readRawTrade(frame) ?? readJson(frame)]
}

const stream = '\\{"stream":"[\\w@!.]+","data":'
const whole = (message: string): RegExp => new RegExp(`^(?:${message}|${stream}${message}\\})$`)
const aggTradePattern = whole(
  `\\{"e":"aggTrade","E":${DIGITS},"a":${DIGITS},"s":"${NAME}","p":"${DECIMAL}","q":"${DECIMAL}"(?:,"nq":"[\\d.]*")?,` +
    `"f":${DIGITS},"l":${DIGITS},"T":${DIGITS},"m":(?:true|false)(?:,"st":${DIGITS})?\\}`,
)
const rawTradePattern = whole(
  `\\{"e":"trade","E":${DIGITS},"T":${DIGITS},"s":"${NAME}","t":${DIGITS},"p":"${DECIMAL}","q":"${DECIMAL}",` +
    `"X":"MARKET","m":(?:true|false)\\}`,
)
const reader = new FrameReader()

function readAggTrade(frame: string): FrameEvent | undefined {
  if (!reader.takes(aggTradePattern, frame)) return undefined
  passEnvelope()
  reader.number('{"e":"aggTrade","E":')
  const id = reader.number(',"a":')
  const symbol = reader.text(',"s":"')
  const price = reader.text('","p":"')
  const size = reader.text('","q":"')
  if (reader.sees('","nq":')) reader.passText('","nq":"')
  const first = reader.number('","f":')
  const last = reader.number(',"l":')
  const ms = reader.number(',"T":')
  return aggTrade(symbol, id, first, last, price, size, reader.either(',"m":', 'true', 'false'), ms)
}

function readRawTrade(frame: string): FrameEvent | undefined {
  if (!reader.takes(rawTradePattern, frame)) return undefined
  passEnvelope()
  reader.number('{"e":"trade","E":')
  const ms = reader.number(',"T":')
  const symbol = reader.text(',"s":"')
  const id = reader.number('","t":')
  const price = reader.text(',"p":"')
  const size = reader.text('","q":"')
  return rawTrade(symbol, id, price, size, reader.either('","X":"MARKET","m":', 'true', 'false'), ms)
}

function passEnvelope(): void {
  if (!reader.sees('{"stream"')) return
  reader.passText('{"stream":"')
  reader.pass('","data":')
}

function readJson(frame: string): FrameEvent {
  const value = jsonOf(frame)
  if (value === undefined) return notJson
  if (!isRecord(value)) return notAnObject
  if (value['stream'] === undefined) return readMessage(value)
  return isRecord(value['data']) ? readMessage(value['data'], value['stream']) : notAnObject
}

function readMessage(message: Record<string, unknown>, stream?: unknown): FrameEvent {
  const { e, s, a, t, p, q, f, l, T, m, X } = message
  switch (e) {
    case 'aggTrade':
      if (!isCount(a) || !isCount(f) || !isCount(l)) return badField
      if (!isSymbol(s) || !isDecimal(p) || !isDecimal(q) || typeof m !== 'boolean' || !isCount(T)) return badField
      return aggTrade(s, a, f, l, p, q, m, T)
    case 'trade':
      if (!isCount(t) || !isSymbol(s) || typeof m !== 'boolean' || !isCount(T)) return badField
      // Off-book rows may carry a price and size of 0.
      if (isOffBook(X)) return offBook
      if (!isDecimal(p) || !isDecimal(q)) return badField
      return rawTrade(s, t, p, q, m, T)
    // "The server will be shut down in about 10 minutes": raw, or as data of the stream `!serverShutdown`.
    default:
      return readControl(message, stream)
  }
}

/** `a` goes up by one per symbol; `f` to `l` are the fills merged into it, whose ids may have holes (off-book fills). */
function aggTrade(
  symbol: string,
  id: number,
  first: number,
  last: number,
  price: string,
  size: string,
  buyerIsMaker: boolean,
  ms: number,
): FrameEvent {
  if (!isCount(last)) return badField
  // "m": is the buyer the market maker? Then the taker sold. `q` counts retail price improvement, `nq` does not: REST
  // has no `nq`, so `q` it is.
  return tradeEvent(symbol, id, last - first + 1, null, price, size, buyerIsMaker ? 'sell' : 'buy', microsOf(ms))
}

function rawTrade(
  symbol: string,
  id: number,
  price: string,
  size: string,
  buyerIsMaker: boolean,
  ms: number,
): FrameEvent {
  return tradeEvent(symbol, id, 1, null, price, size, buyerIsMaker ? 'sell' : 'buy', microsOf(ms))
}

/** `X`: MARKET is the book. Liquidation fund, deleveraging and NA fills are none of it; frames before 2020 have no `X`. */
function isOffBook(execution: unknown): boolean {
  return ['INSURANCE_FUND', 'ADL', 'NA'].includes(textOf(execution))
}

/** "The maximum is 1000." */
export const PAGE_SIZE = 1000
/** "Only supports querying futures trade histories that are within 24 hours." */
const DEPTH_MS = 24 * 3_600_000
/** Weight of `aggTrades`. */
const COST = 20

/**
 * "fromId: ID to get aggregate trades from INCLUSIVE"; ascending. No times beside it: they must
 * not be mixed. "If fromId, startTime, and endTime are not sent, the most recent aggregate trades will be returned."
 */
const backfill: Backfill = {
  direction: 'forward',
  pageSize: PAGE_SIZE,
  depthMs: DEPTH_MS,
  page: (symbol, from, to) => ({
    path: `/fapi/v1/aggTrades?symbol=${encodeURIComponent(symbol)}&fromId=${from}&limit=${Math.min(PAGE_SIZE, to - from + 1)}`,
    cost: COST,
  }),
  newest: (symbol) => ({
    path: `/fapi/v1/aggTrades?symbol=${encodeURIComponent(symbol)}&limit=${PAGE_SIZE}`,
    cost: COST,
  }),
  parse: parsePage,
}

export function parsePage(symbol: string, body: unknown): RestAnswer<PageRow> {
  if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of aggregate trades')
  return { kind: 'rows', rows: body.map((row) => pageRow(symbol, readRow(symbol, row))) }
}

function readRow(symbol: string, row: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { a, p, q, f, l, T, m } = row
  if (!isCount(a) || !isCount(f) || !isCount(l) || !isCount(T)) return badField
  if (!isDecimal(p) || !isDecimal(q) || typeof m !== 'boolean') return badField
  return tradeEvent(symbol, a, l - f + 1, null, p, q, m ? 'sell' : 'buy', microsOf(T))
}

/** Binance USD-M perpetuals, aggregate trades. Evidence: README.md beside this file. */
export const trades = tradeStreamOf('binance', {
  // Aggregate ids go up by one per symbol.
  channels: ['aggTrade', 'trade'],
  socket: {
    // Since 2026-04-23 trades are pushed below /market only; any other path stays silent without an error.
    path: '/market/stream',
    copies: 1,
    // "A single connection is only valid for 24 hours."
    lifetimeMs: 24 * 3_600_000,
    silentAfterMs: 60_000,
    // "A maximum of 1024 streams on a single connection"; fewer keep a lost connection small.
    maxSymbolsPerConnection: 200,
    // "WebSocket connections have a limit of 10 incoming messages per second."
    minFrameSpacingMs: 200,
    // 300 connection attempts in 5 minutes per address.
    minConnectSpacingMs: 1_000,
  },
  request,
  parse,
  listing,
  backfill,
})
