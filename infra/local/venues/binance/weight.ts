import { secondsText } from '../query.ts'
import { Throttle } from '../throttle.ts'
import type { RestReply } from '../venue-server.ts'

/** Requests that go on after a 429 get the address banned: 2 minutes at first. */
const BANNED_AFTER = 20
const BAN_MS = 120_000

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

function tooMany(leftMs: number, limit: string, used?: number): RestReply {
  const msg = `Too many requests; current limit of IP is ${limit}. Please use the websocket for live updates to avoid polling the API.`
  return {
    status: 429,
    headers: {
      'retry-after': secondsText(leftMs),
      ...(used === undefined ? {} : { 'x-mbx-used-weight-1m': String(used) }),
    },
    body: { code: -1003, msg },
  }
}

function banned(untilMs: number, nowMs: number): RestReply {
  return {
    status: 418,
    headers: { 'retry-after': secondsText(untilMs - nowMs) },
    body: {
      code: -1003,
      msg: `Way too many requests; IP banned until ${untilMs}. Please use the websocket for live updates to avoid bans.`,
    },
  }
}
