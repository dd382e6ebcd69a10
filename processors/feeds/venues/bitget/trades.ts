import type { FrameEvent } from '../events.ts'
import { badField, countOf, isDecimal, isRecord, microsOf, pageRow, textOf, tradeEvent } from '../fields.ts'
import { type Backfill, type RestCall, tradeStreamOf } from '../venue.ts'
import { listing } from './listing.ts'
import { parserOf, rowsOf, subscribe, unsubscribe } from './messages.ts'

/**
 * Reads one frame of the `trade` channel. A snapshot is of trades before the subscription: none of ours, and what a lost
 * connection missed the newest page of REST has too.
 *
 * Source: Contract, WebSocket, "Public Trade Channel": "ts: fill time", "price: filled price", "size: filled amount",
 * "side: filled side, sell/buy", "tradeId". That the side is the taker's is how adapters read it.
 */
const parse = parserOf((symbol, data, action) => (action === 'snapshot' ? [] : data.map((row) => readRow(symbol, row))))

/** Also the row of a REST page, which says the symbol too, and its side with or without a capital. */
function readRow(asked: string, row: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { ts, price, size, tradeId, symbol = asked } = row
  const id = idOf(tradeId)
  const ms = countOf(ts)
  const side = textOf(row['side']).toLowerCase()
  if (symbol !== asked || id === undefined || ms === undefined || !isDecimal(price) || !isDecimal(size)) return badField
  if (side !== 'buy' && side !== 'sell') return badField
  return tradeEvent(asked, id, 1, null, price, size, side, microsOf(ms))
}

/** Ids have 19 digits: the low 52 bits of it, which two trades of one 10 s bucket do not share. */
function idOf(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^\d{1,19}$/.test(text)) return undefined
  return Number(BigInt.asUintN(52, BigInt(text)))
}

/** "limit: default 500, maximum 1000". */
const PAGE_SIZE = 1000

/** "tradeId, descending order"; 90 days. Ids are not told to go up by one, so the newest page is compared by id. */
const backfill: Backfill = {
  direction: 'newest',
  pageSize: PAGE_SIZE,
  page: newest,
  newest,
  parse: (symbol, body) => rowsOf(body, (row) => [pageRow(readRow(symbol, row))]),
}

function newest(symbol: string): RestCall {
  return {
    path: `/api/v2/mix/market/fills-history?symbol=${encodeURIComponent(symbol)}&productType=USDT-FUTURES&limit=${PAGE_SIZE}`,
    cost: 1,
  }
}

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
  subscribe,
  unsubscribe,
  parse,
  listing,
  backfill,
})
