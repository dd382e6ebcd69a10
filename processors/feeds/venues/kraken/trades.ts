import type { FactRow, FrameEvent } from '../events.ts'
import { alive, factEvent, plain, refusedField, tickerOf, pricesOf } from '../fact-fields.ts'
import { type MakeRequest, spotPair, type Listed, type Listing, type Backfill, tradeStreamOf } from '../venue.ts'
import {
  badField,
  fromObject,
  isCount,
  isRecord,
  isSymbol,
  microsOfIso,
  textOf,
  unknownEvent,
  isDecimal,
  microsOfSeconds,
  pageRow,
  tradeEvent,
} from '../fields.ts'
import { parseMarket, refusal, resultOf, symbolOf, TICKERS, pairOf } from './market.ts'

/** Symbols of one request. */
const SYMBOLS_MAX = 100

/** Requests for a channel. "snapshot" is said always: documents differ on what it is otherwise. */
function requestsFor(channel: object, snapshot: boolean): MakeRequest {
  return (op, symbols, id) => requests(op, { ...channel, ...(op === 'subscribe' && { snapshot }) }, symbols, id)
}

/** "bbo: on a change of the best bid or offer"; by default there is a message on trades only, with an old book. */
export const tickerRequest = requestsFor({ channel: 'ticker', event_trigger: 'bbo' }, true)
/** The snapshot would be the last 50 trades, of before the subscription. */
const tradeRequest = requestsFor({ channel: 'trade' }, false)

function requests(method: string, params: object, symbols: readonly string[], id: number): string[] {
  if (symbols.length === 0) return []
  const symbol = symbols.slice(0, SYMBOLS_MAX)
  const frame = JSON.stringify({ method, params: { ...params, symbol }, req_id: id })
  return [frame, ...requests(method, params, symbols.slice(SYMBOLS_MAX), id)]
}

/**
 * One answer per symbol; `{"method":"subscribe","success":false,"error":"Currency pair not supported FOO/USD",..}`. Who asks
 * twice is told "Already subscribed", as an error too.
 */
function readReply(message: Record<string, unknown>): FrameEvent {
  const { method, success, result, error, req_id } = message
  if (method === 'pong') return { kind: 'pong' }
  if (method !== 'subscribe' && method !== 'unsubscribe') return unknownEvent
  const id = isCount(req_id) ? req_id : null
  const symbol = isRecord(result) ? result['symbol'] : message['symbol']
  const symbols = isSymbol(symbol) ? [symbol] : null
  const isTaken = success === true || error === 'Already subscribed'
  if (success === false && (symbols === null || !isTaken))
    return { kind: 'rejected', symbols, id, message: textOf(error), ...(symbols !== null && { alone: true }) }
  if (!isTaken || symbols === null) return unknownEvent
  return { kind: method === 'subscribe' ? 'subscribed' : 'unsubscribed', symbols, id }
}

/** Reads the data of a channel; `type` is snapshot or update. */
type ReadData = (data: readonly unknown[], type: unknown) => FrameEvent[]

