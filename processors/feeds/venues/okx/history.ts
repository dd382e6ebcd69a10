import type { Micros } from '../../../../schemas/records.ts'
import {
  candleOf,
  isAmount,
  isFact,
  isSigned,
  MINUTE_MS,
  minuteOf,
  refusedField,
  settlementOf,
  SETTLEMENT_MS,
  withIndexes,
} from '../fact-fields.ts'
import { isDecimal, isRecord } from '../fields.ts'
import type { DerivativeFact, FactRow } from '../events.ts'
import type { PastFacts, PastPages, Poll, RestAnswer, RestCall } from '../venue.ts'
import { timeOf } from './facts.ts'
import { answerOf } from './messages.ts'

type Calls = Pick<Poll, 'call' | 'parse'>

/** The newest settled rates; "10 requests per 2 seconds". */
export function settlements(limit: number): Calls {
  return {
    call: (symbol) => ({ path: `/api/v5/public/funding-rate-history?${symbolQuery(symbol)}&limit=${limit}`, cost: 4 }),
    parse: (symbol, body) => oldestFirst(answerOf(body, (row) => [readSettlement(symbol, row)])),
  }
}

/** "realizedRate: actual funding rate"; before it there was "fundingRate" alone. */
function readSettlement(symbol: string, row: unknown): FactRow {
  if (!isRecord(row) || row['instId'] !== symbol) return refusedField
  const { fundingRate, realizedRate: rate = fundingRate, fundingTime } = row
  return settlementOf(symbol, rate, timeOf(fundingTime))
}

/** A page has 100 rows, about one a minute; a window has fewer, so that nothing of it is cut off. */
const WINDOW_MS = 90 * MINUTE_MS
/** The newest row is this old at most when there is nothing more to read. */
const UP_TO_DATE_MS = 2 * MINUTE_MS

/** The premium of the last closed minutes; "20 requests per 2 seconds". */
export const premiumMinutes: Calls = {
  call: (symbol) => ({ path: `${premiumPath(symbol)}&limit=5`, cost: 2 }),
  parse: (symbol, body, now) =>
    closesOf(
      answerOf(body, (row) => [readPremium(symbol, row)]),
      now,
    ),
}

/** The same since the last settlement, oldest window first. */
export const premiumSinceSettlement: Calls = {
  call: (symbol, now) => premiumWindow(symbol, now - (now % SETTLEMENT_MS) - 1),
  parse(symbol, body, now) {
    const answer = answerOf(body, (row) => [readPremium(symbol, row)])
    if (answer.kind !== 'rows') return answer
    const newest = Math.max(...answer.rows.map((row) => premiumOf(row)?.time ?? 0)) / 1_000
    const goesOn = newest > 0 && newest < now - UP_TO_DATE_MS
    return { ...closesOf(answer, now), ...(goesOn ? { next: premiumWindow(symbol, newest) } : {}) }
  },
}

/** "after: earlier than the requested ts; before: newer"; `before` alone would give the newest page. */
function premiumWindow(symbol: string, before: number): RestCall {
  return { path: `${premiumPath(symbol)}&before=${before}&after=${before + WINDOW_MS}&limit=100`, cost: 2 }
}

function premiumPath(symbol: string): string {
  return `/api/v5/public/premium-history?${symbolQuery(symbol)}`
}

function readPremium(symbol: string, row: unknown): FactRow {
  if (!isRecord(row) || row['instId'] !== symbol) return refusedField
  const { premium, ts } = row
  const time = timeOf(ts)
  if (!isSigned(premium) || time === undefined) return refusedField
  return { kind: 'derivative', symbol, premium: { premium, time } }
}

/** The last row of each minute that is over is its close, of the time at which the minute began. */
function closesOf(answer: RestAnswer<FactRow>, now: number): RestAnswer<FactRow> {
  const sorted = oldestFirst(answer)
  if (sorted.kind !== 'rows') return sorted
  const closes = new Map<Micros, DerivativeFact>()
  for (const row of sorted.rows) {
    const premium = premiumOf(row)
    if (premium === undefined || !('symbol' in row)) continue
    const minute = minuteOf(premium.time)
    if (minute / 1_000 + MINUTE_MS > now) continue
    closes.set(minute, { kind: 'derivative', symbol: row.symbol, premium: { premium: premium.premium, time: minute } })
  }
  return { kind: 'rows', rows: [...sorted.rows.filter((row) => !isFact(row)), ...closes.values()] }
}

function premiumOf(row: FactRow): DerivativeFact['premium'] {
  return isFact(row) && row.kind === 'derivative' ? row.premium : undefined
}

