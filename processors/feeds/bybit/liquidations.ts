import type { Micros } from '../../../schemas/records.ts'
import { factEvent, refusedField } from '../fact-fields.ts'
import { badField, isCount, isDecimal, isRecord, isSymbol, microsOf } from '../fields.ts'
import type { FactRow } from '../source.ts'
import type { FrameEvent } from '../venue.ts'

/** A message of `allLiquidation.<symbol>`: every liquidation of the last 500 ms. */
export function readLiquidations({ data, ts }: Record<string, unknown>): FrameEvent[] {
  if (!Array.isArray(data) || !isCount(ts) || microsOf(ts) === undefined) return [badField]
  return data.map((row, index) => factEvent(readRow(row, `${ts}-${index}`)))
}

/**
 * "S: position side; Buy: a long position was liquidated". `v` in base units of the symbol, `p` the bankruptcy price,
 * `T` the time. Rows have no id of their own; the message's time and the place in it are one, and the same for whoever
 * receives the message.
 */
function readRow(row: unknown, id: string): FactRow {
  if (!isRecord(row)) return refusedField
  const { T, s, S, v, p } = row
  const time: Micros | undefined = isCount(T) ? microsOf(T) : undefined
  if (time === undefined || !isSymbol(s) || !isDecimal(v) || !isDecimal(p)) return refusedField
  if (S !== 'Buy' && S !== 'Sell') return refusedField
  const side = S === 'Buy' ? 'long' : 'short'
  return {
    kind: 'liquidation',
    symbol: s,
    id,
    side,
    size: v,
    price: p,
    priceKind: 'bankruptcy',
    completeness: 'all',
    time,
  }
}
