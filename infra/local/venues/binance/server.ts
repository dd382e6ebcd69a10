import type { Link } from '../link.ts'
import type { Market } from '../markets.ts'
import { Subscribers } from '../subscribers.ts'
import type { Trade } from '../trade.ts'
import type { RestReply, RestRequest, Session, VenueServer } from '../venue-server.ts'
import type { World } from '../world.ts'
import { aggTradeFrame, combined, rawTradeFrames } from './frames.ts'
import { BinanceRest } from './rest.ts'
import { BinanceSession, type BinanceSubscribers, type Route } from './socket.ts'

/** Binance USD-M futures. */
export class BinanceServer implements VenueServer {
  readonly name = 'binance'
  private readonly world: World
  private readonly lifetimeMs: number
  private readonly subscribers: BinanceSubscribers = { raw: new Subscribers(), combined: new Subscribers() }
  private readonly calls: BinanceRest

  constructor(world: World, lifetimeMs: number) {
    this.world = world
    this.lifetimeMs = lifetimeMs
    this.calls = new BinanceRest(world)
  }

  /** `/market/ws/<stream>/...`, `/market/stream?streams=a/b`; without a route it behaves as `/public`. */
  connect(path: string, query: URLSearchParams): ((link: Link) => Session) | number {
    const match = /^(?:\/(market|public|private))?\/(ws|stream)(?:\/(.*))?$/.exec(path)
    if (match === null) return 404
    const route = (match[1] ?? 'public') as Route
    const wrapped = match[2] === 'stream'
    const named = wrapped ? (query.get('streams') ?? '') : (match[3] ?? '')
    const streams = named.split('/').filter((stream) => stream !== '')
    const { world, subscribers, lifetimeMs } = this
    return (link) => new BinanceSession(link, { world, subscribers, route, combined: wrapped, streams, lifetimeMs })
  }

  rest(request: RestRequest): RestReply {
    return this.calls.answer(request)
  }

  publish(market: Market, trades: readonly Trade[]): void {
    const name = market.symbol.toLowerCase()
    this.send(market, trades, { stream: `${name}@aggTrade`, frames: (trade, ms) => [aggTradeFrame(market, trade, ms)] })
    this.send(market, trades, { stream: `${name}@trade`, frames: (trade, ms) => rawTradeFrames(market, trade, ms) })
  }

  private send(
    market: Market,
    trades: readonly Trade[],
    { stream, frames }: { stream: string; frames: (trade: Trade, sentMs: number) => string[] },
  ): void {
    const raw = this.subscribers.raw.of(stream)
    const wrapped = this.subscribers.combined.of(stream)
    if (raw.size + wrapped.size === 0) return
    for (const trade of trades) {
      for (const frame of frames(trade, Math.max(this.world.nowMs, Math.floor(trade.time / 1000)))) {
        for (const link of raw) link.trade(market, frame)
        if (wrapped.size === 0) continue
        const envelope = combined(stream, frame)
        for (const link of wrapped) link.trade(market, envelope)
      }
    }
  }
}
