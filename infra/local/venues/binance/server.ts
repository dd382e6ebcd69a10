import type { Economy } from '../economy.ts'
import type { Link } from '../link.ts'
import type { Market } from '../markets.ts'
import { Subscribers } from '../subscribers.ts'
import type { Trade } from '../trade.ts'
import type { RestReply, RestRequest, Session, VenueServer } from '../venue-server.ts'
import type { World } from '../world.ts'
import { aggTradeFrame, combined, rawTradeFrames } from './frames.ts'
import { BinanceDataStream } from './data-stream.ts'
import { BinanceRest } from './rest.ts'
import { BinanceSession, symbolOf, type BinanceSubscribers } from './socket.ts'

/** "10 incoming messages per second"; "a ping frame every 3 minutes", no pong within 10 minutes ends the connection. */
const manners = { messagesPerSecond: 10, pingMs: 180_000, pongWithinMs: 600_000 }

/** Binance USD-M futures. */
export class BinanceServer implements VenueServer {
  readonly name = 'binance'
  private readonly world: World
  private readonly lifetimeMs: number
  private readonly subscribers: BinanceSubscribers = { raw: new Subscribers(), combined: new Subscribers() }
  private readonly data: BinanceDataStream
  private readonly calls: BinanceRest

  constructor(world: World, economy: Economy, lifetimeMs: number) {
    this.world = world
    this.lifetimeMs = lifetimeMs
    this.data = new BinanceDataStream(economy, () => world.now, this.subscribers)
    this.calls = new BinanceRest(world, economy)
  }

  /** `/market/ws/<stream>/...`, `/market/stream?streams=a/b`; without a route it behaves as `/public`. */
  connect(path: string, query: URLSearchParams): ((link: Link) => Session) | number {
    const match = /^(?:\/(market|public|private))?\/(ws|stream)(?:\/(.*))?$/.exec(path)
    if (match === null) return 404
    const route = match[1] ?? 'public'
    const wrapped = match[2] === 'stream'
    const named = wrapped ? (query.get('streams') ?? '') : (match[3] ?? '')
    const streams = named.split('/').filter((stream) => stream !== '')
    const { world, subscribers, lifetimeMs } = this
    const carries = (stream: string): boolean => carriedBy(route, stream)
    const entered = (stream: string): void => {
      if (/@(?:aggTrade|trade)$/.test(stream)) world.find('binance', symbolOf(stream))?.enter()
    }
    const options = { world, subscribers, manners, carries, entered, combined: wrapped, streams, lifetimeMs }
    return (link) => new BinanceSession(link, options)
  }

  beat(): void {
    this.data.beat()
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

/** Each route has its own streams; another route's are accepted and never push anything. */
function carriedBy(route: string, stream: string): boolean {
  if (route === 'public') return stream.endsWith('@trade')
  return route === 'market' && (stream.endsWith('@aggTrade') || BinanceDataStream.carries(stream))
}