/** Position ratio of the top traders ("top 5 % by position value"), rows of [time, long over short]. */
export const topTraders: Calls = {
  call: (symbol) => ({
    path: `/api/v5/rubik/stat/contracts/long-short-position-ratio-contract-top-trader?${symbolQuery(symbol)}&period=5m&limit=2`,
    // "5 requests per 2 seconds, by address and instrument".
    cost: 1,
  }),
  parse: (symbol, body) => oldestFirst(answerOf(body, (row) => [readRatio(symbol, row)])),
}

function readRatio(symbol: string, row: unknown): FactRow {
  const [ts, text]: unknown[] = Array.isArray(row) ? row : []
  const time = timeOf(ts)
  if (!isDecimal(text) || time === undefined) return refusedField
  const ratio = Number(text)
  const short = 1 / (1 + ratio)
  return {
    kind: 'ratio',
    symbol,
    cohort: 'top_traders',
    basis: 'positions',
    long: 1 - short,
    short,
    ratio,
    time,
  }
}

/** The last closed minutes of the trades; "40 requests per 2 seconds". */
export const candles: Calls = {
  call: (symbol) => ({ path: `/api/v5/market/candles?${symbolQuery(symbol)}&bar=1m&limit=4`, cost: 1 }),
  parse: (symbol, body) => parseCandles(symbol, body),
}

/** "after: earlier than the requested ts; before: newer"; 300 rows a page. */
function candlePages(what: string, cost: number): PastPages {
  return {
    host: 'rest',
    pageSize: 300,
    call(symbol, seconds, from, to) {
      const bounds = `before=${from / 1_000 - 1}&after=${to / 1_000}`
      const bar = seconds === 60 ? '1m' : '1H'
      return { path: `/api/v5/market/${what}?${symbolQuery(symbol)}&bar=${bar}&${bounds}&limit=300`, cost }
    },
    parse: (symbol, _seconds, body) => parseCandles(symbol, body),
  }
}

export const newCandles = candlePages('candles', 1)
/** "20 requests per 2 seconds". */
export const pastCandles = candlePages('history-candles', 2)

const HOUR = 3_600

/**
 * Statistics by the hour, "limit: the maximum is 100": 1440 rows back. "5 requests per 2 seconds, by address and instrument"
 * (open interest 10): of one instrument alone as many calls follow each other as the bucket gives.
 */
function statistics(what: string, cost: number): Pick<PastFacts, 'host' | 'seconds' | 'pageSize' | 'depth' | 'call'> {
  return {
    host: 'rest',
    seconds: HOUR,
    pageSize: 100,
    depth: 1440,
    call: (symbol, _seconds, from, to) => ({
      path: `/api/v5/rubik/stat/contracts/${what}?${symbolQuery(symbol)}&period=1H&begin=${from / 1_000}&end=${to / 1_000 - 1}&limit=100`,
      cost,
    }),
  }
}

/**
 * Hours of candles again, with what takers bought of them: `taker-volume-contract`, "5 requests per 2 seconds", 100 rows.
 * What it counts in all may differ from the candle's volume, of which its share is told.
 */
const takers: PastFacts = {
  ...pastCandles,
  name: 'takers',
  seconds: HOUR,
  pageSize: 100,
  depth: 1440,
  more: {
    call: (symbol, _seconds, from, to) => ({
      path: `/api/v5/rubik/stat/taker-volume-contract?${symbolQuery(symbol)}&period=1H&unit=1&begin=${from / 1_000}&end=${to / 1_000 - 1}&limit=100`,
      cost: 8,
    }),
    parse(rows, body) {
      const answer = answerOf(body, (row) => [row])
      if (answer.kind !== 'rows') return answer
      const shares = new Map(answer.rows.flatMap((row) => readTakers(row)))
      return { kind: 'rows', rows: rows.flatMap((row) => withTakers(row, shares)) }
    },
  },
}

/** "[ts, sellVol, buyVol]", the selling first: the time and the share of the buying. */
function readTakers(row: unknown): [Micros, number][] {
  const [ts, sell, buy]: unknown[] = Array.isArray(row) ? row : []
  const time = timeOf(ts)
  if (time === undefined || !isAmount(sell) || !isAmount(buy)) return []
  const all = Number(sell) + Number(buy)
  return all > 0 ? [[time, Number(buy) / all]] : []
}

