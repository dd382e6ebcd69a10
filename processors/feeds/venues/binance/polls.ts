import type { Micros } from '../../../../schemas/records.ts'
import { productOf } from '../decimal.ts'
import type { FactRow, TermsFact } from '../events.ts'
import {
  candleOf,
  HOUR_MS,
  isAmount,
  isSigned,
  MINUTE_MS,
  priceOf,
  refusedField,
  settlementOf,
  SETTLEMENT_MS,
} from '../fact-fields.ts'
import { badBody, countOf, isCount, isDecimal, isRecord, isSymbol, microsOf } from '../fields.ts'
import { candlePoll, type Poll, type RestAnswer, type RestCall, tickersPoll } from '../venue.ts'
import { symbolQuery, refusal, rowsOf } from './messages.ts'
import { isUsdtMarket } from './listing.ts'
import { readPremiumIndex, readTicker24h } from './streams.ts'

/** Minutes of the premium index: `[open time, open, high, low, close, ...]`; the close is what counts. */
function parsePremiums(symbol: string, body: unknown, now: number): RestAnswer<FactRow> {
  return closed(body, { now, lengthMs: MINUTE_MS }, ([, , , , close], time) =>
    isSigned(close) ? { kind: 'derivative', symbol, premium: { premium: close, time } } : refusedField,
  )
}

/**
 * Candles of the trades: `[open time, open, high, low, close, base volume, close time, quote volume, trades, taker buy
 * base volume, ...]`.
 */
export function parseCandles(
  symbol: string,
  body: unknown,
  now: number,
  lengthMs: number = MINUTE_MS,
): RestAnswer<FactRow> {
  return closed(body, { now, lengthMs }, ([, open, high, low, close, volume, , , trades, takerBuy], minute) =>
    candleOf(symbol, minute, [open, high, low, close, volume], { trades, takerBuy }),
  )
}

/** Rows of times that are over; the newest row is usually of the one that still runs. */
export function closed(
  body: unknown,
  { now, lengthMs }: { readonly now: number; readonly lengthMs: number },
  read: (row: readonly unknown[], start: Micros) => FactRow,
): RestAnswer<FactRow> {
  return rowsOf(body, (row) => {
    if (!Array.isArray(row)) return refusedField
    const values: readonly unknown[] = row
    const [start, , , , , , end] = values
    const time = isCount(start) ? microsOf(start) : undefined
    if (time === undefined || !isCount(start) || start % lengthMs !== 0 || end !== start + lengthMs - 1)
      return refusedField
    return start + lengthMs > now ? undefined : read(values, time)
  })
}

/** "Default 100; max 1000." */
const PAGE_SIZE = 1000
/**
 * No weight, but 500 calls in 5 minutes per address, together with `fundingInfo`. At this cost the weight's own budget
 * (10,200 in 5 minutes) cannot pay for more than 485.
 */
export const FUNDING_COST = 21

/** 36 to 39 days, for 100 settlements at 8 hours, in windows of which each is a back-read of some ten pages. */
const WINDOW_MS = 3 * 24 * HOUR_MS
const WINDOWS = 13

type Calls = Pick<Poll, 'call' | 'parse' | 'mayBeEmpty'>

/** Settled rates of the whole market, of so long until now: markets of 4 or 8 h alone settle in few hours. */
function settlementsOf(ms: number): Calls {
  return {
    mayBeEmpty: true,
    call: (_whole, now) => pageFrom(now - ms),
    parse: (_whole, body) => parseSettlements(body),
  }
}

/** The same of the window that began `back` windows ago; the newest one is still open. */
function settlementsOfWindow(back: number): Calls {
  const startOf = (now: number): number => (Math.floor(now / WINDOW_MS) - back) * WINDOW_MS
  const endOf = (now: number): number | undefined => (back === 0 ? undefined : startOf(now) + WINDOW_MS - 1)
  return {
    call: (_whole, now) => pageFrom(startOf(now), endOf(now)),
    parse: (_whole, body, now) => parseSettlements(body, endOf(now)),
  }
}

/** Ascending from a time on, both bounds inclusive. */
function pageFrom(start: number, end?: number): RestCall {
  const until = end === undefined ? '' : `&endTime=${end}`
  return { path: `/fapi/v1/fundingRate?startTime=${start}${until}&limit=${PAGE_SIZE}`, cost: FUNDING_COST }
}

/**
 * More follow page by page, from the last row's time on: its neighbours of the same millisecond come twice rather than
 * never.
 */
function parseSettlements(body: unknown, end?: number): RestAnswer<FactRow> {
  const answer = rowsOf(body, readSettlement)
  if (answer.kind !== 'rows' || !Array.isArray(body) || body.length < PAGE_SIZE) return answer
  const first = settledAt(body[0])
  const last = settledAt(body.at(-1))
  if (first === undefined || last === undefined) return answer
  // A page of one time alone would be its own successor.
  return { ...answer, next: pageFrom(last > first ? last : last + 1, end) }
}

