import { MINUTE_MS } from '../fact-fields.ts'
import type { DataStream, Poll, TradeVenue } from '../venue.ts'
import { candleLookup, candles, pastCandles } from './candles.ts'
import { wholeMarket } from './listing.ts'
import { requestsFor } from './messages.ts'
import { parseMarket, parseTickers } from './ticker.ts'
import { trades } from './trades.ts'

/** All products in dollars, among them USDT-USD. */
const tickers: DataStream = {
  name: 'spot-tickers',
  host: 'ws',
  topic: 'market.tickers',
  subjects: { of: 'catalogue', market: 'spot' },
  socket: trades.socket,
  ...requestsFor('ticker'),
  parse: parseTickers,
}

const polls: readonly Poll[] = [
  {
    name: 'spot-tickers',
    host: 'rest',
    topic: 'market.tickers',
    subjects: { of: 'whole', symbol: 'SPOT', market: 'spot' },
    everyMs: 10_000,
    call: () => wholeMarket,
    parse: (_whole, body) => parseMarket(body),
  },
  {
    name: 'candles',
    host: 'rest',
    topic: 'market.candles',
    subjects: { of: 'wanted', market: 'spot' },
    everyMs: MINUTE_MS,
    afterMinuteMs: 5_000,
    ...candles,
  },
]

/** Coinbase beside its trades: spot prices and candles of the markets that its trade adapter lists. Evidence: README.md. */
export const coinbase: TradeVenue = {
  name: 'coinbase',
  budgets: {
    rest: {
      // 10 requests a second per address, bursts to 15.
      capacity: 5,
      refillPerSecond: 8,
      // Requests without an agent are refused.
      headers: { 'User-Agent': 'market-data-alerts' },
    },
  },
  trades,
  listings: [],
  streams: [tickers],
  polls,
  candles: candleLookup,
  past: pastCandles,
}
