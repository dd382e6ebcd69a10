import type { Economy } from '../economy.ts'
import type { Link } from '../link.ts'
import type { Market } from '../markets.ts'
import { Subscribers } from '../subscribers.ts'
import { TapeEconomy } from '../tape-economy.ts'
import type { Trade } from '../trade.ts'
import type { RestReply, RestRequest, Session, VenueServer } from '../venue-server.ts'
import type { World } from '../world.ts'
import { OkxDataStream, topicOf } from './data-stream.ts'
import { mergeable, tradesAllFrame, tradesFrame } from './frames.ts'
import { OkxRest } from './rest.ts'
import { OkxSession, type OkxRoute } from './socket.ts'

/** OKX v5: perpetual swaps, and spot but for its trades. */
export class OkxServer implements VenueServer {
  readonly name = 'okx'
  private readonly world: World
  private readonly subscribers = new Subscribers()
  private readonly data: OkxDataStream
  private readonly calls: OkxRest
  private connections = 0

  constructor(world: World, economy: Economy = new TapeEconomy(world)) {
    this.world = world
    this.data = new OkxDataStream(economy, () => world.now, this.subscribers)
    this.calls = new OkxRest(world, economy)
  }

  connect(path: string): ((link: Link) => Session) | number {
    const match = /^\/ws\/v5\/(public|business)$/.exec(path)
    if (match === null) return 404
    const route = match[1] as OkxRoute
    this.connections += 1
    const { world, subscribers, data, connections: number } = this
    return (link) => new OkxSession(link, { world, subscribers, data, route, number })
  }

  beat(nowMs: number): void {
    this.data.beat(nowMs)
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
