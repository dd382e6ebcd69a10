import type { Micros } from '../../../schemas/records.ts'
import { isAmount, isSigned, MINUTE_MS, refusedField } from '../fact-fields.ts'
import { isCount, isDecimal, microsOf } from '../fields.ts'
import type { FactRow } from '../source.ts'
import type { RestAnswer } from '../venue.ts'
import { rowsOf } from './answers.ts'

/** Minutes of the premium index: `[open time, open, high, low, close, ...]`; the close is what counts. */
export function parsePremiums(symbol: string, body: unknown, now: number): RestAnswer<FactRow> {
  return closedMinutes(body, now, ([, , , , close], time) =>
    isSigned(close) ? { kind: 'derivative', symbol, premium: { premium: close, time } } : refusedField,
  )
}

/**
 * Minutes of the trades: `[open time, open, high, low, close, base volume, close time, quote volume, trades, taker buy
 * base volume, ...]`.
 */
export function parseCandles(symbol: string, body: unknown, now: number): RestAnswer<FactRow> {
  return closedMinutes(body, now, ([, open, high, low, close, volume, , , trades, takerBuy], minute) => {
    if (!isDecimal(open) || !isDecimal(high) || !isDecimal(low) || !isDecimal(close)) return refusedField
    if (!isAmount(volume) || !isCount(trades) || !isAmount(takerBuy)) return refusedField
    return { kind: 'candle', symbol, minute, open, high, low, close, volume, takerBuy, trades }
  })
}

/** Rows of minutes that are over; the newest row is usually of the one that still runs. */
function closedMinutes(
  body: unknown,
  now: number,
  read: (row: readonly unknown[], start: Micros) => FactRow,
): RestAnswer<FactRow> {
  return rowsOf(body, (row) => {
    if (!Array.isArray(row)) return refusedField
    const values: readonly unknown[] = row
    const [start, , , , , , end] = values
    const time = isCount(start) ? microsOf(start) : undefined
    if (time === undefined || !isCount(start) || start % MINUTE_MS !== 0 || end !== start + MINUTE_MS - 1)
      return refusedField
    return start + MINUTE_MS > now ? undefined : read(values, time)
  })
}
