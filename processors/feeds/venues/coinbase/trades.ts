import type { Micros } from '../../../../schemas/records.ts'
import type { FrameEvent } from '../events.ts'
import {
  isRecord,
  isSymbol,
  textOf,
  unknownEvent,
  badBody,
  isDecimal,
  badField,
  DECIMAL,
  DIGITS,
  fromObject,
  isCount,
  ISO_TIME,
  microsOfIso,
  microsOfIsoAt,
  NAME,
  pageRow,
  tradeEvent,
} from '../fields.ts'
import {
  type RestAnswer,
  spotPair,
  type Listed,
  type ListedPrice,
  type Listing,
  type MakeRequest,
  type RestCall,
  type Backfill,
  tradeStreamOf,
} from '../venue.ts'
import { FrameReader } from '../frame-reader.ts'

/**
 * Requests for a channel. Heartbeats come with it: they prove that a quiet product has lost nothing. Requests have no
 * number here.
 */
export function requestsFor(channel: string): MakeRequest {
  return (type, symbols) => {
    const channels = [channel, 'heartbeat'].map((name) => ({ name, product_ids: symbols }))
    return symbols.length === 0 ? [] : [JSON.stringify({ type, channels })]
  }
}

/** The answer to either request lists everything that is subscribed from then on. */
export function readSubscriptions(message: Record<string, unknown>, name = 'matches'): FrameEvent {
  const { channels } = message
  if (!Array.isArray(channels)) return unknownEvent
  const ours: unknown = channels.find((channel) => isRecord(channel) && channel['name'] === name)
  const products = isRecord(ours) ? ours['product_ids'] : []
  if (!Array.isArray(products) || !products.every(isSymbol)) return unknownEvent
  return { kind: 'subscribed', symbols: products, id: null, whole: true }
}

/** `{"message":"NotFound"}`; a refusal for the rate says so in words. */
export function refusal(body: unknown): RestAnswer<never> | undefined {
  if (!isRecord(body) || typeof body['message'] !== 'string') return undefined
  const message = textOf(body['message'])
  if (/rate limit/i.test(message)) return { kind: 'limited' }
  return { kind: 'error', code: message.slice(0, 40), message }
}

/** `size` is in base units, `price` in dollars for one. */
function listed(symbol: string, base: string, tick: number | null, live: boolean): Listed {
  return spotPair(symbol, base, 'USD', tick, live)
}

/** For tools without a venue: live and without a tick. */
function fromSymbol(symbol: string): Listed | undefined {
  const base = /^([^-]+)-USD$/.exec(symbol)?.[1]
  return base === undefined ? undefined : listed(symbol, base, null, true)
}

const tickers = 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB TON LTC USDT'

/** The known assets as the venue listed them in August 2026: TON under its old name, TRX not at all. */
const seed: readonly Listed[] = tickers.split(' ').map((base) => listed(`${base}-USD`, base, null, true))

/** Exchange has no call that prices all products; the retail interface has, without a key, on its own host. */
export const wholeMarket: RestCall = {
  path: '/api/v3/brokerage/market/products?product_type=SPOT',
  cost: 1,
  base: 'https://api.coinbase.com',
}

/** Spot products in US dollars. BTC-USDC is an alias of BTC-USD (one book): it would count the same trades twice. */
const listing: Listing = {
  first: { path: '/products', cost: 1 },
  parse(body) {
    if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of products')
    return { kind: 'rows', rows: body.map(readProduct).filter((row) => row !== undefined) }
  },
  seed,
  fromSymbol,
  prices: {
    first: wholeMarket,
    parse: readPrices,
  },
}

function readProduct(row: unknown): Listed | undefined {
  if (!isRecord(row)) return undefined
  const { id, base_currency, quote_currency, quote_increment, status, trading_disabled } = row
  if (!isSymbol(id) || !isSymbol(base_currency) || quote_currency !== 'USD') return undefined
  const tick = isDecimal(quote_increment) ? Number(quote_increment) : null
  return listed(id, base_currency, tick, status === 'online' && trading_disabled !== true)
}

function readPrices(body: unknown): RestAnswer<ListedPrice> {
  const products = isRecord(body) ? body['products'] : undefined
  if (!Array.isArray(products)) return refusal(body) ?? badBody('products')
  return { kind: 'rows', rows: products.map(readPrice).filter((row) => row !== undefined) }
}

function readPrice(row: unknown): ListedPrice | undefined {
  if (!isRecord(row) || !isSymbol(row['product_id']) || !isDecimal(row['price'])) return undefined
  return { symbol: row['product_id'], price: Number(row['price']) }
}

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
  const reason = `${textOf(message['message'])}: ${textOf(message['reason'])}`
  const symbol = /([A-Z0-9]+-[A-Z0-9]+) is not/.exec(reason)?.[1]
  return { kind: 'rejected', symbols: symbol === undefined ? null : [symbol], id: null, message: reason }
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
    return { kind: 'rows', rows: body.map((row) => pageRow(symbol, readRow(row, symbol))) }
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
  request: requestsFor('matches'),
  parse,
  listing,
  backfill,
})
