import type { Venue } from '../venue.ts'
import { backfill } from './backfill.ts'
import { listing } from './listing.ts'
import { parse } from './parse.ts'
import { subscribe, unsubscribe } from './requests.ts'

/** Bybit linear USDT perpetuals, public trades. Evidence: README.md beside this file. */
export const bybit: Venue = {
  name: 'bybit',
  market: 'perp',
  urls: { ws: 'wss://stream.bybit.com', rest: 'https://api.bybit.com' },
  // Ids are UUIDs and `seq` is not contiguous: a hole does not show in the stream.
  ids: 'none',
  channels: ['publicTrade'],
  socket: {
    path: '/v5/public/linear',
    // REST reaches back 1000 trades only, so what one connection loses the other must have.
    copies: 2,
    // "To avoid network or program issues, we recommend that you send the ping heartbeat packet every 20 seconds."
    ping: { everyMs: 20_000, frame: '{"req_id":"ping","op":"ping"}', onlyWhenQuiet: false },
    silentAfterMs: 45_000,
    // "args" may hold 21,000 characters per connection; "publicTrade.10000000EXAMPLEUSDT" has 32.
    maxSymbolsPerConnection: 200,
    minFrameSpacingMs: 100,
    // 500 connections in 5 minutes per address.
    minConnectSpacingMs: 1_000,
  },
  // 600 requests in 5 s per address.
  rest: { capacity: 50, refillPerSecond: 50 },
  subscribe,
  unsubscribe,
  parse,
  listing,
  backfill,
}
