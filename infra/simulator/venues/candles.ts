import { type Candle, emptyCandle, joined, merge, withFlatCandles } from '../ledger/candles.ts'
import type { History } from '../ledger/history.ts'
import type { PerpMarket, SettledRate, SpotMarket } from '../market/economy.ts'
import type { Bar } from '../market/premium.ts'
import type { Micros } from '../market/trade.ts'
import type { Context } from './venue-api.ts'

/** A market's candles that begin in [fromMs, toMs), oldest first, flat where nothing traded, as most venues show them. */
export function candlesOf(
  ...[context, history, span]: Parameters<typeof tradedCandlesOf>
): ReturnType<typeof tradedCandlesOf> {
  return withFlatCandles(tradedCandlesOf(context, history, span), span.intervalMs)
}

/** Those in which something traded: of trades as far back as their minutes are kept, and of the market's past before that. */
export function tradedCandlesOf(
  { world, economy }: Context,
  { candles: traded, market }: History,
  span: CandleSpan,
): Candle[] {
  const untilMs = traded.beginMs ?? Math.floor(world.nowMs / MINUTE_MS) * MINUTE_MS
  const past = economy.pastCandles(market, { ...span, untilMs })
  const known = traded.every(span.intervalMs, span.fromMs, span.toMs)
  const [last, first] = [past.at(-1), known[0]]
  if (last === undefined || first === undefined || last.startMs !== first.startMs) return [...past, ...known]
  merge(last, first)
  return [...past, ...known.slice(1)]
}

/** A candle of a mark or index price, dollars of one base unit, or of the premium, a fraction. */
export interface PriceCandle extends Bar {
  readonly startMs: number
}

/** What such candles are of. */
export type Priced = 'mark' | 'index' | 'premium'

/** Candles that begin in [fromMs, toMs). */
export interface CandleSpan {
  readonly intervalMs: number
  readonly fromMs: number
  readonly toMs: number
}

/** A perpetual's candles, oldest first, the one that runs among them: their ends, and nothing wilder. */
export function priceCandlesOf(
  { world, economy }: Context,
  [what, market]: readonly [Priced, PerpMarket],
  { intervalMs, fromMs, toMs }: CandleSpan,
): PriceCandle[] {
  const priceAt = (time: Micros): number => economy[`${what}At` as const](market, time)
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

/** How many settlements of a market are between two times, milliseconds, at most: no more need be made up. */
export function settledBetween({ intervalHours }: { intervalHours: number }, from = 0, to = Infinity): number {
  return Math.ceil(Math.max(0, to - from) / (intervalHours * 3_600_000)) + 1
}

const MINUTE_MS = 60_000

/**
 * A spot pair's candles that begin in [fromMs, toMs), oldest first, the one that runs among them: of its trades where the ledger
 * counts them, and where they are longer than the economy's minutes reach back; else of these.
 */
export function spotCandlesOf(
  context: Context,
  market: SpotMarket,
  history: History | undefined,
  span: CandleSpan,
): Candle[] {
  const { world, economy } = context
  const { intervalMs, fromMs, toMs } = span
  const hasTraded = history?.candles.beginMs !== undefined
  if (history !== undefined && (hasTraded || intervalMs > MINUTE_MS)) return candlesOf(context, history, span)
  const endMs = Math.ceil(toMs / intervalMs) * intervalMs
  const minutes = economy.spotMinutes(market, fromMs * 1000, endMs * 1000)
  const last = Math.round(economy.spot(market).last * 10 ** market.priceDecimals)
  const startMs = Math.floor(world.nowMs / MINUTE_MS) * MINUTE_MS
  const open = emptyCandle(startMs, minutes.at(-1)?.close ?? last)
  merge(open, emptyCandle(startMs, last))
  return joined([...minutes, open], span)
}
