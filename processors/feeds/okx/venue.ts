import type { Venue } from '../venue.ts'
import { backfill } from './backfill.ts'
import { listing } from './listing.ts'
import { parse } from './parse.ts'
import { subscribe, unsubscribe } from './requests.ts'

/** OKX USDT swaps, all trades. Evidence: README.md beside this file. */
export const okx: Venue = {
  name: 'okx',
  market: 'perp',
  urls: { ws: 'wss://ws.okx.com:8443', rest: 'https://openapi.okx.com' },
  // `trades-all` is one record per fill, so trade ids go up by one.
  ids: 'contiguous',
  channels: ['trades-all', 'trades'],
  socket: {
    // `trades-all` is served on the business path only.
    path: '/ws/v5/business',
    copies: 1,
    // "If there's no data for N seconds (less than 30), send the string 'ping'."
    ping: { everyMs: 20_000, frame: 'ping', onlyWhenQuiet: true },
    silentAfterMs: 30_000,
    // "The total length of multiple channels cannot exceed 64 KB": 200 of about 60 bytes.
    maxSymbolsPerConnection: 200,
    // 480 subscribe and unsubscribe requests an hour per connection: few, so each holds many symbols.
    minFrameSpacingMs: 500,
    // "3 requests per second" to connect, per address.
    minConnectSpacingMs: 500,
  },
  // Limits are per call, 10 to 40 in 2 s and address; the bucket gives at most 38 units in 2 s, and a call costs what
  // keeps it below its own: 4 where 10 are allowed, 2 where 20 are (history-trades: at most 19), 1 where 40 are.
  rest: { capacity: 4, refillPerSecond: 17 },
  subscribe,
  unsubscribe,
  parse,
  listing,
  backfill,
}
