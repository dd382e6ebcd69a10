import type { FactRow, RatioFact } from '../events.ts'
import { candleOf, MINUTE_MS, plain, refusedField, settlementOf } from '../fact-fields.ts'
import { countOf, isCount, isDecimal, isRecord, microsOf } from '../fields.ts'
import { candlePoll, type PastFacts, type PastPages, type Poll, type TradeVenue } from '../venue.ts'
import { rowsOf, trades } from './trades.ts'

/**
 * Top traders of 5 minutes, ascending: `top_lsr_size` is long over short by position size, `top_lsr_account` by heads.
 * Times are seconds; figures may be numbers or texts. The venue does not say who is a top trader.
 */
export const topTraders: Poll = {
  name: 'contract-stats',
  host: 'rest',
  topic: 'market.funding',
  scope: { of: 'wanted', market: 'perp' },
  everyMs: MINUTE_MS,
  call: (symbol) => ({
    path: `/api/v4/futures/usdt/contract_stats?contract=${encodeURIComponent(symbol)}&interval=5m&limit=3`,
    cost: 1,
  }),
  parse: (symbol, body) => rowsOf(body, (row) => readStats(symbol, row)),
}

/** The two ratios of a row, each judged alone. */
function readStats(symbol: string, row: unknown): FactRow[] {
  if (!isRecord(row)) return [refusedField]
  const { time: seconds, top_lsr_size, top_lsr_account } = row
  const time = microsOf((isCount(seconds) ? seconds : (countOf(seconds) ?? 0)) * 1_000)
  if (time === undefined) return [refusedField]
  return [
    ratioOf(top_lsr_size, { symbol, basis: 'positions', time }),
    ratioOf(top_lsr_account, { symbol, basis: 'accounts', time }),
  ]
}

/** A ratio of 0, or none, says that the venue has no figure: one side is never empty. */
function ratioOf(value: unknown, of: Pick<RatioFact, 'symbol' | 'basis' | 'time'>): FactRow {
  const text = plain(value)
  if (!isDecimal(text)) return refusedField
  const ratio = Number(text)
  const long = ratio / (1 + ratio)
  return { kind: 'ratio', ...of, cohort: 'top_traders', long, short: 1 - long, ratio }
}

const CANDLES = '/api/v4/futures/usdt/candlesticks'

/** "Return specified contract candlesticks": the last minutes, oldest first, the one that runs among them. */
const candles = candlePoll('perp', {
  call: (symbol) => ({ path: `${CANDLES}?contract=${encodeURIComponent(symbol)}&interval=1m&limit=3`, cost: 1 }),
  parse: (symbol, body, now) => rowsOf(body, (row) => readCandle(symbol, row, now - MINUTE_MS)),
})

/** "from, to: Unix timestamp in seconds", both inclusive, which stand for `limit`: "at most 2000 points". */
const pastCandles: PastPages = {
  host: 'rest',
  pageSize: 1000,
  // What is older it refuses: "Candlestick too long ago. Maximum 10000 points ago are allowed" (said of spot).
  depth: 9_999,
  call(symbol, seconds, from, to) {
    const range = `from=${from / 1_000_000}&to=${to / 1_000_000 - 1}`
    const interval = seconds === 60 ? '1m' : '1h'
    return { path: `${CANDLES}?contract=${encodeURIComponent(symbol)}&interval=${interval}&${range}`, cost: 1 }
  },
  parse: (symbol, seconds, body, now) => rowsOf(body, (row) => readCandle(symbol, row, now - seconds * 1_000)),
}

/** "limit" of 100; some 180 days by what is seen. */
const pastTopTraders: PastFacts = {
  name: 'top_traders',
  host: 'rest',
  seconds: 3_600,
  pageSize: 100,
  depth: 180 * 24,
  call(symbol, seconds, from, to) {
    const rows = (to - from) / 1_000_000 / seconds
    const query = `contract=${encodeURIComponent(symbol)}&interval=1h&from=${from / 1_000_000}&limit=${rows}`
    return { path: `/api/v4/futures/usdt/contract_stats?${query}`, cost: 1 }
  },
  parse: (symbol, _seconds, body) => rowsOf(body, (row) => readStats(symbol, row)),
}

/** "Futures market historical funding rate", by `from` and `to` in seconds; asked for with "limit" 1000. */
const pastSettlements: PastFacts = {
  name: 'settlements',
  host: 'rest',
  // A contract that settles each hour has eight in the time of one that settles every eighth.
  seconds: 8 * 3_600,
  pageSize: 100,
  call(symbol, _seconds, from, to) {
    const range = `from=${from / 1_000_000}&to=${to / 1_000_000 - 1}&limit=1000`
    return { path: `/api/v4/futures/usdt/funding_rate?contract=${encodeURIComponent(symbol)}&${range}`, cost: 1 }
  },
  parse: (symbol, _seconds, body) => rowsOf(body, (row) => [readSettlement(symbol, row)]),
}

/** "t: Unix timestamp in seconds; r: funding rate": one to three seconds late. */
function readSettlement(symbol: string, row: unknown): FactRow {
  const { t, r: rate }: Record<string, unknown> = isRecord(row) ? row : {}
  return settlementOf(symbol, rate, isCount(t) ? microsOf(t * 1_000) : undefined)
}

/** "t: Unix timestamp in seconds; v: size volume (contracts)"; only those that begin at `newest` at the latest. */
function readCandle(symbol: string, row: unknown, newest: number): FactRow[] {
  if (!isRecord(row)) return [refusedField]
  const { t, o, h, l, c, v } = row
  const minute = isCount(t) ? microsOf(t * 1_000) : undefined
  if (minute !== undefined && minute / 1_000 > newest) return []
  return [candleOf(symbol, minute, [o, h, l, c, v].map(plain))]
}

/** Gate: trades, and top traders, the third ratio. Evidence: README.md beside this file. */
export const gate: TradeVenue = {
  name: 'gate',
  budgets: {
    // 200 calls in 10 seconds per address and call: 50 at once and 15 a second are at most 200.
    // "X-Gate-RateLimit-Reset-Timestamp: the timestamp when the limit is reset", in seconds.
    rest: { capacity: 50, refillPerSecond: 15, resets: { header: 'x-gate-ratelimit-reset-timestamp', unitMs: 1_000 } },
  },
  trades,
  listings: [],
  streams: [],
  polls: [topTraders, candles],
  past: pastCandles,
  pastFacts: [pastSettlements, pastTopTraders],
}
