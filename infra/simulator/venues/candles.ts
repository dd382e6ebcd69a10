import { type Candle, merge } from '../ledger/candles.ts'
import type { History } from '../ledger/history.ts'
import type { PerpMarket } from '../market/economy.ts'
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

/** A candle of a mark price, dollars of one base unit. */
export interface MarkCandle {
  readonly startMs: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/** Mark prices of a perpetual's candles that begin in [fromMs, toMs), oldest first: their ends, and nothing wilder. */
export function markCandlesOf(
  { world, economy }: Context,
  market: PerpMarket,
  { intervalMs, fromMs, toMs }: { readonly intervalMs: number; readonly fromMs: number; readonly toMs: number },
): MarkCandle[] {
  const candles: MarkCandle[] = []
  for (let startMs = Math.ceil(fromMs / intervalMs) * intervalMs; startMs < toMs; startMs += intervalMs) {
    const open = economy.markAt(market, startMs * 1_000)
    const close = economy.markAt(market, Math.min(startMs + intervalMs, world.nowMs) * 1_000)
    candles.push({ startMs, open, high: Math.max(open, close), low: Math.min(open, close), close })
  }
  return candles
}

/** Open interest of a perpetual at each full `stepMs` of [fromMs, toMs], oldest first; base units of one side. */
export function interestsOf(
  { economy }: Context,
  market: PerpMarket,
  { stepMs, fromMs, toMs }: { readonly stepMs: number; readonly fromMs: number; readonly toMs: number },
): { time: number; size: number }[] {
  const first = Math.ceil(fromMs / stepMs)
  const steps = Array.from({ length: Math.max(0, Math.floor(toMs / stepMs) - first + 1) }, (_, index) => first + index)
  return steps.flatMap((step) => economy.openInterests(market, step * stepMs * 1_000, step * stepMs * 1_000 + 1))
}
