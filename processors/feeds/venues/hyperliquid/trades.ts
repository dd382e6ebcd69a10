import type { FrameEvent } from '../events.ts'
import { badField, isCount, isDecimal, isRecord, isSymbol, microsOf, pageRow, tradeEvent } from '../fields.ts'
import { type Backfill, type RestCall, tradeStreamOf } from '../venue.ts'
import { listing } from './listing.ts'
import { info, parserOf, PING, rowsOf, subscribe, unsubscribe } from './messages.ts'

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
  direction: 'newest',
  pageSize: PAGE_SIZE,
  isShort: true,
  page: newest,
  newest,
  parse: (symbol, body) => rowsOf(body, (row) => pageRow(ofSymbol(symbol, readRow(row)))),
}

function newest(coin: string): RestCall {
  return info(21, { type: 'recentTrades', coin })
}

function ofSymbol(symbol: string, event: FrameEvent): FrameEvent {
  return event.kind === 'trade' && event.trade.symbol !== symbol ? badField : event
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
  subscribe,
  unsubscribe,
  parse,
  listing,
  backfill,
})
