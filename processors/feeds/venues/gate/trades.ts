import type { FrameEvent } from '../events.ts'
import {
  badBody,
  fromObject,
  isCount,
  isRecord,
  textOf,
  unknownEvent,
  isDecimal,
  isSymbol,
  scaledBase,
  badField,
  microsOf,
  microsOfSeconds,
  offBook,
  pageRow,
  tradeEvent,
} from '../fields.ts'
import {
  type RestAnswer,
  type Listed,
  type ListedPrice,
  type Listing,
  type MakeRequest,
  newestOnly,
  tradeStreamOf,
} from '../venue.ts'
import { productOf } from '../decimal.ts'
import { plain } from '../fact-fields.ts'

const CHANNEL = 'futures.trades'
/**
 * "time: request time in seconds": nothing here has a clock, and public channels are not signed, so it is any.
 * "id: optional request id which will be sent back by the server".
 */
const TIME = 1_700_000_000

const PING = JSON.stringify({ time: TIME, channel: 'futures.ping' })

/** "payload: list of contract names". */
const request: MakeRequest = (event, symbols, id) =>
  symbols.length === 0 ? [] : [JSON.stringify({ time: TIME, id, channel: CHANNEL, event, payload: symbols })]

/** Reads the frames of a connection that subscribes to trades; `read` its data. */
function parserOf(read: (result: unknown) => FrameEvent[]): (frame: string) => FrameEvent[] {
  return (frame) =>
    fromObject(frame, (message) => {
      const { channel, event, result } = message
      if (channel === 'futures.pong') return [{ kind: 'pong' }]
      if (channel !== CHANNEL) return [unknownEvent]
      return event === 'update' ? read(result) : [readReply(message)]
    })
}

/** `"result":{"status":"success"}`, or `"error":{"code":2,"message":"unknown contract FOO_USDT"}`; one per request. */
function readReply({ event, error, id: echoed }: Record<string, unknown>): FrameEvent {
  const id = isCount(echoed) ? echoed : null
  if (event !== 'subscribe' && event !== 'unsubscribe') return unknownEvent
  if (!isRecord(error)) return { kind: event === 'subscribe' ? 'subscribed' : 'unsubscribed', symbols: null, id }
  const message = textOf(error['message'])
  const symbol = /unknown contract (\S+)/.exec(message)?.[1]
  return { kind: 'rejected', symbols: symbol === undefined ? null : [symbol], id, message }
}

/** What the rows of an answer are; `{"label":"INVALID_PARAM_VALUE","message":".."}` is a refusal. */
export function rowsOf<Row>(body: unknown, read: (row: unknown) => readonly Row[]): RestAnswer<Row> {
  if (Array.isArray(body)) return { kind: 'rows', rows: body.flatMap((row) => read(row)) }
  const label = isRecord(body) ? textOf(body['label']) : ''
  if (!isRecord(body) || label === '') return badBody('an array')
  if (label === 'TOO_MANY_REQUESTS') return { kind: 'limited' }
  return { kind: 'error', code: label, message: textOf(body['message']) }
}

/**
 * Contract sizes that adapters agreed on in 2026. A wrong one would be a wrong volume, so the others wait for the venue's
 * list.
 */
const seed: readonly Listed[] = [
  listed('BTC_USDT', 'BTC', '0.0001', null, true),
  listed('ETH_USDT', 'ETH', '0.01', null, true),
]

/** USDT perpetuals of coins, with their contract sizes. */
export const listing: Listing = {
  first: { path: '/api/v4/futures/usdt/contracts', cost: 1 },
  parse: (body) => rowsOf(body, readContract),
  seed,
  /** For tools without a venue: only the seeds, since a contract's size does not follow from its symbol. */
  fromSymbol: (symbol) => seed.find((row) => row.symbol === symbol),
  prices: { first: { path: '/api/v4/futures/usdt/tickers', cost: 1 }, parse: (body) => rowsOf(body, readPrice) },
}

/** One contract is `quanto_multiplier` of the base: of 1000 coins where the name says so. */
function listed(symbol: string, ticker: string, multiplier: string, tick: number | null, live: boolean): Listed {
  const { base, factor } = scaledBase(ticker)
  const sizeFactor = productOf(multiplier, String(factor))
  return { symbol, base, quote: 'USDT', settle: 'USDT', sizeFactor, priceFactor: factor, tick, live }
}

/** `type` direct is linear; `contract_type` is empty for coins: stocks, metals and the like have others. */
function readContract(row: unknown): Listed[] {
  if (!isRecord(row) || (row['type'] !== undefined && row['type'] !== 'direct')) return []
  const { name, contract_type: kind = '', status = 'trading', in_delisting, is_pre_market } = row
  const multiplier = plain(row['quanto_multiplier'])
  const tick = plain(row['order_price_round'])
  const ticker = isSymbol(name) ? /^([^_]+)_USDT$/.exec(name)?.[1] : undefined
  if (!isSymbol(name) || ticker === undefined || !isDecimal(multiplier)) return []
  if (kind !== '' && kind !== 'crypto') return []
  const live = status === 'trading' && in_delisting !== true && is_pre_market !== true
  return [listed(name, ticker, multiplier, isDecimal(tick) ? Number(tick) : null, live)]
}

function readPrice(row: unknown): ListedPrice[] {
  if (!isRecord(row) || !isSymbol(row['contract'])) return []
  const last = plain(row['last'])
  return isDecimal(last) ? [{ symbol: row['contract'], price: Number(last) }] : []
}

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
const backfill = newestOnly(
  PAGE_SIZE,
  (symbol) => ({
    path: `/api/v4/futures/usdt/trades?contract=${encodeURIComponent(symbol)}&limit=${PAGE_SIZE}`,
    cost: 1,
  }),
  (symbol, body) => rowsOf(body, (row) => [pageRow(symbol, readRow(row))]),
)

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
  request,
  parse,
  listing,
  backfill,
})
