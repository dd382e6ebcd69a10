import type { Venue } from '../venue.ts'
import { backfill } from './backfill.ts'
import { listing } from './listing.ts'
import { parse } from './parse.ts'
import { subscribe, unsubscribe } from './requests.ts'

/** Binance USD-M perpetuals, aggregate trades. Evidence: README.md beside this file. */
export const binance: Venue = {
  name: 'binance',
  market: 'perp',
  urls: { ws: 'wss://fstream.binance.com', rest: 'https://fapi.binance.com' },
  // Aggregate ids go up by one per symbol.
  ids: 'contiguous',
  channels: ['aggTrade', 'trade'],
  socket: {
    // Since 2026-04-23 trades are pushed below /market only; any other path stays silent without an error.
    path: '/market/stream',
    copies: 1,
    // "A single connection is only valid for 24 hours."
    lifetimeMs: 24 * 3_600_000,
    silentAfterMs: 60_000,
    // "A maximum of 1024 streams on a single connection"; fewer keep a lost connection small.
    maxSymbolsPerConnection: 200,
    // "WebSocket connections have a limit of 10 incoming messages per second."
    minFrameSpacingMs: 200,
    // 300 connection attempts in 5 minutes per address.
    minConnectSpacingMs: 1_000,
  },
  rest: {
    // 2400 weight a minute per address: 300 at once and 33 a second are at most 2280 in any minute.
    capacity: 300,
    refillPerSecond: 33,
  },
  subscribe,
  unsubscribe,
  parse,
  listing,
  backfill,
}
