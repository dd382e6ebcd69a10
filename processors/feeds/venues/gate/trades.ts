import type { FrameEvent } from '../events.ts'
import { plain } from '../fact-fields.ts'
import {
  badField,
  isCount,
  isDecimal,
  isRecord,
  isSymbol,
  microsOf,
  microsOfSeconds,
  offBook,
  pageRow,
  tradeEvent,
} from '../fields.ts'
import { type Backfill, type RestCall, tradeStreamOf } from '../venue.ts'
import { listing } from './listing.ts'
import { parserOf, PING, rowsOf, subscribe, unsubscribe } from './messages.ts'

/**
 * Reads one frame of `futures.trades`, whose `result` is a list of trades.
 *
 * Source: Futures WebSocket v4, "Trades API": "size: number of contracts traded, positive for a taker's buy", "is_internal:
 * whether it is an internal trade: the takeover of liquidation orders by the insurance fund and ADL users", which is not
 * the book's.
 */
const parse = parserOf((result) => (Array.isArray(result) ? result.map(readRow) : [badField]))

/** Also the row of a REST page: the same fields, but for the unit of the time. */
function readRow(row: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { contract, id, create_time_ms: time, is_internal } = row
  const size = plain(row['size'])
  const price = plain(row['price'])
  if (!isSymbol(contract) || !isCount(id) || typeof size !== 'string' || !isDecimal(price)) return badField
  const sells = size.startsWith('-')
  const contracts = sells ? size.slice(1) : size
  if (!isDecimal(contracts) || (is_internal !== undefined && typeof is_internal !== 'boolean')) return badField
  // Milliseconds on the stream, seconds with decimals over REST.
  const at = isCount(time) && time > SECONDS_MAX ? microsOf(time) : microsOfSeconds(time)
  const event = tradeEvent(contract, id, 1, null, price, contracts, sells ? 'sell' : 'buy', at)
  return is_internal === true && event.kind === 'trade' ? offBook : event
}

const SECONDS_MAX = 10_000_000_000

/** "limit: maximum number of records to be returned in a single list", 1000; newest first. */
const PAGE_SIZE = 1000

/**
 * Ids go up by one in what is recorded, but internal trades take ids too and no document promises it, and older pages are
 * to be had by times of whole seconds alone: so the newest page is compared by id.
 */
const backfill: Backfill = {
  direction: 'newest',
  pageSize: PAGE_SIZE,
  page: newest,
  newest,
  parse: (symbol, body) => rowsOf(body, (row) => [pageRow(ofSymbol(symbol, readRow(row)))]),
}

function newest(symbol: string): RestCall {
  return {
    path: `/api/v4/futures/usdt/trades?contract=${encodeURIComponent(symbol)}&limit=${PAGE_SIZE}`,
    cost: 1,
  }
}

function ofSymbol(symbol: string, event: FrameEvent): FrameEvent {
  return event.kind === 'trade' && event.trade.symbol !== symbol ? badField : event
}

/** Gate USDT perpetuals. Evidence: README.md beside this file. */
export const trades = tradeStreamOf('gate', {
  channels: ['futures.trades'],
  socket: {
    path: '/v4/ws/usdt',
    // REST reaches back 1000 trades only, so what one connection loses the other must have.
    copies: 2,
    ping: { everyMs: 20_000, frame: PING, onlyWhenQuiet: false },
    silentAfterMs: 60_000,
    maxSymbolsPerConnection: 100,
    minFrameSpacingMs: 100,
    // At most 300 connections per address.
    minConnectSpacingMs: 1_000,
  },
  subscribe,
  unsubscribe,
  parse,
  listing,
  backfill,
})
