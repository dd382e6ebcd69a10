import { HOUR_MS, MINUTE_MS } from '../fact-fields.ts'
import { candlePoll, type DataStream, type Poll, type SocketRules, tickersPoll, type TradeVenue } from '../venue.ts'
import { archive, SWAP_LIST, trades } from './trades.ts'
import {
  readFunding,
  readIndex,
  readLeverage,
  readLiquidations,
  readMark,
  readOpenInterest,
  readTerms,
  readTicker,
  SPOT_TICKERS,
  spotListing,
} from './facts.ts'
import {
  candles,
  newCandles,
  pastCandles,
  pastFacts,
  premiumMinutes,
  premiumSinceSettlement,
  settlements,
  topTraders,
} from './history.ts'
import { answerOf, parserOf, type ReadRow, requestsFor } from './messages.ts'

/** As for trades, but of the public path; a ping is a sign of life within the 15 s that prices may be old. */
const socket: SocketRules = {
  ...trades.socket,
  path: '/ws/v5/public',
  ping: { everyMs: 10_000, frame: 'ping', onlyWhenQuiet: true },
}

type Rest = Pick<DataStream, 'topic' | 'scope'>

function stream(name: string, channel: string, read: ReadRow, { topic, scope }: Rest): DataStream {
  const parameter = scope.of === 'whole' ? 'instType' : 'instId'
  const request = requestsFor(channel, parameter)
  return { name, host: 'ws', topic, scope, socket, request, parse: parserOf(channel, read) }
}

const wanted = { of: 'wanted', market: 'perp' } as const
const catalogue = { of: 'catalogue', market: 'perp' } as const
const swaps = { of: 'whole', symbol: 'SWAP', market: 'perp' } as const
const ofWanted: Rest = { topic: 'market.funding', scope: wanted }

const streams: readonly DataStream[] = [
  stream('spot-tickers', 'tickers', readTicker, {
    topic: 'market.tickers',
    scope: { of: 'catalogue', market: 'spot' },
  }),
  stream('mark-price', 'mark-price', readMark, ofWanted),
  stream('funding-rate', 'funding-rate', readFunding, ofWanted),
  stream('open-interest', 'open-interest', readOpenInterest, ofWanted),
  stream('liquidations', 'liquidation-orders', readLiquidations, { topic: 'market.liquidations', scope: swaps }),
]

/** One call for all swaps, in a period of milliseconds. */
function whole(name: string, path: string, cost: number, read: ReadRow, everyMs: number): Poll {
  return {
    name,
    host: 'rest',
    topic: 'market.funding',
    scope: swaps,
    everyMs,
    call: () => ({ path, cost }),
    parse: (_whole, body) => answerOf(body, read),
  }
}

const ANY_FUNDING = '/api/v5/public/funding-rate?instId=ANY'
const funding = { host: 'rest', topic: 'market.funding' } as const

const polls: readonly Poll[] = [
  tickersPoll('SPOT', { path: SPOT_TICKERS, cost: 2 }, (body) => answerOf(body, readTicker)),
  whole('funding-rate', ANY_FUNDING, 4, readFunding, 10_000),
  whole('mark-price', '/api/v5/public/mark-price?instType=SWAP', 4, readMark, 10_000),
  whole('open-interest', '/api/v5/public/open-interest?instType=SWAP', 2, readOpenInterest, 10_000),
  whole('index-price', '/api/v5/market/index-tickers?quoteCcy=USDT', 2, readIndex, 10_000),
  // Intervals change without notice, so they are asked for more often than the rest.
  whole('terms', ANY_FUNDING, 4, readTerms, 5 * MINUTE_MS),
  whole('leverage', SWAP_LIST, 2, readLeverage, HOUR_MS),
  { name: 'settlements-past', ...funding, scope: catalogue, everyMs: 'once', ...settlements(100) },
  { name: 'settlements', ...funding, scope: catalogue, everyMs: MINUTE_MS, when: 'settlement', ...settlements(3) },
  { name: 'premium-past', ...funding, scope: catalogue, everyMs: 'once', ...premiumSinceSettlement },
  { name: 'premium', ...funding, scope: catalogue, everyMs: MINUTE_MS, ...premiumMinutes },
  { name: 'top-traders', ...funding, scope: wanted, everyMs: MINUTE_MS, ...topTraders },
  candlePoll('perp', candles),
]

/** OKX beside its trades: spot prices, funding, liquidations, ratios, candles. Evidence: README.md beside this file. */
export const okx: TradeVenue = {
  name: 'okx',
  budgets: {
    // Limits are per call, 10 to 40 in 2 s and address; the bucket gives at most 38 units in 2 s, and a call costs what
    // keeps it below its own: 4 where 10 are allowed, 2 where 20 are (history-trades: at most 19), 1 where 40 are.
    rest: { capacity: 4, refillPerSecond: 17 },
  },
  trades,
  listings: [{ market: 'spot', host: 'rest', listing: spotListing }],
  streams,
  polls,
  candles: newCandles,
  past: pastCandles,
  pastFacts,
  archive,
}
