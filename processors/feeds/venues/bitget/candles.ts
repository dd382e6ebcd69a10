import { amountOf, refusedField } from '../fact-fields.ts'
import { countOf, isDecimal, microsOf } from '../fields.ts'
import type { FactRow } from '../events.ts'
import type { PastPages } from '../venue.ts'
import { rowsOf } from './messages.ts'

/** `history-candles`: "limit: maximum 200", 20 calls a second and address; they do not say who took. */
export const pastCandles: PastPages = {
  host: 'rest',
  pageSize: 200,
  call(symbol, seconds, from, to) {
    const about = `symbol=${encodeURIComponent(symbol)}&productType=USDT-FUTURES&granularity=${seconds === 60 ? '1m' : '1H'}`
    const path = `/api/v2/mix/market/history-candles?${about}&startTime=${from / 1_000}&endTime=${to / 1_000}&limit=200`
    return { path, cost: 1 }
  },
  parse: (symbol, seconds, body, now) => rowsOf(body, (row) => readCandle(symbol, row, now - seconds * 1_000)),
}

/** "[start, open, high, low, close, volume in coins, volume in dollars]"; those that begin at `newest` at the latest. */
function readCandle(symbol: string, row: unknown, newest: number): FactRow[] {
  if (!Array.isArray(row)) return [refusedField]
  const [start, open, high, low, close, size]: unknown[] = row
  const minute = microsOf(countOf(start) ?? 0)
  const volume = amountOf(size)
  if (minute === undefined || typeof volume !== 'string') return [refusedField]
  if (minute / 1_000 > newest) return []
  if (!isDecimal(open) || !isDecimal(high) || !isDecimal(low) || !isDecimal(close)) return [refusedField]
  return [{ kind: 'candle', symbol, minute, open, high, low, close, volume, takerBuy: null, trades: null }]
}
