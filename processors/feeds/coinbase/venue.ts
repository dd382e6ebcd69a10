import type { Venue } from '../venue.ts'
import { backfill } from './backfill.ts'
import { listing } from './listing.ts'
import { parse } from './parse.ts'
import { subscribe, unsubscribe } from './requests.ts'

/** Coinbase Exchange spot in US dollars, matches. Evidence: README.md beside this file. */
export const coinbase: Venue = {
  name: 'coinbase',
  market: 'spot',
  urls: { ws: 'wss://ws-feed.exchange.coinbase.com', rest: 'https://api.exchange.coinbase.com' },
  // Trade ids go up by one per product.
  ids: 'contiguous',
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
  rest: {
    // 10 requests a second per address, bursts to 15.
    capacity: 5,
    refillPerSecond: 8,
    // Requests without an agent are refused.
    headers: { 'User-Agent': 'market-data-alerts' },
  },
  subscribe,
  unsubscribe,
  parse,
  listing,
  backfill,
}