function withTakers(row: FactRow, shares: ReadonlyMap<Micros, number>): FactRow[] {
  if (!isFact(row) || row.kind !== 'candle') return [row]
  const share = shares.get(row.minute)
  return share === undefined ? [] : [{ ...row, takerBuy: (Number(row.volume) * share).toFixed(SIZE_DECIMALS) }]
}

/** Contracts are traded in parts of a hundredth at the smallest. */
const SIZE_DECIMALS = 8

/** Settled rates of three months, open interest and top traders of 60 days, mark and index prices of all time. */
export const pastFacts: readonly PastFacts[] = [
  {
    name: 'settlements',
    host: 'rest',
    // A market that settles each hour has eight in the time of one that settles every eighth: "limit: the maximum is 400".
    seconds: 8 * HOUR,
    pageSize: 50,
    // Rates of the last three months.
    depth: 3 * 90,
    call: (symbol, _seconds, from, to) => ({
      path: `/api/v5/public/funding-rate-history?${symbolQuery(symbol)}&before=${from / 1_000 - 1}&after=${to / 1_000}&limit=400`,
      cost: 4,
    }),
    parse: (symbol, _seconds, body) => settlements(400).parse(symbol, body, 0),
  },
  {
    name: 'open_interest',
    ...statistics('open-interest-history', 4),
    parse: (symbol, _seconds, body) => oldestFirst(answerOf(body, (row) => [readPastInterest(symbol, row)])),
  },
  {
    name: 'top_traders',
    ...statistics('long-short-position-ratio-contract-top-trader', 8),
    parse: (symbol, _seconds, body) => topTraders.parse(symbol, body, 0),
  },
  {
    // A candle's open is the price at its start.
    name: 'prices',
    host: 'rest',
    seconds: HOUR,
    pageSize: 100,
    call: (symbol, _seconds, from, to) => priceCandles('mark-price', symbol, from, to),
    parse: readPrices,
    more: {
      // An index is named as the pair is: BTC-USDT of BTC-USDT-SWAP.
      call: (symbol, _seconds, from, to) => priceCandles('index', symbol.replace(/-SWAP$/, ''), from, to),
      parse: (marks, body) => withIndexes(marks, readPrices('', HOUR, body)),
    },
  },
  takers,
]

/** "[ts, oi (contracts), oiCcy (coins), oiUsd]". */
function readPastInterest(symbol: string, row: unknown): FactRow {
  const [ts, size]: unknown[] = Array.isArray(row) ? row : []
  const time = timeOf(ts)
  if (!isAmount(size) || time === undefined) return refusedField
  return { kind: 'derivative', symbol, openInterest: { size, time } }
}

/** "Mark price candlesticks history", "index candlesticks history": 100 rows; "10 requests per 2 seconds" each. */
function priceCandles(what: 'mark-price' | 'index', id: string, from: Micros, to: Micros): RestCall {
  const range = `before=${from / 1_000 - 1}&after=${to / 1_000}`
  return { path: `/api/v5/market/history-${what}-candles?${symbolQuery(id)}&bar=1H&${range}&limit=100`, cost: 4 }
}

function readPrices(symbol: string, _seconds: number, body: unknown): RestAnswer<FactRow> {
  return oldestFirst(answerOf(body, (row) => [readPastMark(symbol, row)]))
}

/** "[ts, open, high, low, close, confirm]". */
function readPastMark(symbol: string, row: unknown): FactRow {
  const [ts, mark]: unknown[] = Array.isArray(row) ? row : []
  const time = timeOf(ts)
  if (!isDecimal(mark) || time === undefined) return refusedField
  return { kind: 'derivative', symbol, mark: { mark, index: null, time } }
}

function parseCandles(symbol: string, body: unknown): RestAnswer<FactRow> {
  return oldestFirst(answerOf(body, (row) => readCandle(symbol, row)))
}

/** "confirm 1: completed". `vol` counts contracts of a swap and coins of a spot pair, as the sizes of trades do. */
function readCandle(symbol: string, row: unknown): readonly FactRow[] {
  if (!Array.isArray(row)) return [refusedField]
  const [ts, open, high, low, close, volume, , , confirm]: unknown[] = row
  if (confirm === '0') return []
  return confirm === '1' ? [candleOf(symbol, timeOf(ts), [open, high, low, close, volume])] : [refusedField]
}

/** The venue lists the newest first. */
function oldestFirst(answer: RestAnswer<FactRow>): RestAnswer<FactRow> {
  return answer.kind === 'rows' ? { ...answer, rows: answer.rows.toReversed() } : answer
}

function symbolQuery(symbol: string): string {
  return `instId=${encodeURIComponent(symbol)}`
}
