import { MINUTE_MS } from '../fact-fields.ts'
import type { DataStream, Poll, TradeVenue } from '../venue.ts'
import { candleLookup, parseMarket, pastCandles, TICKERS } from './market.ts'
import { parseTickers, tickerRequests, trades } from './trades.ts'

const tickers: DataStream = {
  name: 'spot-tickers',
  host: 'ws',
  topic: 'market.tickers',
  scope: { of: 'catalogue', market: 'spot' },
  socket: { ...trades.socket, maxSymbolsPerConnection: 400 },
  ...tickerRequests,
  parse: parseTickers,
}

const market: Poll = {
  name: 'spot-tickers',
  host: 'rest',
  topic: 'market.tickers',
  scope: { of: 'whole', symbol: 'SPOT', market: 'spot' },
  everyMs: 10_000,
  call: () => ({ path: TICKERS, cost: 1 }),
  parse: (_whole, body) => parseMarket(body),
}

/** The two newest minutes that are over. */
const candles: Poll = {
  name: 'candles',
  host: 'rest',
  topic: 'market.candles',
  scope: { of: 'wanted', market: 'spot' },
  everyMs: MINUTE_MS,
  afterMinuteMs: 5_000,
  call: (symbol, now) => candleLookup.call(symbol, (now - 2 * MINUTE_MS) * 1_000, now * 1_000),
  parse: (symbol, body, now) => candleLookup.parse(symbol, body, now),
}

/** Kraken: trades, spot prices and candles of the markets that its trades list. Evidence: README.md beside this file. */
export const kraken: TradeVenue = {
  name: 'kraken',
  // About one public request a second and address.
  budgets: { rest: { capacity: 2, refillPerSecond: 0.8 } },
  trades,
  listings: [],
  streams: [tickers],
  polls: [market, candles],
  candles: candleLookup,
  past: pastCandles,
}
