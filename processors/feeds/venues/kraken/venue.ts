import { type DataStream, newestCandles, tickersPoll, type TradeVenue } from '../venue.ts'
import { parseMarket, pastCandles, TICKERS } from './market.ts'
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

/** Kraken: trades, spot prices and candles of the markets that its trades list. Evidence: README.md beside this file. */
export const kraken: TradeVenue = {
  name: 'kraken',
  // About one public request a second and address.
  budgets: { rest: { capacity: 2, refillPerSecond: 0.8 } },
  trades,
  listings: [],
  streams: [tickers],
  polls: [tickersPoll('SPOT', { path: TICKERS, cost: 1 }, parseMarket), newestCandles(pastCandles, 2)],
  candles: pastCandles,
  past: pastCandles,
}