/** Reads the frames of a WebSocket v2 connection that subscribes to one channel. */
function parserOf(name: string, read: ReadData): (frame: string) => FrameEvent[] {
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

/** Spot pairs in US dollars, USDT/USD and USDC/USD among them. */
export const listing: Listing = {
  first: { path: '/0/public/AssetPairs', cost: 1 },
  parse(body) {
    const result = resultOf(body)
    if (result === undefined) return refusal(body)
    return { kind: 'rows', rows: Object.values(result).flatMap(readPair) }
  },
  seed: 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB TON TRX LTC USDT USDC'
    .split(' ')
    .map((base) => listed(base, null, true)),
  fromSymbol(symbol) {
    const base = /^([^/]+)\/USD$/.exec(symbol)?.[1]
    return base === undefined ? undefined : listed(base, null, true)
  },
  prices: { first: { path: TICKERS, cost: 1 }, parse: (body) => pricesOf(parseMarket(body)) },
}

function listed(base: string, tick: number | null, live: boolean): Listed {
  return spotPair(`${base}/USD`, base, 'USD', tick, live)
}

/** `wsname` is XBT/USD; `base` and `quote` have letters before them (XXBT, ZUSD). Tokenised shares are another class. */
function readPair(row: unknown): Listed[] {
  if (!isRecord(row) || !isSymbol(row['wsname'])) return []
  const { wsname, status, tick_size, aclass_base = 'currency' } = row
  const [base, quote, more] = symbolOf(wsname).split('/')
  if (base === undefined || base === '' || quote !== 'USD' || more !== undefined || aclass_base !== 'currency')
    return []
  return [listed(base, isDecimal(tick_size) ? Number(tick_size) : null, status === 'online')]
}

/**
 * Reads one frame of the `trade` channel. A snapshot, which is not asked for, is of trades before the subscription: it
 * says how far the ids have come.
 *
 * Source: WebSocket v2, "Trades": "side: side of the taker order", "qty: size of the trade", "trade_id: the trade
 * identifier is a sequence number, unique per book". Numbers are JSON numbers.
 */
const parse = parserOf('trade', (data, type) => {
  const events = data.map(readRow)
  return type === 'snapshot' ? events.map(asProgress) : events
})

function asProgress(event: FrameEvent): FrameEvent {
  return event.kind === 'trade' ? { kind: 'heartbeat', symbol: event.trade.symbol, lastId: event.trade.id } : event
}

function readRow(row: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { symbol, side, trade_id, timestamp } = row
  const [price, size] = [plain(row['price']), plain(row['qty'])]
  if (!isSymbol(symbol) || !isCount(trade_id) || typeof timestamp !== 'string') return badField
  if (!isDecimal(price) || !isDecimal(size) || (side !== 'buy' && side !== 'sell')) return badField
  return tradeEvent(symbol, trade_id, 1, null, price, size, side, microsOfIso(timestamp))
}

/** "count: return specific number of trades, up to 1000. Default 1000." */
const PAGE_SIZE = 1000

/**
 * "since: return trade data since given timestamp", in nanoseconds and exclusive, so one less is asked for; ascending.
 * The whole history is there, by time alone.
 */
const backfill: Backfill = {
  direction: 'since',
  pageSize: PAGE_SIZE,
  page: (symbol, _from, _to, since) => ({
    path: `/0/public/Trades?pair=${encodeURIComponent(pairOf(symbol))}&since=${since - 1}999&count=${PAGE_SIZE}`,
    cost: 1,
  }),
  newest: (symbol) => ({
    path: `/0/public/Trades?pair=${encodeURIComponent(pairOf(symbol))}&count=${PAGE_SIZE}`,
    cost: 1,
  }),
  parse(symbol, body) {
    const result = resultOf(body)
    if (result === undefined) return refusal(body)
    // Under the venue's own name of the pair, beside "last".
    const list = Object.values(result).find(Array.isArray) ?? []
    return { kind: 'rows', rows: list.map((row: unknown) => pageRow(symbol, readPageRow(symbol, row))) }
  },
}

/** "[price, volume, time, buy/sell, market/limit, miscellaneous, trade_id]", time in seconds. */
function readPageRow(symbol: string, row: unknown): FrameEvent {
  if (!Array.isArray(row)) return badField
  const [price, size, seconds, side, , , id]: unknown[] = row
  if (!isDecimal(price) || !isDecimal(size) || (side !== 'b' && side !== 's') || !isCount(id)) return badField
  return tradeEvent(symbol, id, 1, null, price, size, side === 'b' ? 'buy' : 'sell', microsOfSeconds(seconds))
}

/** Kraken spot in US dollars. Evidence: README.md beside this file. */
export const trades = tradeStreamOf('kraken', {
  // Trade ids go up by one per pair.
  channels: ['trade'],
  socket: {
    path: '/v2',
    copies: 1,
    // Without a request of ours in about a minute the venue closes the connection, whatever it sends.
    ping: { everyMs: 30_000, frame: '{"method":"ping"}', onlyWhenQuiet: false },
    // Heartbeats come about once a second.
    silentAfterMs: 10_000,
    // One request holds a hundred.
    maxSymbolsPerConnection: 100,
    minFrameSpacingMs: 250,
    // "No faster than every 5 seconds" after maintenance; 150 attempts in 10 minutes per address.
    minConnectSpacingMs: 5_000,
  },
  request: tradeRequest,
  parse,
  listing,
  backfill,
})
