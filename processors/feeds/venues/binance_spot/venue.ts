import { spotListing } from '../binance/listing.ts'
import { request } from '../binance/messages.ts'
import { PAGE_SIZE, parse, parsePage, aggTradesOf } from '../binance/trades.ts'
import { type Backfill, newestCandles, tradeStreamOf, type TradeVenue } from '../venue.ts'
import { pastSpotCandles } from '../binance/past.ts'

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
const trades = tradeStreamOf('binance_spot', {
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
  request,
  parse,
  listing: spotListing,
  backfill,
})

/** Binance's spot trades, beside its perpetuals and its spot prices (`../binance`). Evidence: README.md beside this file. */
export const binanceSpot: TradeVenue = {
  name: 'binance_spot',
  // 6000 weight a minute per address, of which prices may take 3000: 400 at once and 40 a second are at most 2800.
  budgets: { rest: { capacity: 400, refillPerSecond: 40 } },
  trades,
  listings: [],
  streams: [],
  polls: [newestCandles(pastSpotCandles, 2)],
  past: pastSpotCandles,
  archive: aggTradesOf('spot'),
}
