import { HOUR_MS, MINUTE_MS } from '../fact-fields.ts'
import { candlePoll, type DataStream, type Poll, type SocketRules, tickersPoll, type TradeVenue } from '../venue.ts'
import { archive, trades } from './trades.ts'
import {
  contractTerms,
  parseDerivatives,
  readDerivativeMessage,
  readLiquidations,
  riskLimits,
  parseSpotTickers,
  readSpotMessage,
  SPOT_TICKERS,
  spotListing,
} from './facts.ts'
import { candles, pastCandles, pastFacts, premiumMinutes, premiumSinceSettlement, settlements } from './history.ts'
import { parserOf, requestsFor } from './messages.ts'

/** "args" may hold 21,000 characters per connection; a symbol and its separators are taken to need 24 at most. */
const ARGS_LENGTH_MAX = 21_000
const SYMBOL_LENGTH = 24

/** As for trades, but one copy, and pings often enough to be a sign of life within the 15 s that prices may be old. */
function socketOf(path: string, topic: string): SocketRules {
  const symbols = Math.floor(ARGS_LENGTH_MAX / (topic.length + SYMBOL_LENGTH))
  const ping = { everyMs: 10_000, frame: '{"req_id":"ping","op":"ping"}', onlyWhenQuiet: false }
  return { ...trades.socket, path, copies: 1, ping, maxSymbolsPerConnection: symbols }
}

const spotTickers: DataStream = {
  name: 'spot-tickers',
  host: 'ws',
  topic: 'market.tickers',
  scope: { of: 'catalogue', market: 'spot' },
  socket: socketOf('/v5/public/spot', 'tickers'),
  request: requestsFor('tickers', 10),
  parse: parserOf('tickers', readSpotMessage),
}

const tickers: DataStream = {
  name: 'tickers',
  host: 'ws',
  topic: 'market.funding',
  scope: { of: 'wanted', market: 'perp' },
  socket: socketOf('/v5/public/linear', 'tickers'),
  request: requestsFor('tickers'),
  parse: parserOf('tickers', readDerivativeMessage),
}

const liquidations: DataStream = {
  name: 'liquidations',
  host: 'ws',
  topic: 'market.liquidations',
  scope: { of: 'catalogue', market: 'perp' },
  socket: socketOf('/v5/public/linear', 'allLiquidation'),
  request: requestsFor('allLiquidation'),
  parse: parserOf('allLiquidation', readLiquidations),
}

const funding = { host: 'rest', topic: 'market.funding' } as const
const wholeMarket = { of: 'whole', symbol: 'linear', market: 'perp' } as const
const catalogue = { of: 'catalogue', market: 'perp' } as const
const wanted = { of: 'wanted', market: 'perp' } as const

const polls: readonly Poll[] = [
  tickersPoll('spot', { path: SPOT_TICKERS, cost: 1 }, parseSpotTickers),
  {
    name: 'tickers',
    ...funding,
    scope: wholeMarket,
    everyMs: 10_000,
    call: () => ({ path: '/v5/market/tickers?category=linear', cost: 1 }),
    parse: (_whole, body) => parseDerivatives(body),
  },
  { name: 'terms', ...funding, scope: wholeMarket, everyMs: 5 * MINUTE_MS, ...contractTerms },
  { name: 'risk-limits', ...funding, scope: wanted, everyMs: HOUR_MS, ...riskLimits },
  { name: 'settlements-past', ...funding, scope: catalogue, everyMs: 'once', ...settlements(100) },
  { name: 'settlements', ...funding, scope: catalogue, everyMs: MINUTE_MS, when: 'settlement', ...settlements(3) },
  { name: 'premium-past', ...funding, scope: catalogue, everyMs: 'once', ...premiumSinceSettlement },
  { name: 'premium', ...funding, scope: catalogue, everyMs: MINUTE_MS, ...premiumMinutes },
  candlePoll('perp', candles),
]

/** Bybit beside its trades: spot prices, funding, liquidations, candles. Evidence: README.md beside this file. */
export const bybit: TradeVenue = {
  name: 'bybit',
  budgets: {
    rest: {
      // 600 requests in 5 s per address.
      capacity: 50,
      refillPerSecond: 50,
      // "X-Bapi-Limit-Reset-Timestamp: if you have exceeded your rate limit, this field has the time when it resets".
      resets: { header: 'x-bapi-limit-reset-timestamp', unitMs: 1 },
    },
  },
  trades,
  listings: [{ market: 'spot', host: 'rest', listing: spotListing }],
  streams: [spotTickers, tickers, liquidations],
  polls,
  candles: pastCandles('spot'),
  past: pastCandles('linear'),
  pastFacts,
  archive,
}
