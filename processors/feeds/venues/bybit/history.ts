import { amountOf, isSigned, MINUTE_MS, minuteOf, refusedField, SETTLEMENT_MS } from '../fact-fields.ts'
import { badBody, countOf, isDecimal, isRecord, microsOf } from '../fields.ts'
import type { FactRow } from '../events.ts'
import type { CandleLookup, PastCandles, Poll, RestAnswer } from '../venue.ts'
import { answerOf } from './messages.ts'

type Calls = Pick<Poll, 'call' | 'parse'>

/** The newest settled rates. */
export function settlements(limit: number): Calls {
  return {
    call: (symbol) => ({ path: `/v5/market/funding/history?${about(symbol)}&limit=${limit}`, cost: 1 }),
    parse: (symbol, body) => oldestFirst(body, (row) => readSettlement(symbol, row)),
  }
}

function readSettlement(asked: string, row: unknown): FactRow {
  if (!isRecord(row)) return refusedField
  const { symbol, fundingRate: rate, fundingRateTimestamp } = row
  const time = timeOf(fundingRateTimestamp)
  if (symbol !== asked || !isSigned(rate) || time === undefined) return refusedField
  return { kind: 'settlement', symbol: asked, rate, mark: null, time }
}

/** Closes of the last closed minutes of the premium index: as many as a mean may miss while the venue does not answer. */
export const premiumMinutes: Calls = {
  call: (symbol) => ({ path: `${premiumPath(symbol)}&limit=15`, cost: 1 }),
  parse: parsePremiums,
}

/** The same since the last settlement: at most 480 minutes, one page. */
export const premiumSinceSettlement: Calls = {
  call: (symbol, now) => ({ path: `${premiumPath(symbol)}&start=${now - (now % SETTLEMENT_MS)}&limit=1000`, cost: 1 }),
  parse: parsePremiums,
}

function premiumPath(symbol: string): string {
  return `/v5/market/premium-index-price-kline?${about(symbol)}&interval=1`
}

function parsePremiums(symbol: string, body: unknown, now: number): RestAnswer<FactRow> {
  return candlesOf(symbol, body, now - MINUTE_MS, ([start, , , , close]) => {
    const time = timeOf(start)
    if (time === undefined || !isSigned(close)) return refusedField
    return { kind: 'derivative', symbol, premium: { premium: close, time } }
  })
}

/** The last closed minutes of the trades; the venue does not say who took. */
export const candles: Calls = {
  call: (symbol) => ({ path: `/v5/market/kline?${about(symbol)}&interval=1&limit=3`, cost: 1 }),
  parse: (symbol, body, now) => parseCandles(symbol, body, now),
}

export const candleLookup: CandleLookup = {
  host: 'rest',
  call(symbol, from, to) {
    const bounds = `start=${minuteOf(from) / 1_000}&end=${Math.ceil(to / 1_000) - 1}`
    return { path: `/v5/market/kline?${about(symbol, 'spot')}&interval=1&${bounds}&limit=1000`, cost: 1 }
  },
  parse: (symbol, body, now) => parseCandles(symbol, body, now),
}

/** "Limit for data size per page. [1, 1000]"; `start` and `end` are both inclusive. */
export const pastCandles: PastCandles = {
  host: 'rest',
  pageSize: 1000,
  call(symbol, seconds, from, to) {
    const bounds = `start=${from / 1_000}&end=${to / 1_000 - 1}`
    return { path: `/v5/market/kline?${about(symbol)}&interval=${seconds / 60}&${bounds}&limit=1000`, cost: 1 }
  },
  parse: (symbol, seconds, body, now) => parseCandles(symbol, body, now, seconds * 1_000),
}

function parseCandles(symbol: string, body: unknown, now: number, lengthMs: number = MINUTE_MS): RestAnswer<FactRow> {
  return candlesOf(symbol, body, now - lengthMs, ([start, open, high, low, close, size]) => {
    const minute = timeOf(start)
    const volume = amountOf(size)
    if (minute === undefined || typeof volume !== 'string') return refusedField
    if (!isDecimal(open) || !isDecimal(high) || !isDecimal(low) || !isDecimal(close)) return refusedField
    return { kind: 'candle', symbol, minute, open, high, low, close, volume, takerBuy: null, trades: null }
  })
}

/** Rows of a `kline` call that begin at `newest` at the latest: the last one may be of a time that still runs. */
function candlesOf(
  symbol: string,
  body: unknown,
  newest: number,
  read: (row: readonly unknown[]) => FactRow,
): RestAnswer<FactRow> {
  const result = isRecord(body) ? body['result'] : undefined
  if (isRecord(result) && Array.isArray(result['list']) && result['symbol'] !== symbol) return badBody(symbol)
  return oldestFirst(body, (row) => {
    if (!Array.isArray(row)) return refusedField
    return (countOf(row[0]) ?? 0) > newest ? undefined : read(row)
  })
}

/** The venue lists the newest first. */
function oldestFirst(body: unknown, read: (row: unknown) => FactRow | undefined): RestAnswer<FactRow> {
  const answer = answerOf(body, read)
  return answer.kind === 'rows' ? { ...answer, rows: answer.rows.toReversed() } : answer
}

function about(symbol: string, category = 'linear'): string {
  return `category=${category}&symbol=${encodeURIComponent(symbol)}`
}

function timeOf(text: unknown): number | undefined {
  return microsOf(countOf(text) ?? 0)
}
