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

/** Whole seconds, at least one, as `Retry-After` counts. */
export function secondsText(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)))
}

/**
 * What a venue lists: the markets' rows, and rows like the first of them that a reader has to leave out, unless such a market
 * trades. Nothing where nothing trades.
 */
export function listedRows<Row>(
  rows: readonly Row[],
  symbolOf: (row: Row) => string,
  decoys: (first: Row) => readonly Row[],
): Row[] {
  const [first] = rows
  const traded = new Set(rows.map(symbolOf))
  return first === undefined ? [] : [...rows, ...decoys(first).filter((row) => !traded.has(symbolOf(row)))]
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
