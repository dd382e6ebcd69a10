import type { RestReply } from '../venue-api.ts'
import { type Call, ok, secondsText, Throttle, whole } from '../rest.ts'
import type { CandleSpan } from '../candles.ts'

/** Requests that go on after a 429 get the address banned: 2 minutes at first. */
const BANNED_AFTER = 20
const BAN_MS = 120_000
const MINUTE_MS = 60_000

/** A call and what it weighs; 1 where nothing is said. */
export interface Weighed {
  readonly call: Call
  readonly weight?: number | ((query: URLSearchParams) => number)
}

export function weightOf(weighed: Weighed | undefined, query: URLSearchParams): number {
  const weight = weighed?.weight ?? 1
  return typeof weight === 'number' ? weight : weight(query)
}

export function bad(code: number, msg: string): RestReply {
  return { status: 400, body: { code, msg } }
}

export const unknownSymbol = bad(-1121, 'Invalid symbol.')
export const noSymbol = bad(-1102, "Mandatory parameter 'symbol' was not sent, was empty/null, or malformed.")
export const badLimit = bad(-1130, "Data sent for parameter 'limit' is not valid.")
const badInterval = bad(-1120, 'Invalid interval.')
export const notFound: RestReply = { status: 404, body: '<html><body><h2>404 Not found</h2></body></html>' }

const minutesOf: Readonly<Record<string, number>> = {
  '1m': 1,
  '3m': 3,
  '5m': 5,
  '15m': 15,
  '30m': 30,
  '1h': 60,
  '2h': 120,
  '4h': 240,
  '6h': 360,
  '8h': 480,
  '12h': 720,
  '1d': 1_440,
}

/** Length of a candle, ms; undefined where there is no such interval. */
export function intervalMsOf(name: string | null): number | undefined {
  const minutes = minutesOf[name ?? '']
  return minutes === undefined ? undefined : minutes * MINUTE_MS
}

export interface Span {
  readonly start: number | undefined
  readonly end: number | undefined
  readonly limit: number
}

/** `startTime`, `endTime` (milliseconds) and `limit` of a query, or the refusal of what they say. */
export function spanOf(query: URLSearchParams, { usual, most }: { usual: number; most: number }): Span | RestReply {
  const [start, end, limit] = [whole(query, 'startTime'), whole(query, 'endTime'), whole(query, 'limit') ?? usual]
  if ([start, end].some(Number.isNaN)) return bad(-1100, 'Illegal characters found in a parameter.')
  if (!(limit >= 1 && limit <= most)) return badLimit
  if (start !== undefined && end !== undefined && start > end) return bad(-1023, 'Start time is greater than end time.')
  return { start, end, limit }
}

/** Rows of an ascending page: from the start on where one is given, else the newest. */
export function pageOf<Row>(rows: readonly Row[], { start, limit }: Span): readonly Row[] {
  return start === undefined ? rows.slice(-limit) : rows.slice(0, limit)
}

/** Candles, oldest first, the one that runs among them: from the start on where one is given, else the newest. */
export function candles(
  query: URLSearchParams,
  { nowMs, most }: { nowMs: number; most: number },
  rows: (span: CandleSpan) => unknown[],
): RestReply {
  const intervalMs = intervalMsOf(query.get('interval'))
  if (intervalMs === undefined) return badInterval
  const span = spanOf(query, { usual: 500, most })
  if ('status' in span) return span
  const endMs = Math.min(span.end ?? Infinity, nowMs)
  const fromMs = span.start ?? (Math.floor(endMs / intervalMs) - span.limit + 1) * intervalMs
  const toMs = Math.min(endMs + 1, (Math.ceil(fromMs / intervalMs) + span.limit) * intervalMs)
  return ok(rows({ intervalMs, fromMs, toMs }))
}

/** Counts one host's request weight as Binance does: 429 above the limit, and 418 for who goes on. */
export class WeightLimit {
  private readonly perMinute: number
  private readonly weight = new Throttle(60_000)
  private refusals = 0
  private bannedUntilMs = 0

  constructor(perMinute: number) {
    this.perMinute = perMinute
  }

  /** Counts a call; what it is refused with, if it is. */
  refuse(weight: number, nowMs: number): RestReply | undefined {
    if (nowMs < this.bannedUntilMs) return banned(this.bannedUntilMs, nowMs)
    const used = this.weight.use(nowMs, weight)
    if (used <= this.perMinute) {
      this.refusals = 0
      return undefined
    }
    this.refusals += 1
    if (this.refusals > BANNED_AFTER) {
      this.bannedUntilMs = nowMs + BAN_MS
      return banned(this.bannedUntilMs, nowMs)
    }
    return tooMany(this.weight.left(nowMs), `${this.perMinute} requests per minute`, used)
  }

  /** A reply with what has been used in this minute. */
  marked(reply: RestReply, nowMs: number): RestReply {
    return { ...reply, headers: { 'x-mbx-used-weight-1m': String(this.weight.use(nowMs, 0)), ...reply.headers } }
  }
}

/** A limit of its own on the number of calls, beside the weight. */
export class CallLimit {
  private readonly calls: number
  private readonly count = new Throttle(300_000)

  constructor(callsInFiveMinutes: number) {
    this.calls = callsInFiveMinutes
  }

  refuse(nowMs: number): RestReply | undefined {
    if (this.count.use(nowMs) <= this.calls) return undefined
    return tooMany(this.count.left(nowMs), `${this.calls} requests per 5 minutes`)
  }
}

/** The refusal of a call beyond a limit; `used`: of the minute's weight. */
export function tooMany(leftMs: number, limit: string, used?: number): RestReply {
  const msg = `Too many requests; current limit of IP is ${limit}. Please use the websocket for live updates to avoid polling the API.`
  const weight = used === undefined ? {} : { 'x-mbx-used-weight-1m': String(used) }
  return { status: 429, headers: { 'retry-after': secondsText(leftMs), ...weight }, body: { code: -1003, msg } }
}

function banned(untilMs: number, nowMs: number): RestReply {
  const msg = `Way too many requests; IP banned until ${untilMs}. Please use the websocket for live updates to avoid bans.`
  return { status: 418, headers: { 'retry-after': secondsText(untilMs - nowMs) }, body: { code: -1003, msg } }
}
