import type { Link } from '../link.ts'
import type { Market } from '../markets.ts'
import { Subscribers } from '../subscribers.ts'
import type { Trade } from '../trade.ts'
import type { RestReply, RestRequest, Session, VenueServer } from '../venue-server.ts'
import type { World } from '../world.ts'
import { mergeable, tradesAllFrame, tradesFrame } from './frames.ts'
import { OkxRest } from './rest.ts'
import { OkxSession, topicOf, type OkxRoute } from './socket.ts'

/** OKX v5, perpetual swaps. */
export class OkxServer implements VenueServer {
  readonly name = 'okx'
  private readonly world: World
  private readonly subscribers = new Subscribers()
  private readonly calls: OkxRest
  private connections = 0

  constructor(world: World) {
    this.world = world
    this.calls = new OkxRest(world)
  }

  connect(path: string): ((link: Link) => Session) | number {
    const match = /^\/ws\/v5\/(public|business)$/.exec(path)
    if (match === null) return 404
    const route = match[1] as OkxRoute
    this.connections += 1
    const number = this.connections
    return (link) => new OkxSession(link, { world: this.world, subscribers: this.subscribers, route, number })
  }

  rest(request: RestRequest): RestReply {
    return this.calls.answer(request)
  }

  publish(market: Market, trades: readonly Trade[]): void {
    const instId = market.symbol
    const single = this.subscribers.of(topicOf({ channel: 'trades-all', instId }))
    if (single.size > 0) {
      for (const trade of trades) {
        const frame = tradesAllFrame(market, trade)
        for (const link of single) link.trade(market, frame)
      }
    }
    const merged = this.subscribers.of(topicOf({ channel: 'trades', instId }))
    if (merged.size === 0) return
    for (const group of groups(trades)) {
      const frame = tradesFrame(market, group)
      for (const link of merged) link.trade(market, frame)
    }
  }
}

function groups(trades: readonly Trade[]): Trade[][] {
  const all: Trade[][] = []
  for (const trade of trades) {
    const last = all.at(-1)?.at(-1)
    if (last !== undefined && mergeable(last, trade)) all.at(-1)?.push(trade)
    else all.push([trade])
  }
  return all
}
