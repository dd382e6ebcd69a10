import { spotListing } from '../binance/listing.ts'
import { subscribe, unsubscribe } from '../binance/messages.ts'
import { PAGE_SIZE, parse, parsePage } from '../binance/trades.ts'
import { type Backfill, tradeStreamOf } from '../venue.ts'

/** "fromId: id to get aggregate trades from INCLUSIVE"; ascending, all of the past; without it the newest. Weight 4. */
const backfill: Backfill = {
  direction: 'forward',
  pageSize: PAGE_SIZE,
  page: (symbol, from, to) => ({
    path: `/api/v3/aggTrades?symbol=${encodeURIComponent(symbol)}&fromId=${from}&limit=${Math.min(PAGE_SIZE, to - from + 1)}`,
    cost: 4,
  }),
  newest: (symbol) => ({
    path: `/api/v3/aggTrades?symbol=${encodeURIComponent(symbol)}&limit=${PAGE_SIZE}`,
    cost: 4,
  }),
  parse: parsePage,
}

/** Binance spot in USDT, aggregate trades. Evidence: README.md beside this file. */
export const trades = tradeStreamOf('binance_spot', {
  // Aggregate ids go up by one per symbol.
  channels: ['aggTrade'],
  socket: {
    path: '/stream',
    copies: 1,
    // "A single connection is only valid for 24 hours."
    lifetimeMs: 24 * 3_600_000,
    silentAfterMs: 60_000,
    // "A single connection can listen to a maximum of 1024 streams"; fewer keep a lost connection small.
    maxSymbolsPerConnection: 200,
    // "WebSocket connections have a limit of 5 incoming messages per second", pongs among them.
    minFrameSpacingMs: 500,
    // 300 connection attempts in 5 minutes per address, prices among them.
    minConnectSpacingMs: 2_000,
  },
  subscribe,
  unsubscribe,
  parse,
  listing: spotListing,
  backfill,
})
