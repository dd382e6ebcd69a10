import type { Link } from '../link.ts'
import type { Market } from '../markets.ts'
import { Subscribers } from '../subscribers.ts'
import type { Trade } from '../trade.ts'
import type { RestReply, RestRequest, Session, VenueServer } from '../venue-server.ts'
import type { World } from '../world.ts'
import { publicTradeFrame } from './frames.ts'
import { BybitRest } from './rest.ts'
import { BybitSession } from './socket.ts'

/** "One message may hold up to 1024 trades." */
const TRADES_PER_MESSAGE_MAX = 1024

/** Bybit v5, linear perpetuals. */
export class BybitServer implements VenueServer {
  readonly name = 'bybit'
  private readonly world: World
  private readonly subscribers = new Subscribers()
  private readonly calls: BybitRest
  private connections = 0

  constructor(world: World) {
    this.world = world
    this.calls = new BybitRest(world)
  }

  connect(path: string): ((link: Link) => Session) | number {
    if (path !== '/v5/public/linear') return 404
    this.connections += 1
    const number = this.connections
    return (link) => new BybitSession(link, this.world, this.subscribers, number)
  }

  rest(request: RestRequest): RestReply {
    return this.calls.answer(request)
  }

  /** One message for what traded together, as the venue batches. */
  publish(market: Market, trades: readonly Trade[]): void {
    const links = this.subscribers.of(`publicTrade.${market.symbol}`)
    if (links.size === 0) return
    for (let from = 0; from < trades.length; from += TRADES_PER_MESSAGE_MAX) {
      const batch = trades.slice(from, from + TRADES_PER_MESSAGE_MAX)
      const newest = batch.at(-1)?.time ?? 0
      const frame = publicTradeFrame(market, batch, Math.max(this.world.nowMs, Math.floor(newest / 1000)))
      for (const link of links) link.trade(market, frame)
    }
  }
}
