import { type Candle, merge } from '../ledger/candles.ts'
import type { History } from '../ledger/history.ts'
import type { Context } from './venue-api.ts'

/**
 * A market's candles that begin in [fromMs, toMs), oldest first: of its trades as far back as their minutes are kept, and
 * of the market's past before that.
 */
export function candlesOf(
  { world, economy }: Context,
  { candles: traded, market }: History,
  span: { readonly intervalMs: number; readonly fromMs: number; readonly toMs: number },
): Candle[] {
  const untilMs = traded.beginMs ?? Math.floor(world.nowMs / 60_000) * 60_000
  const past = economy.pastCandles(market, { ...span, untilMs })
  const known = traded.every(span.intervalMs, span.fromMs, span.toMs)
  const [last, first] = [past.at(-1), known[0]]
  if (last === undefined || first === undefined || last.startMs !== first.startMs) return [...past, ...known]
  merge(last, first)
  return [...past, ...known.slice(1)]
}
