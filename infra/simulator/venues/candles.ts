import { type Candle, merge, withFlatCandles } from '../ledger/candles.ts'
import type { History } from '../ledger/history.ts'
import type { PerpMarket, SettledRate, SpotMinute } from '../market/economy.ts'
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

/** How many settlements of a market are between two times, milliseconds, at most: no more need be made up. */
export function settledBetween({ intervalHours }: { intervalHours: number }, from = 0, to = Infinity): number {
  return Math.ceil(Math.max(0, to - from) / (intervalHours * 3_600_000)) + 1
}

const MINUTE: Micros = 60_000_000

/** The economy's minutes; from a market's first trade on what it traded, and nothing where it did not. */
export function withTraded(minutes: readonly SpotMinute[], history: History | undefined): SpotMinute[] {
  const candles = history?.candles.every(60_000, 0, Number.POSITIVE_INFINITY) ?? []
  const [first] = candles
  if (history === undefined || first === undefined) return [...minutes]
  const { priceDecimals, sizeDecimals } = history.market
  const byStart = new Map(candles.map((candle) => [candle.startMs * 1000, candle]))
  const price = (units: number): number => Number(`${units}e-${priceDecimals}`)
  const size = (units: number): number => Number(`${units}e-${sizeDecimals}`)
  return minutes.map((minute) => {
    const candle = byStart.get(minute.start)
    if (candle === undefined) return minute.start < first.startMs * 1000 ? minute : { ...minute, volume: 0, buy: 0 }
    const { open, high, low, close, buy, sell } = candle
    const prices = { open: price(open), high: price(high), low: price(low), close: price(close) }
    return { start: minute.start, ...prices, volume: size(buy + sell), buy: size(buy) }
  })
}

/** Closed minutes and the open one, as venues show them: at `last`, with nothing traded yet. */
export function withOpenMinute(minutes: readonly SpotMinute[], last: number, now: Micros): SpotMinute[] {
  const start = Math.floor(now / MINUTE) * MINUTE
  const closed = minutes.filter((minute) => minute.start < start)
  const open = closed.at(-1)?.close ?? last
  const [high, low] = [Math.max(open, last), Math.min(open, last)]
  return [...closed, { start, open, high, low, close: last, volume: 0 }]
}

/** Minutes put together to candles of `intervalMs`; oldest first. */
export function longerCandles(minutes: readonly SpotMinute[], intervalMs: number): SpotMinute[] {
  return byInterval(minutes, intervalMs).map(([startMs, group]) => {
    const [first, last] = [group[0], group.at(-1)]
    return {
      start: startMs * 1000,
      open: first?.open ?? 0,
      high: Math.max(...group.map(({ high }) => high)),
      low: Math.min(...group.map(({ low }) => low)),
      close: last?.close ?? 0,
      volume: group.reduce((sum, { volume }) => sum + volume, 0),
    }
  })
}

/** Minutes by the interval that they are in: its beginning in ms, and the minutes in their order. */
export function byInterval<Minute extends { readonly start: Micros }>(
  minutes: readonly Minute[],
  intervalMs: number,
): [startMs: number, minutes: Minute[]][] {
  const groups = new Map<number, Minute[]>()
  for (const minute of minutes) {
    const startMs = Math.floor(minute.start / 1000 / intervalMs) * intervalMs
    const group = groups.get(startMs)
    if (group === undefined) groups.set(startMs, [minute])
    else group.push(minute)
  }
  return [...groups]
}
