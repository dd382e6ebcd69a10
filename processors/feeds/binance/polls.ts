import { HOUR_MS, MINUTE_MS, SETTLEMENT_MS } from '../fact-fields.ts'
import type { CandleLookup, Poll } from '../source.ts'
import { about, rowsOf } from './answers.ts'
import { parseCandles, parsePremiums } from './klines.ts'
import { readPremiumIndex } from './mark-price.ts'
import { FUNDING_COST, settlementsOf, settlementsOfWindow, WINDOWS } from './settlements.ts'
import { parseOpenInterest, parseOpenInterestHistory, parseTopPositions, STATISTICS_COST } from './statistics.ts'
import { readFundingInfo, readInterest } from './terms.ts'
import { readTicker24h } from './tickers.ts'

const SECOND_MS = 1_000
/** More rows than are due, so that calls that fail leave no hole; below 100 rows a `klines` call has weight 1. */
const MINUTES = 15
const funding = { host: 'rest', topic: 'market.funding' } as const
const whole = { of: 'whole', symbol: 'all', market: 'perp' } as const
const catalogue = { of: 'catalogue', market: 'perp' } as const
const wanted = { of: 'wanted', market: 'perp' } as const

const running: readonly Poll[] = [
  {
    name: 'open-interest',
    ...funding,
    subjects: wanted,
    everyMs: 15 * SECOND_MS,
    call: (symbol) => ({ path: `/fapi/v1/openInterest?${about(symbol)}`, cost: 1 }),
    parse: parseOpenInterest,
  },
  {
    // What the stream says each second, for when it does not.
    name: 'premium-index',
    ...funding,
    subjects: whole,
    everyMs: 30 * SECOND_MS,
    call: () => ({ path: '/fapi/v1/premiumIndex', cost: 10 }),
    parse: (_whole, body) => rowsOf(body, readPremiumIndex),
  },
  {
    name: 'premium',
    ...funding,
    subjects: catalogue,
    everyMs: MINUTE_MS,
    call: (symbol) => ({ path: `/fapi/v1/premiumIndexKlines?${about(symbol)}&interval=1m&limit=${MINUTES}`, cost: 1 }),
    parse: parsePremiums,
  },
  {
    // Markets settle at any full hour; one call tells of all of them.
    name: 'settlements',
    ...funding,
    subjects: whole,
    everyMs: MINUTE_MS,
    ...settlementsOf(2 * HOUR_MS),
  },
  // What an outage of hours has kept from us.
  { name: 'settlements-day', ...funding, subjects: whole, everyMs: HOUR_MS, ...settlementsOf(26 * HOUR_MS) },
  {
    name: 'top-positions',
    ...funding,
    subjects: wanted,
    everyMs: MINUTE_MS,
    call: (symbol) => ({
      path: `/futures/data/topLongShortPositionRatio?${about(symbol)}&period=5m&limit=3`,
      cost: STATISTICS_COST,
    }),
    parse: parseTopPositions,
  },
  {
    name: 'candles',
    host: 'rest',
    topic: 'market.candles',
    subjects: wanted,
    everyMs: MINUTE_MS,
    afterMinuteMs: 5 * SECOND_MS,
    call: (symbol) => ({ path: `/fapi/v1/klines?${about(symbol)}&interval=1m&limit=${MINUTES}`, cost: 1 }),
    parse: parseCandles,
  },
]

const terms: readonly Poll[] = [
  {
    name: 'funding-info',
    ...funding,
    subjects: whole,
    everyMs: HOUR_MS,
    call: () => ({ path: '/fapi/v1/fundingInfo', cost: FUNDING_COST }),
    parse: (_whole, body) => rowsOf(body, readFundingInfo),
  },
  {
    name: 'interest',
    ...funding,
    subjects: whole,
    everyMs: HOUR_MS,
    call: () => ({ path: '/fapi/v1/premiumIndex', cost: 10 }),
    parse: (_whole, body) => rowsOf(body, readInterest),
  },
]

/** Back-reads. The venue serves no liquidations of the past: they count from the first start on. */
const past: readonly Poll[] = [
  // The whole market's in about a hundred pages, where a call a market would be six hundred.
  ...Array.from({ length: WINDOWS }, (_, back): Poll => ({
    name: `settlements-past-${back + 1}`,
    ...funding,
    subjects: whole,
    everyMs: 'once',
    ...settlementsOfWindow(back),
  })),
  {
    name: 'premium-past',
    ...funding,
    subjects: catalogue,
    everyMs: 'once',
    call: (symbol, now) => premiumsSince(symbol, now - (now % SETTLEMENT_MS), now),
    parse: parsePremiums,
  },
  {
    name: 'open-interest-past',
    ...funding,
    subjects: wanted,
    everyMs: 'once',
    call: (symbol) => ({
      path: `/futures/data/openInterestHist?${about(symbol)}&period=5m&limit=500`,
      cost: STATISTICS_COST,
    }),
    parse: parseOpenInterestHistory,
  },
]

/** At most 480 minutes. Weight 1 below 100 rows, 2 below 500. */
function premiumsSince(symbol: string, from: number, now: number): { path: string; cost: number } {
  const limit = Math.floor((now - from) / MINUTE_MS) + 1
  const path = `/fapi/v1/premiumIndexKlines?${about(symbol)}&interval=1m&startTime=${from}&limit=${limit}`
  return { path, cost: limit < 100 ? 1 : 2 }
}

/** Weight 80 of 6000 a minute: also the first word on pairs that are quiet when the stream begins. */
const spotTickers: Poll = {
  name: 'spot-tickers',
  host: 'spotRest',
  topic: 'market.tickers',
  subjects: { of: 'whole', symbol: 'all', market: 'spot' },
  everyMs: 10 * SECOND_MS,
  call: () => ({ path: '/api/v3/ticker/24hr', cost: 80 }),
  parse: (_whole, body) => rowsOf(body, readTicker24h),
}

export const polls: readonly Poll[] = [spotTickers, ...running, ...terms, ...past]

/** "If startTime and endTime are sent", both bounds are inclusive. Pages are oldest first, so a long time is cut. */
export const spotCandles: CandleLookup = {
  host: 'spotRest',
  call(symbol, from, to) {
    const end = Math.ceil(to / 1_000) - 1
    const start = Math.max(Math.floor(from / 1_000 / MINUTE_MS) * MINUTE_MS, end - (CANDLES - 1) * MINUTE_MS)
    return {
      path: `/api/v3/klines?${about(symbol)}&interval=1m&startTime=${start}&endTime=${end}&limit=${CANDLES}`,
      cost: 2,
    }
  },
  parse: parseCandles,
}

/** "Default 500; maximum 1000." */
const CANDLES = 1000
