import type { Micros } from '../../../../schemas/records.ts'
import { amountOf, MINUTE_MS, minuteOf, plain, refusedField } from '../fact-fields.ts'
import { badBody, isCount, isDecimal, microsOf } from '../fields.ts'
import type { FactRow } from '../events.ts'
import type { CandleLookup, Poll, RestAnswer, RestCall } from '../venue.ts'
import { refusal } from './messages.ts'

/** "The maximum number of data points for a single request is 300": a longer time is refused. */
const PAGE_MINUTES = 300
/** Minutes that each poll asks for. */
const POLLED_MINUTES = 4

/** The last closed minutes of the trades; minutes without any are not listed. */
export const candles: Pick<Poll, 'call' | 'parse'> = {
  call: (symbol, now) => callFor(symbol, now - POLLED_MINUTES * MINUTE_MS, now),
  parse: parseCandles,
}

export const candleLookup: CandleLookup = {
  host: 'rest',
  call(symbol, from: Micros, to: Micros) {
    const end = Math.ceil(to / 1_000)
    return callFor(symbol, Math.max(minuteOf(from) / 1_000, end - (PAGE_MINUTES - 1) * MINUTE_MS), end)
  },
  parse: parseCandles,
}

function callFor(symbol: string, fromMs: number, toMs: number): RestCall {
  const bounds = `start=${new Date(fromMs).toISOString()}&end=${new Date(toMs).toISOString()}`
  return { path: `/products/${encodeURIComponent(symbol)}/candles?granularity=60&${bounds}`, cost: 1 }
}

function parseCandles(symbol: string, body: unknown, now: number): RestAnswer<FactRow> {
  if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of candles')
  const rows = body.toReversed().map((row: unknown) => readCandle(symbol, row, now))
  return { kind: 'rows', rows: rows.filter((row) => row !== undefined) }
}

/** "[time, low, high, open, close, volume]", newest first: low before high, in numbers, time in seconds. */
function readCandle(symbol: string, row: unknown, now: number): FactRow | undefined {
  if (!Array.isArray(row)) return refusedField
  const [seconds, ...numbers]: unknown[] = row
  const [low, high, open, close, size] = numbers.map(plain)
  const minute = isCount(seconds) ? microsOf(seconds * 1_000) : undefined
  const volume = amountOf(size)
  if (minute === undefined || typeof volume !== 'string') return refusedField
  if (minute / 1_000 + MINUTE_MS > now) return undefined
  if (!isDecimal(open) || !isDecimal(high) || !isDecimal(low) || !isDecimal(close)) return refusedField
  return { kind: 'candle', symbol, minute, open, high, low, close, volume, takerBuy: null, trades: null }
}