function settledAt(row: unknown): number | undefined {
  const ms = isRecord(row) ? row['fundingTime'] : undefined
  return isCount(ms) ? ms : undefined
}

/** Rows before 2023 have no `markPrice`. Times are some milliseconds after the full hour. */
export function readSettlement(row: unknown): FactRow | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol'])) return refusedField
  const { symbol, fundingRate: rate, fundingTime, markPrice } = row
  const time = isCount(fundingTime) ? microsOf(fundingTime) : undefined
  const mark = priceOf(markPrice)
  if (mark === undefined) return refusedField
  const settled = settlementOf(symbol, rate, time, mark)
  return isUsdtMarket(symbol) || settled === refusedField ? settled : undefined
}

/**
 * `/futures/data/*` has no weight, but 1000 calls in 5 minutes per address. At this cost the weight's own budget (10,200
 * in 5 minutes) cannot pay for more than 927.
 */
export const STATISTICS_COST = 11
/** Shares are rounded to four decimals: their sum may miss 1 by two of the last, and stale halves by no more. */
const SUM_OFF_MAX = 0.001

/** `openInterest`: one market, base units, one side. */
function parseOpenInterest(symbol: string, body: unknown): RestAnswer<FactRow> {
  if (!isRecord(body) || body['openInterest'] === undefined) return refusal(body) ?? badBody('an open interest')
  return { kind: 'rows', rows: [readOpenInterest(symbol, body)] }
}

function readOpenInterest(asked: string, { symbol, openInterest: size, time: ms }: Record<string, unknown>): FactRow {
  const time = isCount(ms) ? microsOf(ms) : undefined
  if (symbol !== asked || !isAmount(size) || time === undefined) return refusedField
  return { kind: 'derivative', symbol: asked, openInterest: { size, time } }
}

/**
 * `topLongShortPositionRatio`: of the top 20 % of users by margin, shares of position size, whatever the names say. Its
 * shares are rounded, so they are scaled to add up to 1. The time is a number today, a text in the documentation.
 */
export function parseTopPositions(asked: string, body: unknown): RestAnswer<FactRow> {
  return rowsOf(body, (row) => {
    if (!isRecord(row) || row['symbol'] !== asked) return refusedField
    const { longShortRatio: ratio, longAccount, shortAccount, timestamp } = row
    const time = timeOf(timestamp)
    if (time === undefined || !isDecimal(ratio) || !isDecimal(longAccount) || !isDecimal(shortAccount))
      return refusedField
    const sum = Number(longAccount) + Number(shortAccount)
    if (Math.abs(sum - 1) > SUM_OFF_MAX) return refusedField
    const long = Number(longAccount) / sum
    const shares = { long, short: 1 - long, ratio: Number(ratio) }
    return { kind: 'ratio', symbol: asked, cohort: 'top_traders', basis: 'positions', ...shares, time }
  })
}

/** Of `/futures/data/*`. */
export function timeOf(value: unknown): number | undefined {
  return microsOf((isCount(value) ? value : countOf(value)) ?? 0)
}

const DAY_HOURS = 24
/** `interestRate` is that of 8 hours, whatever the interval of the market. */
const INTERESTS_PER_DAY = '3'
/** Caps of large markets are this part of the maintenance margin rate of their first tier. */
const CAP_OF_MARGIN = 0.75
/** From here on caps are flat (2 %, 3 %) and say nothing about margin. */
const FLAT_CAP = 0.02
/** Leverages that the venue offers; the highest one needs twice the maintenance margin. */
const LEVERAGES = [125, 100, 75, 50, 40, 30, 25, 20, 10, 5]
const RATE_DECIMALS = 10

/** Markets without a row in `fundingInfo` have this interval. */
const USUAL_HOURS = 8

function parseFundingInfo(body: unknown): RestAnswer<FactRow> {
  const answer = rowsOf(body, readFundingInfo)
  if (answer.kind !== 'rows' || !Array.isArray(body)) return answer
  const named = body.map((row: unknown) => (isRecord(row) && isSymbol(row['symbol']) ? row['symbol'] : undefined))
  // Which market a row without a symbol is of is not known: it may be any of the others.
  if (named.includes(undefined)) return answer
  const symbols = new Set(named.filter((symbol) => symbol !== undefined))
  return { ...answer, rows: [...answer.rows, { kind: 'other_terms', named: symbols, intervalHours: USUAL_HOURS }] }
}

/** A row of `fundingInfo`: interval, cap and floor. */
function readFundingInfo(row: unknown): FactRow | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol'])) return refusedField
  const { symbol, adjustedFundingRateCap: cap, adjustedFundingRateFloor: floor, fundingIntervalHours: hours } = row
  if (!isCount(hours) || hours === 0 || hours > DAY_HOURS || !isSigned(cap) || !isSigned(floor)) return refusedField
  if (Number(cap) <= Number(floor)) return refusedField
  if (!isUsdtMarket(symbol)) return undefined
  const terms = { intervalHours: hours, cap: Number(cap), floor: Number(floor) }
  return { kind: 'terms', symbol, ...terms, ...marginOf(Number(cap)) }
}

