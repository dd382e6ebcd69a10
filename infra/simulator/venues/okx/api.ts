import type { Trade } from '../../market/trade.ts'
import type { Context, VenueApi } from '../venue-api.ts'
import { Throttles } from '../rest.ts'
import { Subscribers } from '../socket.ts'
import { calls, refuse } from './rest.ts'
import { mergeable, tradesAllFrame, tradesFrame } from './rows.ts'
import { type OkxRoute, OkxSession, OkxStream, topicOf } from './socket.ts'

const WINDOW_MS = 2_000

/** OKX v5: perpetual swaps, and spot but for its trades. */
export function okxApi(context: Context): VenueApi {
  const subscribers = new Subscribers()
  const stream = new OkxStream(context, subscribers)
  const requests = new Throttles(WINDOW_MS)
  let connections = 0
  return {
    name: 'okx',
    tooMany: () => ({ status: 429, body: { code: '50011', msg: 'Too Many Requests', data: [] } }),
    sockets: { most: 3, windowMs: 1_000 },
    connect(path) {
      const match = /^\/ws\/v5\/(public|business)$/.exec(path)
      if (match === null) return 404
      const route = match[1] as OkxRoute
      connections += 1
      const number = connections
      return (link) => new OkxSession(link, { context, subscribers, stream, route, number })
    },
    rest({ path, query, nowMs }) {
      const known = Object.hasOwn(calls, path) ? calls[path] : undefined
      if (known === undefined) return { status: 404, body: { msg: 'Not Found', code: '404', data: [] } }
      const { limit, perInstrument, call } = known
      const counted = perInstrument === true ? `${path} ${query.get('instId') ?? ''}` : path
      if (requests.of(counted).use(nowMs) > limit) return refuse(429, '50011', 'Too Many Requests')
      return call(context, query)
    },
    beat: (nowMs) => stream.beat(nowMs),
    publish(market, trades) {
      const send = (channel: string, frames: () => string[]): void => {
        const links = subscribers.of(topicOf({ channel, instId: market.symbol }))
        if (links.size > 0) for (const frame of frames()) for (const link of links) link.trade(market, frame)
      }
      send('trades-all', () => trades.map((trade) => tradesAllFrame(market, trade)))
      send('trades', () => groups(trades).map((group) => tradesFrame(market, group)))
    },
  }
}

/** What one taker order filled at one price. */
function groups(trades: readonly Trade[]): Trade[][] {
  const all: Trade[][] = []
  for (const trade of trades) {
    const last = all.at(-1)?.at(-1)
    if (last !== undefined && mergeable(last, trade)) all.at(-1)?.push(trade)
    else all.push([trade])
  }
  return all
}
