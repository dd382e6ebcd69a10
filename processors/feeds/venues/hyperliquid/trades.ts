import type { FrameEvent } from '../events.ts'
import {
  badBody,
  fromObject,
  isRecord,
  isSymbol,
  textOf,
  unknownEvent,
  isDecimal,
  badField,
  isCount,
  microsOf,
  pageRow,
  tradeEvent,
} from '../fields.ts'
import {
  type RestAnswer,
  type RestCall,
  type Listed,
  type ListedPrice,
  type Listing,
  type Backfill,
  type MakeRequest,
  newestOnly,
  tradeStreamOf,
} from '../venue.ts'

/** `{"method":"subscribe","subscription":{"type":"trades","coin":"SOL"}}`: one per market, without a number. */
const request: MakeRequest = (method, symbols) =>
  symbols.map((coin) => JSON.stringify({ method, subscription: { type: 'trades', coin } }))

const PING = '{"method":"ping"}'

/** Reads the frames of a connection that subscribes to trades. */
function parserOf(read: (row: unknown) => FrameEvent): (frame: string) => FrameEvent[] {
  return (frame) =>
    fromObject(frame, ({ channel, data }) => {
      switch (channel) {
        case 'trades':
          return Array.isArray(data) ? data.map(read) : [unknownEvent]
        case 'subscriptionResponse':
          return [readReply(data)]
        case 'error':
          return [readError(textOf(data))]
        case 'pong':
          return [{ kind: 'pong' }]
        default:
          return [unknownEvent]
      }
    })
}

/** Repeats the request: `{"method":"subscribe","subscription":{"type":"trades","coin":"SOL"}}`. */
function readReply(data: unknown): FrameEvent {
  const subscription = isRecord(data) ? data['subscription'] : undefined
  const coin = isRecord(subscription) ? subscription['coin'] : undefined
  if (!isRecord(data) || !isSymbol(coin)) return unknownEvent
  return { kind: data['method'] === 'unsubscribe' ? 'unsubscribed' : 'subscribed', symbols: [coin], id: null }
}

/** `Invalid subscription {"type":"trades","coin":"FOO"}`. */
function readError(message: string): FrameEvent {
  const coin = /"coin":"([^"]+)"/.exec(message)?.[1]
  return { kind: 'rejected', symbols: coin === undefined ? null : [coin], id: null, message }
}

/** A question to the one path: what is asked for stands in the body. */
export function info(cost: number, body: object): RestCall {
  return { path: '/info', cost, body }
}

/** The rows of an answer that is an array; refusals come as HTTP statuses. */
export function rowsOf<Row>(body: unknown, read: (row: unknown) => Row): RestAnswer<Row> {
  return Array.isArray(body) ? { kind: 'rows', rows: body.map((row) => read(row)) } : badBody('an array')
}

/** kPEPE is 1000 PEPE: sizes are in thousands of coins, prices for a thousand. A capital must follow. */
const thousands = /^k([A-Z0-9]{2,})$/

function listed(symbol: string, live: boolean): Listed {
  const base = thousands.exec(symbol)?.[1]
  const factor = base === undefined ? 1 : 1000
  return {
    symbol,
    base: base ?? symbol,
    quote: 'USD',
    settle: 'USDC',
    sizeFactor: factor,
    priceFactor: factor,
    tick: null,
    live,
  }
}

const tickers = 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM kPEPE kSHIB TON TRX LTC'

/** Perpetuals of `meta`, weight 20; prices of all markets, `allMids`, weight 2. */
const listing: Listing = {
  first: info(20, { type: 'meta' }),
  parse(body) {
    const universe = isRecord(body) ? body['universe'] : undefined
    if (!Array.isArray(universe)) return badBody('a universe')
    return { kind: 'rows', rows: universe.flatMap(readMarket) }
  },
  seed: tickers.split(' ').map((symbol) => listed(symbol, true)),
  fromSymbol: (symbol) => (symbol === '' ? undefined : listed(symbol, true)),
  prices: {
    first: info(2, { type: 'allMids' }),
    parse(body) {
      if (!isRecord(body)) return badBody('mids')
      return { kind: 'rows', rows: Object.entries(body).flatMap(readMid) }
    },
  },
}

/** `{"name":"BTC","szDecimals":5,"maxLeverage":50,"isDelisted":true}`; markets of others have a prefix ("xyz:"). */
function readMarket(row: unknown): Listed[] {
  if (!isRecord(row) || !isSymbol(row['name']) || row['name'].includes(':')) return []
  return [listed(row['name'], row['isDelisted'] !== true)]
}

/** Middle prices by name; spot markets are "@1" and the like. */
function readMid([symbol, price]: [string, unknown]): ListedPrice[] {
  return isSymbol(symbol) && isDecimal(price) && !symbol.startsWith('@') ? [{ symbol, price: Number(price) }] : []
}

/**
 * Reads one frame of `trades`, whose `data` is a list. The first one after a subscription has the newest trades again:
 * where they came before they are known by their ids.
 *
 * Source: WebSocket, "Subscriptions", `WsTrade`: "side" A or B, "px", "sz", "time", "tid is 50-bit hash of (buyer_oid,
 * seller_oid). For a globally unique trade id, use (block_time, coin, tid)", "users: [buyer, seller]". That B is a taker
 * who buys is how adapters read it. A coin's block time is part of the identity already: trades are told apart within ten
 * seconds of one instrument.
 */
const parse = parserOf(readRow)

/** Also the row of a page: the same fields. */
function readRow(row: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { coin, side, px, sz, time, tid } = row
  if (!isSymbol(coin) || !isDecimal(px) || !isDecimal(sz) || !isCount(time) || !isCount(tid)) return badField
  if (side !== 'A' && side !== 'B') return badField
  const id = tid === 0 ? madeOf(`${time} ${side} ${px} ${sz}`) : tid
  return tradeEvent(coin, id, 1, null, px, sz, side === 'B' ? 'buy' : 'sell', microsOf(time))
}

/** Some trades have no `tid`: 52 bits of what they are. */
function madeOf(text: string): number {
  return (fnv(text, 0x811c9dc5) >>> 6) * 2 ** 26 + (fnv(text, 0x01000193) >>> 6)
}

function fnv(text: string, start: number): number {
  let hash = start
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/** "recentTrades": how many is not documented, adapters see ten. */
const PAGE_SIZE = 10

/** "weight 20 ... an additional weight per 20 items returned". Nothing older is to be had. */
const backfill: Backfill = {
  ...newestOnly(
    PAGE_SIZE,
    (coin) => info(21, { type: 'recentTrades', coin }),
    (symbol, body) => rowsOf(body, (row) => pageRow(symbol, readRow(row))),
  ),
  isShort: true,
}

/** Hyperliquid perpetuals. Evidence: README.md beside this file. */
export const trades = tradeStreamOf('hyperliquid', {
  channels: ['trades'],
  socket: {
    path: '/ws',
    // The past is out of reach, so what one connection loses the other must have. "Maximum of 10 websocket connections."
    copies: 2,
    // "The server will close any connection if it hasn't sent a message to it in the last 60 seconds."
    ping: { everyMs: 30_000, frame: PING, onlyWhenQuiet: false },
    silentAfterMs: 60_000,
    // "Maximum of 1000 websocket subscriptions", of all connections.
    maxSymbolsPerConnection: 100,
    // "Maximum of 2000 messages sent per minute."
    minFrameSpacingMs: 50,
    // "Maximum of 30 new websocket connections per minute."
    minConnectSpacingMs: 2_000,
  },
  request,
  parse,
  listing,
  backfill,
})
