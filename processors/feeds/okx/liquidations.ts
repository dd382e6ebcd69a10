import { isRecord, isSymbol, isDecimal } from '../fields.ts'
import { refusedField } from '../fact-fields.ts'
import type { FactRow } from '../source.ts'
import { timeOf } from './derivative.ts'

/**
 * An instrument's part of a message of `liquidation-orders`: "recent liquidation orders, not the total". A message may
 * come again after subscribing; rows have no id, so what they say is one, with a number for those that say the same.
 */
export function readLiquidations(row: unknown): readonly FactRow[] {
  if (!isRecord(row) || !isSymbol(row['instId']) || !Array.isArray(row['details'])) return [refusedField]
  const { instId, details } = row
  const counts = new Map<string, number>()
  return details.map((detail: unknown) => readDetail(instId, detail, counts))
}

/** `side` is the order's: selling closes a long; `posSide` may be "net". `sz` counts contracts. */
function readDetail(symbol: string, detail: unknown, counts: Map<string, number>): FactRow {
  if (!isRecord(detail)) return refusedField
  const { side: order, bkPx: price, sz: size, ts } = detail
  const time = timeOf(ts)
  if (time === undefined || !isDecimal(price) || !isDecimal(size) || (order !== 'sell' && order !== 'buy'))
    return refusedField
  const said = `${time / 1_000}-${order}-${price}-${size}`
  const nth = (counts.get(said) ?? 0) + 1
  counts.set(said, nth)
  const side = order === 'sell' ? 'long' : 'short'
  return {
    kind: 'liquidation',
    symbol,
    id: `${said}-${nth}`,
    side,
    size,
    price,
    priceKind: 'bankruptcy',
    completeness: 'sampled',
    time,
  }
}
