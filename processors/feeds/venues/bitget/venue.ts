import { candleOf, isFact, refusedField, settlementOf } from '../fact-fields.ts'
import { countOf, isRecord, microsOf } from '../fields.ts'
import type { FactRow } from '../events.ts'
import type { PastFacts, PastPages, TradeVenue } from '../venue.ts'
import { rowsOf, trades } from './trades.ts'

/** `history-candles`: "limit: maximum 200", 20 calls a second and address; they do not say who took. */
const pastCandles: PastPages = {
  host: 'rest',
  pageSize: 200,
  call(symbol, seconds, from, to) {
    const query = `symbol=${encodeURIComponent(symbol)}&productType=USDT-FUTURES&granularity=${seconds === 60 ? '1m' : '1H'}`
    const path = `/api/v2/mix/market/history-candles?${query}&startTime=${from / 1_000}&endTime=${to / 1_000}&limit=200`
    return { path, cost: 1 }
  },
  parse: (symbol, seconds, body, now) => rowsOf(body, (row) => readCandle(symbol, row, now - seconds * 1_000)),
}

/** "[start, open, high, low, close, volume in coins, volume in dollars]"; those that begin at `newest` at the latest. */
function readCandle(symbol: string, row: unknown, newest: number): FactRow[] {
  if (!Array.isArray(row)) return [refusedField]
  const [start, ...values]: unknown[] = row
  const minute = microsOf(countOf(start) ?? 0)
  return minute !== undefined && minute / 1_000 > newest ? [] : [candleOf(symbol, minute, values)]
}

/** "pageSize: maximum 100". */
const RATES = 100

/**
 * `history-fund-rate`, newest first, 20 calls a second and address. It knows no times: pages are counted from now, so each
 * question begins with the first and goes on until it has come to its begin.
 */
const pastSettlements: PastFacts = {
  name: 'settlements',
  host: 'rest',
  seconds: 8 * 3_600,
  // 90 days, in one question: another one for what is older would begin with the same pages again.
  pageSize: 270,
  depth: 270,
  call(symbol) {
    const query = `symbol=${encodeURIComponent(symbol)}&productType=USDT-FUTURES`
    return { path: `/api/v2/mix/market/history-fund-rate?${query}&pageSize=${RATES}&pageNo=1`, cost: 1 }
  },
  parse: (symbol, _seconds, body) => rowsOf(body, (row) => [readSettlement(symbol, row)]),
  next({ path, cost }, rows, from) {
    const isOn =
      rows.length === RATES && rows.every((row) => !isFact(row) || row.kind !== 'settlement' || row.time >= from)
    const page = Number(/\d+$/.exec(path)?.[0])
    return isOn ? { path: path.replace(/\d+$/, String(page + 1)), cost } : undefined
  },
}

/** "fundingRate, fundingTime": text, milliseconds. */
function readSettlement(asked: string, row: unknown): FactRow {
  if (!isRecord(row) || row['symbol'] !== asked) return refusedField
  return settlementOf(asked, row['fundingRate'], microsOf(countOf(row['fundingTime']) ?? 0))
}

/** Bitget's trades. Evidence: README.md beside this file. */
export const bitget: TradeVenue = {
  name: 'bitget',
  // "Frequency limit: 10 times/1s (IP)" of history transactions, 20 of the others: 4 at once and 6 a second are at most 10.
  budgets: { rest: { capacity: 4, refillPerSecond: 6 } },
  trades,
  listings: [],
  streams: [],
  polls: [],
  past: pastCandles,
  pastFacts: [pastSettlements],
}