/**
 * Margin tiers need a key here, so the first one is inferred from the cap and taken for all positions: an approximation
 * that holds for the large markets (BTC 0.4 %, SOL 0.5 %, DOGE 0.65 %) and small positions.
 */
function marginOf(cap: number): Pick<TermsFact, 'maxLeverage' | 'tiers'> {
  if (!(cap > 0 && cap < FLAT_CAP)) return {}
  const rate = Number((cap / CAP_OF_MARGIN).toFixed(RATE_DECIMALS))
  const tiers = [{ upTo: null, rate, deduction: 0 }]
  const maxLeverage = LEVERAGES.find((leverage) => leverage * 2 * rate <= 1)
  return maxLeverage === undefined ? { tiers } : { tiers, maxLeverage }
}

/** The interest term that a row of `premiumIndex` tells: "0.00010000" is 0.03 % a day. */
function readInterest(row: unknown): FactRow | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol'])) return refusedField
  const { symbol, interestRate } = row
  // Dated futures have an empty one.
  if (!isUsdtMarket(symbol) || interestRate === undefined || interestRate === '') return undefined
  if (!isAmount(interestRate)) return refusedField
  return { kind: 'terms', symbol, interestDaily: productOf(interestRate, INTERESTS_PER_DAY) }
}

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
    scope: wanted,
    everyMs: 15 * SECOND_MS,
    call: (symbol) => ({ path: `/fapi/v1/openInterest?${symbolQuery(symbol)}`, cost: 1 }),
    parse: parseOpenInterest,
  },
  {
    // What the stream says each second, for when it does not.
    name: 'premium-index',
    ...funding,
    scope: whole,
    everyMs: 30 * SECOND_MS,
    call: () => ({ path: '/fapi/v1/premiumIndex', cost: 10 }),
    parse: (_whole, body) => rowsOf(body, readPremiumIndex),
  },
  {
    name: 'premium',
    ...funding,
    scope: catalogue,
    everyMs: MINUTE_MS,
    call: (symbol) => ({
      path: `/fapi/v1/premiumIndexKlines?${symbolQuery(symbol)}&interval=1m&limit=${MINUTES}`,
      cost: 1,
    }),
    parse: parsePremiums,
  },
  {
    // Markets settle at any full hour; one call tells of all of them.
    name: 'settlements',
    ...funding,
    scope: whole,
    everyMs: MINUTE_MS,
    ...settlementsOf(2 * HOUR_MS),
  },
  // What an outage of hours has kept from us.
  { name: 'settlements-day', ...funding, scope: whole, everyMs: HOUR_MS, ...settlementsOf(26 * HOUR_MS) },
  {
    name: 'top-positions',
    ...funding,
    scope: wanted,
    everyMs: MINUTE_MS,
    call: (symbol) => ({
      path: `/futures/data/topLongShortPositionRatio?${symbolQuery(symbol)}&period=5m&limit=3`,
      cost: STATISTICS_COST,
    }),
    parse: parseTopPositions,
  },
  candlePoll('perp', {
    call: (symbol) => ({ path: `/fapi/v1/klines?${symbolQuery(symbol)}&interval=1m&limit=${MINUTES}`, cost: 1 }),
    parse: (symbol, body, now) => parseCandles(symbol, body, now),
  }),
]

/** An interval may change at any settlement: until it is known, what is made of a rate for a year is wrong. */
const TERMS_MS = 5 * MINUTE_MS
const terms: readonly Poll[] = [
  {
    name: 'funding-info',
    ...funding,
    scope: whole,
    everyMs: TERMS_MS,
    call: () => ({ path: '/fapi/v1/fundingInfo', cost: FUNDING_COST }),
    parse: (_whole, body) => parseFundingInfo(body),
  },
  {
    name: 'interest',
    ...funding,
    scope: whole,
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
    scope: whole,
    everyMs: 'once',
    ...settlementsOfWindow(back),
  })),
  {
    name: 'premium-past',
    ...funding,
    scope: catalogue,
    everyMs: 'once',
    call: (symbol, now) => premiumsSince(symbol, now - (now % SETTLEMENT_MS), now),
    parse: parsePremiums,
  },
]

/** At most 480 minutes. Weight 1 below 100 rows, 2 below 500. */
function premiumsSince(symbol: string, from: number, now: number): { path: string; cost: number } {
  const limit = Math.floor((now - from) / MINUTE_MS) + 1
  const path = `/fapi/v1/premiumIndexKlines?${symbolQuery(symbol)}&interval=1m&startTime=${from}&limit=${limit}`
  return { path, cost: limit < 100 ? 1 : 2 }
}

/** Weight 80 of 6000 a minute: also the first word on pairs that are quiet when the stream begins. */
const spotTickers: Poll = {
  ...tickersPoll('all', { path: '/api/v3/ticker/24hr', cost: 80 }, (body) => rowsOf(body, readTicker24h)),
  host: 'spotRest',
}

export const polls: readonly Poll[] = [spotTickers, ...running, ...terms, ...past]
