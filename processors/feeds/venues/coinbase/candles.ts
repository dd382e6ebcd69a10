import type { Micros } from '../../../../schemas/records.ts'
import { amountOf, MINUTE_MS, minuteOf, plain, refusedField } from '../fact-fields.ts'
import { badBody, isCount, isDecimal, microsOf } from '../fields.ts'
import type { FactRow } from '../events.ts'
import type { CandleLookup, PastPages, Poll, RestAnswer, RestCall } from '../venue.ts'
import { refusal } from './messages.ts'

/** "The maximum number of data points for a single request is 300": a longer time is refused. */
const PAGE_SIZE = 300
/** Minutes that each poll asks for. */
const POLLED_MINUTES = 4

/** The last closed minutes of the trades; minutes without any are not listed. */
export const candles: Pick<Poll, 'call' | 'parse'> = {
  call: (symbol, now) => callFor(symbol, now - POLLED_MINUTES * MINUTE_MS, now),
  parse: (symbol, body, now) => parseCandles(symbol, body, now),
}

export const candleLookup: CandleLookup = {
  host: 'rest',
  call(symbol, from: Micros, to: Micros) {
    const end = Math.ceil(to / 1_000)
    return callFor(symbol, Math.max(minuteOf(from) / 1_000, end - (PAGE_SIZE - 1) * MINUTE_MS), end)
  },
  parse: (symbol, body, now) => parseCandles(symbol, body, now),
}

export const pastCandles: PastPages = {
  host: 'rest',
  pageSize: PAGE_SIZE,
  call: (symbol, seconds, from, to) => callFor(symbol, from / 1_000, to / 1_000 - 1, seconds),
  parse: (symbol, seconds, body, now) => parseCandles(symbol, body, now, seconds * 1_000),
}

function callFor(symbol: string, fromMs: number, toMs: number, seconds = 60): RestCall {
  const bounds = `start=${new Date(fromMs).toISOString()}&end=${new Date(toMs).toISOString()}`
  return { path: `/products/${encodeURIComponent(symbol)}/candles?granularity=${seconds}&${bounds}`, cost: 1 }
}

function parseCandles(symbol: string, body: unknown, now: number, lengthMs: number = MINUTE_MS): RestAnswer<FactRow> {
  if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of candles')
  const rows = body.toReversed().map((row: unknown) => readCandle(symbol, row, now - lengthMs))
  return { kind: 'rows', rows: rows.filter((row) => row !== undefined) }
}

/** "[time, low, high, open, close, volume]", newest first: low before high, in numbers, time in seconds. */
function readCandle(symbol: string, row: unknown, newest: number): FactRow | undefined {
  if (!Array.isArray(row)) return refusedField
  const [seconds, ...numbers]: unknown[] = row
  const [low, high, open, close, size] = numbers.map(plain)
  const minute = isCount(seconds) ? microsOf(seconds * 1_000) : undefined
  const volume = amountOf(size)
  if (minute === undefined || typeof volume !== 'string') return refusedField
  if (minute / 1_000 > newest) return undefined
  if (!isDecimal(open) || !isDecimal(high) || !isDecimal(low) || !isDecimal(close)) return refusedField
  return { kind: 'candle', symbol, minute, open, high, low, close, volume, takerBuy: null, trades: null }
}
