import { isCount, isRecord, microsOf } from '../fields.ts'
import { candleOf, refusedField, settlementOf } from '../fact-fields.ts'
import type { FactRow } from '../events.ts'
import type { PastFacts, PastPages, TradeVenue } from '../venue.ts'
import { info, rowsOf, trades } from './trades.ts'

/** "candleSnapshot: weight 20, and an additional weight per 60 items returned". */
const PAGE_SIZE = 600

/** "Only the most recent 5000 candles are available"; they do not say who took. Both bounds are inclusive. */
const pastCandles: PastPages = {
  host: 'rest',
  pageSize: PAGE_SIZE,
  depth: 4_999,
  call(coin, seconds, from, to) {
    const interval = seconds === 60 ? '1m' : '1h'
    const req = { coin, interval, startTime: from / 1_000, endTime: to / 1_000 - 1 }
    return info(20 + PAGE_SIZE / 60, { type: 'candleSnapshot', req })
  },
  parse(symbol, seconds, body, now) {
    const answer = rowsOf(body, (row) => readCandle(symbol, row))
    if (answer.kind !== 'rows') return answer
    const isOver = (row: FactRow): boolean =>
      !('kind' in row) || row.kind !== 'candle' || row.minute / 1_000 + seconds * 1_000 <= now
    return { ...answer, rows: answer.rows.filter(isOver) }
  },
}

/** "t: open millis, T: close millis, s: coin, i: interval, o, h, l, c: prices, v: volume (base unit), n: number of trades". */
function readCandle(asked: string, row: unknown): FactRow {
  if (!isRecord(row) || row['s'] !== asked) return refusedField
  const { t, o, h, l, c, v, n: trades } = row
  return candleOf(asked, isCount(t) ? microsOf(t) : undefined, [o, h, l, c, v], { trades })
}

/** "fundingHistory": each hour is one; 500 a call at most, "an additional weight per 20 items returned"; bounds "inclusive". */
const pastSettlements: PastFacts = {
  name: 'settlements',
  host: 'rest',
  seconds: 3_600,
  pageSize: 500,
  call(coin, _seconds, from, to) {
    const range = { startTime: from / 1_000, endTime: to / 1_000 - 1 }
    return info(20 + 500 / 20, { type: 'fundingHistory', coin, ...range })
  },
  parse: (symbol, _seconds, body) => rowsOf(body, (row) => readSettlement(symbol, row)),
}

/** "coin, fundingRate, premium, time": the rate of an hour, some milliseconds late. */
function readSettlement(asked: string, row: unknown): FactRow {
  if (!isRecord(row) || row['coin'] !== asked) return refusedField
  const { fundingRate: rate, time } = row
  return settlementOf(asked, rate, isCount(time) ? microsOf(time) : undefined)
}

/** Hyperliquid's trades. Evidence: README.md beside this file. */
export const hyperliquid: TradeVenue = {
  name: 'hyperliquid',
  // "Aggregated weight limit of 1200 per minute" and address: 100 at once and 15 a second are at most 1000 in any minute.
  budgets: { rest: { capacity: 100, refillPerSecond: 15 } },
  trades,
  listings: [],
  streams: [],
  polls: [],
  past: pastCandles,
  pastFacts: [pastSettlements],
}
