import type { Context, VenueApi } from '../venue-api.ts'
import { ok, Throttle } from '../rest.ts'
import { Subscribers } from '../socket.ts'
import { answer } from './rest.ts'
import { publicTradeFrame } from './rows.ts'
import { BybitSession, BybitStream } from './socket.ts'

/** "600 requests within a 5-second window per IP"; above it HTTP 403 until the address has been quiet. */
const REQUESTS_PER_WINDOW = 600
const WINDOW_MS = 5_000
const BAN_MS = 600_000
/** "One message may hold up to 1024 trades." */
const TRADES_PER_MESSAGE_MAX = 1024

/** Bybit v5: linear perpetuals, and spot but for its trades. */
export function bybitApi(context: Context): VenueApi {
  const subscribers = { linear: new Subscribers(), spot: new Subscribers() }
  const stream = new BybitStream(context, subscribers)
  const requests = new Throttle(WINDOW_MS)
  let bannedUntilMs = 0
  let connections = 0
  return {
    name: 'bybit',
    // It says so within HTTP 200.
    tooMany: () =>
      ok({
        retCode: 10006,
        retMsg: 'Too many visits. Exceeded the API Rate Limit.',
        result: {},
        retExtInfo: {},
        time: 0,
      }),
    sockets: { most: 500, windowMs: 300_000 },
    connect(path) {
      const match = /^\/v5\/public\/(linear|spot)$/.exec(path)
      if (match === null) return 404
      const category = match[1] === 'spot' ? 'spot' : 'linear'
      connections += 1
      const parts = { context, category, subscribers: subscribers[category], stream, number: connections } as const
      return (link) => new BybitSession(link, parts)
    },
    rest({ path, query, nowMs }) {
      if (requests.use(nowMs) > REQUESTS_PER_WINDOW) bannedUntilMs = nowMs + BAN_MS
      if (nowMs < bannedUntilMs) return { status: 403, body: 'access too frequent' }
      return answer(context, path, query)
    },
    beat: (nowMs) => stream.beat(nowMs),
    /** One message for what traded together, as the venue batches. */
    publish(market, trades) {
      const links = subscribers.linear.of(`publicTrade.${market.symbol}`)
      if (links.size === 0) return
      for (let from = 0; from < trades.length; from += TRADES_PER_MESSAGE_MAX) {
        const batch = trades.slice(from, from + TRADES_PER_MESSAGE_MAX)
        const newest = batch.at(-1)?.time ?? 0
        const frame = publicTradeFrame(market, batch, Math.max(context.world.nowMs, Math.floor(newest / 1000)))
        for (const link of links) link.trade(market, frame)
      }
    },
  }
}
