import type { FrameEvent } from '../events.ts'
import {
  badBody,
  fromObject,
  isRecord,
  isSymbol,
  textOf,
  unknownEvent,
  isDecimal,
  scaledMarket,
  badField,
  countOf,
  microsOf,
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

const instType = 'USDT-FUTURES'
const channel = 'trade'

/** Requests have no number here; each symbol is answered by itself. */
const request: MakeRequest = (op, symbols) => {
  const args = symbols.map((instId) => ({ instType, channel, instId }))
  return symbols.length === 0 ? [] : [JSON.stringify({ op, args })]
}

/** Reads the data of a symbol; `action` is snapshot or update. */
type ReadData = (symbol: string, data: readonly unknown[], action: unknown) => FrameEvent[]

/** Reads the frames of a connection that subscribes to trades. */
function parserOf(read: ReadData): (frame: string) => FrameEvent[] {
  return (frame) => {
    // "Expect a 'pong' as response."
    if (frame === 'pong') return [{ kind: 'pong' }]
    return fromObject(frame, (message) => {
      const { event, arg, data, action } = message
      const symbol = isRecord(arg) ? arg['instId'] : undefined
      if (event !== undefined) return [readReply(message, isSymbol(symbol) ? symbol : undefined)]
      if (!isRecord(arg) || arg['channel'] !== channel || !isSymbol(symbol)) return [unknownEvent]
      return Array.isArray(data) ? read(symbol, data, action) : [unknownEvent]
    })
  }
}

/** `{"event":"subscribe","arg":{..}}`, or `{"event":"error","arg":{..},"code":30001,"msg":".. doesn't exist"}`. */
function readReply({ event, msg }: Record<string, unknown>, symbol: string | undefined): FrameEvent {
  const symbols = symbol === undefined ? null : [symbol]
  if (event === 'error') return { kind: 'rejected', symbols, id: null, message: textOf(msg) }
  if (symbols === null) return unknownEvent
  if (event === 'subscribe') return { kind: 'subscribed', symbols, id: null }
  return event === 'unsubscribe' ? { kind: 'unsubscribed', symbols, id: null } : unknownEvent
}

/** 40010: "Request timed out"; 40015: "System is abnormal, please try again later"; 40200: "Server upgrade, please try again later". */
const forNow: ReadonlySet<string> = new Set(['40010', '40015', '40200'])

/** The rows of `{"code":"00000","msg":"success","requestTime":..,"data":[..]}`; 429 is "too many requests". */
export function rowsOf<Row>(body: unknown, read: (row: unknown) => readonly Row[]): RestAnswer<Row> {
  if (!isRecord(body) || typeof body['code'] !== 'string') return badBody('a code')
  const { code, msg, data } = body
  if (code === '429' || code === '30007') return { kind: 'limited' }
  if (forNow.has(code)) return { kind: 'failed', message: `${code} ${textOf(msg)}` }
  if (code !== '00000') return { kind: 'error', code, message: textOf(msg) }
  return Array.isArray(data) ? { kind: 'rows', rows: data.flatMap((row) => read(row)) } : badBody('data')
}

/** Sizes are in the base coin; of a multiplied symbol (1000BONKUSDT) in 1000 of them. */
function listed(ticker: string, tick: number | null, live: boolean): Listed {
  return scaledMarket(`${ticker}USDT`, ticker, tick, live)
}

/** The known assets under the names that Binance has for them, as adapters wrote them in 2026: PEPE and SHIB plain. */
const tickers = 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB TRX LTC'

/** USDT perpetuals of `contracts`. "symbolType: perpetual, delivery"; "symbolStatus: normal, maintain, limit_open, .., off". */
const listing: Listing = {
  first: { path: '/api/v2/mix/market/contracts?productType=USDT-FUTURES', cost: 1 },
  parse: (body) => rowsOf(body, readContract),
  seed: tickers.split(' ').map((ticker) => listed(ticker, null, true)),
  fromSymbol(symbol) {
    const ticker = /^(\w+)USDT$/.exec(symbol)?.[1]
    return ticker === undefined ? undefined : listed(ticker, null, true)
  },
  prices: {
    first: { path: '/api/v2/mix/market/tickers?productType=USDT-FUTURES', cost: 1 },
    parse: (body) => rowsOf(body, readPrice),
  },
}

/** "pricePlace: price scale precision; priceEndStep: price step length": 5 at 1 place is a tick of 0.5. */
function readContract(row: unknown): Listed[] {
  if (!isRecord(row) || row['symbolType'] !== 'perpetual' || row['quoteCoin'] !== 'USDT') return []
  const { symbol, baseCoin, symbolStatus, pricePlace, priceEndStep, isRwa } = row
  // "isRwa: YES" are shares and the like.
  if (!isSymbol(baseCoin) || symbol !== `${baseCoin}USDT` || isRwa === 'YES') return []
  const tick =
    isDecimal(priceEndStep) && typeof pricePlace === 'string' ? Number(`${priceEndStep}e-${pricePlace}`) : NaN
  return [listed(baseCoin, Number.isFinite(tick) ? tick : null, symbolStatus === 'normal')]
}

function readPrice(row: unknown): ListedPrice[] {
  if (!isRecord(row) || !isSymbol(row['symbol']) || !isDecimal(row['lastPr'])) return []
  return [{ symbol: row['symbol'], price: Number(row['lastPr']) }]
}

/**
 * Reads one frame of the `trade` channel. A snapshot is of trades before the subscription: none of ours, and what a lost
 * connection missed the newest page of REST has too.
 *
 * Source: Contract, WebSocket, "Public Trade Channel": "ts: fill time", "price: filled price", "size: filled amount",
 * "side: filled side, sell/buy", "tradeId". That the side is the taker's is how adapters read it.
 */
const parse = parserOf((symbol, data, action) => (action === 'snapshot' ? [] : data.map((row) => readRow(row, symbol))))

/** Also the row of a REST page, which says the symbol too, and its side with or without a capital. */
function readRow(row: unknown, of: string): FrameEvent {
  if (!isRecord(row)) return badField
  const { ts, price, size, tradeId, symbol = of } = row
  const id = idOf(tradeId)
  const ms = countOf(ts)
  const side = textOf(row['side']).toLowerCase()
  if (symbol !== of || id === undefined || ms === undefined || !isDecimal(price) || !isDecimal(size)) return badField
  if (side !== 'buy' && side !== 'sell') return badField
  return tradeEvent(of, id, 1, null, price, size, side, microsOf(ms))
}

/** Ids have 19 digits: the low 52 bits of it, which two trades of one 10 s bucket do not share. */
function idOf(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^\d{1,19}$/.test(text)) return undefined
  return Number(BigInt.asUintN(52, BigInt(text)))
}

