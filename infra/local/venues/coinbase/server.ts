import type { Link } from '../link.ts'
import type { Market } from '../markets.ts'
import { Subscribers } from '../subscribers.ts'
import type { Trade } from '../trade.ts'
import type { RestReply, RestRequest, Session, VenueServer } from '../venue-server.ts'
import type { World } from '../world.ts'
import { matchFrame } from './frames.ts'
import { CoinbaseRest } from './rest.ts'
import { CoinbaseSession } from './socket.ts'

/** Coinbase Exchange, spot. */
export class CoinbaseServer implements VenueServer {
  readonly name = 'coinbase'
  private readonly world: World
  private readonly subscribers = new Subscribers()
  private readonly calls: CoinbaseRest

  constructor(world: World) {
    this.world = world
    this.calls = new CoinbaseRest(world)
  }

  connect(path: string): ((link: Link) => Session) | number {
    if (path !== '/') return 404
    return (link) => new CoinbaseSession(link, this.world, this.subscribers)
  }

  rest(request: RestRequest): RestReply {
    return this.calls.answer(request)
  }

  publish(market: Market, trades: readonly Trade[]): void {
    const links = this.subscribers.of(market.symbol)
    if (links.size === 0) return
    for (const trade of trades) {
      const frame = matchFrame(market, trade, 'match')
      for (const link of links) link.trade(market, frame)
    }
  }
}
