import type { Micros } from '../../schemas/records.ts'
import type { FactMarket } from './fact-market.ts'
import type { FactRow } from './source.ts'

const minute: Micros = 60_000_000

/** Lowest and highest price of the candles whose minutes touch [from, to); undefined: there was no trade, or no row. */
export function boundsOf(
  market: FactMarket,
  rows: readonly FactRow[],
  from: Micros,
  to: Micros,
): { low: number; high: number } | undefined {
  const bounds = rows
    .filter((row) => 'kind' in row && row.kind === 'candle')
    .filter((candle) => candle.minute + minute > from && candle.minute < to)
    .map((candle) => market.bounds(candle))
  if (bounds.length === 0) return undefined
  return { low: Math.min(...bounds.map(({ low }) => low)), high: Math.max(...bounds.map(({ high }) => high)) }
}
