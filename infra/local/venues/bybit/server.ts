import type { Economy } from '../economy.ts'
import type { Link } from '../link.ts'
import type { Market } from '../markets.ts'
import { Subscribers } from '../subscribers.ts'
import type { Trade } from '../trade.ts'
import type { RestReply, RestRequest, Session, VenueServer } from '../venue-server.ts'
import { TapeEconomy } from '../tape-economy.ts'
import type { World } from '../world.ts'
import { BybitDataStream, type Category } from './data-stream.ts'
import { publicTradeFrame } from './frames.ts'
import { BybitRest } from './rest.ts'
import { BybitSession } from './socket.ts'

/** "One message may hold up to 1024 trades." */
const TRADES_PER_MESSAGE_MAX = 1024

/** Bybit v5: linear perpetuals, and spot but for its trades. */
export class BybitServer implements VenueServer {
  readonly name = 'bybit'
  private readonly world: World
  private readonly subscribers: Readonly<Record<Category, Subscribers>> = {
    linear: new Subscribers(),
    spot: new Subscribers(),
  }
  private readonly data: BybitDataStream
  private readonly calls: BybitRest
  private connections = 0

  constructor(world: World, economy: Economy = new TapeEconomy(world)) {
    this.world = world
    this.data = new BybitDataStream(economy, () => world.now, this.subscribers)
    this.calls = new BybitRest(world, economy)
  }

  connect(path: string): ((link: Link) => Session) | number {
    const match = /^\/v5\/public\/(linear|spot)$/.exec(path)
    if (match === null) return 404
    const category = match[1] === 'spot' ? 'spot' : 'linear'
    this.connections += 1
    const { world, data, connections: number } = this
    return (link) => new BybitSession(link, { world, category, subscribers: this.subscribers[category], data, number })
  }

  beat(nowMs: number): void {
    this.data.beat(nowMs)
  }

  rest(request: RestRequest): RestReply {
    return this.calls.answer(request)
  }

  /** One message for what traded together, as the venue batches. */
  publish(market: Market, trades: readonly Trade[]): void {
    const links = this.subscribers.linear.of(`publicTrade.${market.symbol}`)
    if (links.size === 0) return
    for (let from = 0; from < trades.length; from += TRADES_PER_MESSAGE_MAX) {
      const batch = trades.slice(from, from + TRADES_PER_MESSAGE_MAX)
      const newest = batch.at(-1)?.time ?? 0
      const frame = publicTradeFrame(market, batch, Math.max(this.world.nowMs, Math.floor(newest / 1000)))
      for (const link of links) link.trade(market, frame)
    }
  }
}
