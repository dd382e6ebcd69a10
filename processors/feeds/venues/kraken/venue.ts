import { MINUTE_MS } from '../fact-fields.ts'
import { candlePoll, type DataStream, tickersPoll, type TradeVenue } from '../venue.ts'
import { candleLookup, parseMarket, pastCandles, TICKERS } from './market.ts'
import { parseTickers, tickerRequest, trades } from './trades.ts'

const tickers: DataStream = {
  name: 'spot-tickers',
  host: 'ws',
  topic: 'market.tickers',
  scope: { of: 'catalogue', market: 'spot' },
  socket: { ...trades.socket, maxSymbolsPerConnection: 400 },
  request: tickerRequest,
  parse: parseTickers,
}

/** The two newest minutes that are over. */
const candles = candlePoll('spot', {
  call: (symbol, now) => candleLookup.call(symbol, (now - 2 * MINUTE_MS) * 1_000, now * 1_000),
  parse: (symbol, body, now) => candleLookup.parse(symbol, body, now),
})

/** Kraken: trades, spot prices and candles of the markets that its trades list. Evidence: README.md beside this file. */
export const kraken: TradeVenue = {
  name: 'kraken',
  // About one public request a second and address.
  budgets: { rest: { capacity: 2, refillPerSecond: 0.8 } },
  trades,
  listings: [],
  streams: [tickers],
  polls: [tickersPoll('SPOT', { path: TICKERS, cost: 1 }, parseMarket), candles],
  candles: candleLookup,
  past: pastCandles,
}