/** "limit: default 500, maximum 1000". */
const PAGE_SIZE = 1000

/** "tradeId, descending order"; 90 days. Ids are not told to go up by one, so the newest page is compared by id. */
const backfill = newestOnly(
  PAGE_SIZE,
  (symbol) => ({
    path: `/api/v2/mix/market/fills-history?symbol=${encodeURIComponent(symbol)}&productType=USDT-FUTURES&limit=${PAGE_SIZE}`,
    cost: 1,
  }),
  (symbol, body) => rowsOf(body, (row) => [pageRow(symbol, readRow(row, symbol))]),
)

/** Bitget USDT perpetuals. Evidence: README.md beside this file. */
export const trades = tradeStreamOf('bitget', {
  channels: ['trade'],
  socket: {
    path: '/v2/ws/public',
    // The newest page is all that REST is asked for, so what one connection loses the other must have.
    copies: 2,
    // "Send the string 'ping' every 30 seconds"; without one for two minutes the connection ends.
    ping: { everyMs: 30_000, frame: 'ping', onlyWhenQuiet: false },
    silentAfterMs: 60_000,
    // "We suggest to subscribe to less than 50 channels in one connection."
    maxSymbolsPerConnection: 48,
    // "10 messages per second."
    minFrameSpacingMs: 150,
    // 300 connections in 5 minutes per address.
    minConnectSpacingMs: 1_000,
  },
  request,
  parse,
  listing,
  backfill,
})
