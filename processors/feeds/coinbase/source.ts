import { MINUTE_MS } from '../fact-fields.ts'
import type { DataStream, Poll, Source } from '../source.ts'
import { candleLookup, candles } from './candles.ts'
import { wholeMarket } from './listing.ts'
import { requestsFor } from './requests.ts'
import { parseMarket, parseTickers } from './ticker.ts'
import { coinbase as trades } from './venue.ts'

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
export const coinbaseSource: Source = {
  name: 'coinbase',
  hosts: trades.urls,
  budgets: { rest: trades.rest },
  listings: [],
  streams: [tickers],
  polls,
  candles: candleLookup,
}
