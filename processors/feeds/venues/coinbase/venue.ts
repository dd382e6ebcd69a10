import { candleOf, plain, refusedField, changeOf, factEvent, isSigned, tickerOf } from '../fact-fields.ts'
import {
  badBody,
  isCount,
  isDecimal,
  microsOf,
  fromObject,
  isRecord,
  isSymbol,
  microsOfIso,
  textOf,
  unknownEvent,
} from '../fields.ts'
import type { FactRow, FrameEvent } from '../events.ts'
import {
  newestCandles,
  type PastPages,
  type RestAnswer,
  type DataStream,
  tickersPoll,
  type TradeVenue,
} from '../venue.ts'
import { refusal, readSubscriptions, readError, readProgress, wholeMarket, requestsFor, trades } from './trades.ts'

/** "The maximum number of data points for a single request is 300": a longer time is refused. */
const PAGE_SIZE = 300
/** Minutes without a trade are not listed. */
const pastCandles: PastPages = {
  host: 'rest',
  pageSize: PAGE_SIZE,
  call(symbol, seconds, from, to) {
    const bounds = `start=${new Date(from / 1_000).toISOString()}&end=${new Date(to / 1_000 - 1).toISOString()}`
    return { path: `/products/${encodeURIComponent(symbol)}/candles?granularity=${seconds}&${bounds}`, cost: 1 }
  },
  parse(symbol, seconds, body, now) {
    if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of candles')
    const rows = body.toReversed().map((row: unknown) => readCandle(symbol, row, now - seconds * 1_000))
    return { kind: 'rows', rows: rows.filter((row) => row !== undefined) }
  },
}

/** "[time, low, high, open, close, volume]", newest first: low before high, in numbers, time in seconds. */
function readCandle(symbol: string, row: unknown, newest: number): FactRow | undefined {
  if (!Array.isArray(row)) return refusedField
  const [seconds, ...numbers]: unknown[] = row
  const [low, high, open, close, volume] = numbers.map(plain)
  const minute = isCount(seconds) ? microsOf(seconds * 1_000) : undefined
  if (minute !== undefined && minute / 1_000 > newest) return undefined
  return candleOf(symbol, minute, [open, high, low, close, volume])
}

/** Reads one frame of a connection that subscribes to `ticker` and `heartbeat`. */
function parseTickers(frame: string): FrameEvent[] {
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
function parseMarket(body: unknown): RestAnswer<FactRow> {
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

/** All products in dollars, among them USDT-USD. */
const tickers: DataStream = {
  name: 'spot-tickers',
  host: 'ws',
  topic: 'market.tickers',
  scope: { of: 'catalogue', market: 'spot' },
  socket: trades.socket,
  request: requestsFor('ticker'),
  parse: parseTickers,
}

/** Coinbase beside its trades: spot prices and candles of the markets that its trade adapter lists. Evidence: README.md. */
export const coinbase: TradeVenue = {
  name: 'coinbase',
  budgets: {
    rest: {
      // 10 requests a second per address, bursts to 15.
      capacity: 5,
      refillPerSecond: 8,
      // Requests without an agent are refused.
      headers: { 'User-Agent': 'market-data-alerts' },
    },
  },
  trades,
  listings: [],
  streams: [tickers],
  polls: [tickersPoll('SPOT', wholeMarket, parseMarket), newestCandles(pastCandles, 4)],
  candles: pastCandles,
  past: pastCandles,
}
