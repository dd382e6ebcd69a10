import { refusedField } from '../fact-fields.ts'
import { isCount, isDecimal, isRecord, isSymbol, microsOf } from '../fields.ts'
import type { FactRow } from '../source.ts'
import { isUsdtMarket } from './listed.ts'

/**
 * A message of `!forceOrder@arr`: "for each symbol, only the largest liquidation order within 1000ms is pushed", so it is
 * a sample, and a lower bound.
 *
 * `S` is the order's side: SELL closes a long. `z` is what was filled, `ap` at which average. The id is the second of the
 * push (`E`): pushes of a symbol are at least a second apart, their orders' own times (`T`) need not be.
 */
export function readForceOrder({ o: order, E }: Record<string, unknown>): FactRow | undefined {
  if (!isRecord(order) || !isCount(E) || microsOf(E) === undefined) return refusedField
  const { s, S, z, ap, X, T } = order
  const time = isCount(T) ? microsOf(T) : undefined
  if (!isSymbol(s) || time === undefined || (S !== 'SELL' && S !== 'BUY') || typeof X !== 'string') return refusedField
  // An order that is not done will be pushed again when it is, if it is the largest then.
  if (!isUsdtMarket(s) || X !== 'FILLED') return undefined
  if (!isDecimal(z) || !isDecimal(ap)) return refusedField
  return {
    kind: 'liquidation',
    symbol: s,
    id: String(Math.floor(E / 1000)),
    side: S === 'SELL' ? 'long' : 'short',
    size: z,
    price: ap,
    priceKind: 'average_fill',
    completeness: 'sampled',
    time,
  }
}
