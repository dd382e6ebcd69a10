import type { History } from '../ledger/history.ts'
import type { SpotMinute } from '../market/economy.ts'
import type { Micros } from '../market/trade.ts'
import type { Context, RestReply } from './venue-api.ts'

/** One call of a venue's REST. */
export type Call = (context: Context, query: URLSearchParams) => RestReply
/** A venue's REST by path. */
export type Calls = Readonly<Record<string, Call>>

/** The reply of the call at `path`; undefined: there is none. */
export function answerOf(calls: Calls, path: string, context: Context, query: URLSearchParams): RestReply | undefined {
  return Object.hasOwn(calls, path) ? calls[path]?.(context, query) : undefined
}

export function ok(body: unknown): RestReply {
  return { status: 200, body }
}

/** A whole number of the query: undefined where it is not given, NaN where it is not a whole number. */
export function whole(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

/** How many settlements of a market are between two times, milliseconds, at most: no more need be made up. */
export function settledBetween({ intervalHours }: { intervalHours: number }, from = 0, to = Infinity): number {
  return Math.ceil(Math.max(0, to - from) / (intervalHours * 3_600_000)) + 1
}

/** Whole seconds, at least one, as `Retry-After` counts. */
export function secondsText(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)))
}

/** What a venue lists: the markets' rows, and rows that a reader has to leave out unless such a market trades. */
export function listedRows<Row>(rows: readonly Row[], decoys: readonly Row[], symbolOf: (row: Row) => string): Row[] {
  const traded = new Set(rows.map(symbolOf))
  return [...rows, ...decoys.filter((row) => !traded.has(symbolOf(row)))]
}

/** Counts units in fixed windows of `windowMs`, as venues do. Time is an argument. */
export class Throttle {
  private readonly windowMs: number
  private window = -1
  private sum = 0

  constructor(windowMs: number) {
    this.windowMs = windowMs
  }

  /** Units used in the current window, these included. */
  use(nowMs: number, units = 1): number {
    const window = Math.floor(nowMs / this.windowMs)
    if (window !== this.window) this.sum = 0
    this.window = window
    this.sum += units
    return this.sum
  }

  /** Until the window ends, ms. */
  left(nowMs: number): number {
    return this.windowMs - (nowMs % this.windowMs)
  }
}

/** A throttle for each key: an endpoint, an address. */
export class Throttles {
  private readonly windowMs: number
  private readonly throttles = new Map<string, Throttle>()

  constructor(windowMs: number) {
    this.windowMs = windowMs
  }

  of(key: string): Throttle {
    const known = this.throttles.get(key) ?? new Throttle(this.windowMs)
    this.throttles.set(key, known)
    return known
  }
}

/** So many requests a second, and some more at once. */
export class Burst {
  private readonly perSecond: number
  private readonly most: number
  private tokens: number
  private filledAtMs = 0

  constructor(perSecond: number, most: number) {
    this.perSecond = perSecond
    this.most = most
    this.tokens = most
  }

  takes(nowMs: number): boolean {
    const refill = ((nowMs - this.filledAtMs) / 1000) * this.perSecond
    this.tokens = Math.min(this.most, this.tokens + Math.max(0, refill))
    this.filledAtMs = nowMs
    if (this.tokens < 1) return false
    this.tokens -= 1
    return true
  }
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
