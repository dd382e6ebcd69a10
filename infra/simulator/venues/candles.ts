import { type Candle, merge } from '../ledger/candles.ts'
import type { History } from '../ledger/history.ts'
import type { PerpMarket, SettledRate } from '../market/economy.ts'
import type { Micros } from '../market/trade.ts'
import { settledBetween } from './rest.ts'
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

/** A candle of a mark or index price, dollars of one base unit. */
export interface PriceCandle {
  readonly startMs: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/** Prices of a perpetual's candles that begin in [fromMs, toMs), oldest first: their ends, and nothing wilder. */
export function priceCandlesOf(
  { world, economy }: Context,
  [what, market]: readonly ['mark' | 'index', PerpMarket],
  { intervalMs, fromMs, toMs }: { readonly intervalMs: number; readonly fromMs: number; readonly toMs: number },
): PriceCandle[] {
  const priceAt = (time: Micros): number =>
    what === 'mark' ? economy.markAt(market, time) : economy.indexAt(market, time)
  const candles: PriceCandle[] = []
  for (let startMs = Math.ceil(fromMs / intervalMs) * intervalMs; startMs < toMs; startMs += intervalMs) {
    const open = priceAt(startMs * 1_000)
    const close = priceAt(Math.min(startMs + intervalMs, world.nowMs) * 1_000)
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

/** Settled rates between two times, newest first, `limit` at most. */
export function settlementsOf(
  { world, economy }: Context,
  market: PerpMarket,
  { fromMs = 0, toMs = Infinity, limit }: { readonly fromMs?: number; readonly toMs?: number; readonly limit: number },
): readonly SettledRate[] {
  const endMs = Math.min(toMs, world.nowMs)
  const most = Math.min(limit, settledBetween(market, Math.max(fromMs, endMs - SETTLED_MS), endMs))
  return economy.settlements(market, most, (endMs + 1) * 1_000).filter(({ time }) => time >= fromMs * 1_000)
}

/** Settled rates are made up this far back. */
const SETTLED_MS = 400 * 86_400_000

/** The perpetual whose funding a further market of the asset has: Binance's. */
export function fundedLike({ economy }: Context, asset: string | undefined): PerpMarket | undefined {
  return economy.perps('binance').find((market) => market.asset === asset)
}
