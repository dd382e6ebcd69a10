import type { DataStream, Poll, Venue } from '../venue.ts'
import { candleLookup, listing, parseMarket, TICKERS } from './market.ts'
import { parse, subscribe, unsubscribe } from './stream.ts'

const tickers: DataStream = {
  name: 'spot-tickers',
  host: 'ws',
  topic: 'market.tickers',
  subjects: { of: 'catalogue', market: 'spot' },
  socket: {
    path: '/v2',
    copies: 1,
    // Without a request of ours in about a minute the venue closes the connection, whatever it sends.
    ping: { everyMs: 30_000, frame: '{"method":"ping"}', onlyWhenQuiet: false },
    // Heartbeats come about once a second.
    silentAfterMs: 10_000,
    maxSymbolsPerConnection: 400,
    minFrameSpacingMs: 250,
    // "No faster than every 5 seconds" after maintenance; 150 attempts in 10 minutes per address.
    minConnectSpacingMs: 5_000,
  },
  subscribe,
  unsubscribe,
  parse,
}

const market: Poll = {
  name: 'spot-tickers',
  host: 'rest',
  topic: 'market.tickers',
  subjects: { of: 'whole', symbol: 'SPOT', market: 'spot' },
  everyMs: 10_000,
  call: () => ({ path: TICKERS, cost: 1 }),
  parse: (_whole, body) => parseMarket(body),
}

/** Kraken's spot prices. Evidence: README.md beside this file. */
export const kraken: Venue = {
  name: 'kraken',
  // About one public request a second and address.
  budgets: { rest: { capacity: 2, refillPerSecond: 0.8 } },
  listings: [{ market: 'spot', host: 'rest', listing }],
  streams: [tickers],
  polls: [market],
  candles: candleLookup,
}
