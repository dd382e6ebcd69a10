import { MINUTE_MS, plain, refusedField } from '../fact-fields.ts'
import { countOf, isCount, isDecimal, isRecord, microsOf } from '../fields.ts'
import type { FactRow, Poll, RatioFact } from '../source.ts'
import { rowsOf } from './answers.ts'

/**
 * Top traders of 5 minutes, ascending: `top_lsr_size` is long over short by position size, `top_lsr_account` by heads.
 * Times are seconds; figures may be numbers or texts. The venue does not say who is a top trader.
 */
export const topTraders: Poll = {
  name: 'contract-stats',
  host: 'rest',
  topic: 'market.funding',
  subjects: { of: 'wanted', market: 'perp' },
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
