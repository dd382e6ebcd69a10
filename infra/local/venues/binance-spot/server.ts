import { combined } from '../binance/frames.ts'
import { BinanceSession, type BinanceSubscribers } from '../binance/socket.ts'
import type { Economy } from '../economy.ts'
import type { Link, Subject } from '../link.ts'
import { Subscribers } from '../subscribers.ts'
import type { RestReply, RestRequest, Session, VenueServer } from '../venue-server.ts'
import type { World } from '../world.ts'
import { BinanceSpotRest } from './rest.ts'
import { miniTicker, tickerFrame } from './rows.ts'

/** "5 incoming messages per second", pongs too; "a ping frame every 20 seconds", no pong within a minute ends it. */
const manners = { messagesPerSecond: 5, pingMs: 20_000, pongWithinMs: 60_000 }
/** Who a frame of all pairs is about, for faults. */
const everybody: Subject = { venue: 'binance', symbol: '', asset: '' }
const ALL = '!miniTicker@arr'

/** Binance spot: prices. Its trades are not simulated. Faults of Binance hit it too. */
export class BinanceSpotServer implements VenueServer {
  readonly name = 'binance'
  readonly prefix = 'binance-spot'
  private readonly world: World
  private readonly economy: Economy
  private readonly lifetimeMs: number
  private readonly subscribers: BinanceSubscribers = { raw: new Subscribers(), combined: new Subscribers() }
  private readonly calls: BinanceSpotRest
  private second = 0

  constructor(world: World, economy: Economy, lifetimeMs: number) {
    this.world = world
    this.economy = economy
    this.lifetimeMs = lifetimeMs
    this.calls = new BinanceSpotRest(world, economy)
  }

  /** `/ws/<stream>/...`, `/stream?streams=a/b`. */
  connect(path: string, query: URLSearchParams): ((link: Link) => Session) | number {
    const match = /^\/(ws|stream)(?:\/(.*))?$/.exec(path)
    if (match === null) return 404
    const wrapped = match[1] === 'stream'
    const named = wrapped ? (query.get('streams') ?? '') : (match[2] ?? '')
    const streams = named.split('/').filter((stream) => stream !== '')
    const { world, subscribers, lifetimeMs } = this
    const parts = { world, subscribers, manners, carries, entered: () => undefined, lifetimeMs }
    return (link) => new BinanceSession(link, { ...parts, combined: wrapped, streams })
  }

  rest(request: RestRequest): RestReply {
    return this.calls.answer(request)
  }

  publish(): void {
    // No trades are simulated here.
  }

  /** Once a second, for each pair that somebody listens to. */
  beat(): void {
    const second = Math.floor(this.world.nowMs / 1000)
    if (second === this.second) return
    this.second = second
    const markets = this.economy.spots('binance')
    for (const market of markets) {
      const [ticker, mini] = ['ticker', 'miniTicker'].map((kind) => `${market.symbol.toLowerCase()}@${kind}`)
      const state = (): ReturnType<Economy['spot']> => this.economy.spot(market)
      this.tell(ticker ?? '', market, () => tickerFrame(market, state(), this.world.nowMs))
      this.tell(mini ?? '', market, () => JSON.stringify(miniTicker(market, state(), this.world.nowMs)))
    }
    this.tell(ALL, everybody, () =>
      JSON.stringify(markets.map((market) => miniTicker(market, this.economy.spot(market), this.world.nowMs))),
    )
  }

  private tell(stream: string, about: Subject, made: () => string): void {
    const [raw, wrapped] = [this.subscribers.raw.of(stream), this.subscribers.combined.of(stream)]
    if (raw.size + wrapped.size === 0) return
    const frame = made()
    for (const link of raw) link.data(about, frame)
    if (wrapped.size === 0) return
    const envelope = combined(stream, frame)
    for (const link of wrapped) link.data(about, envelope)
  }
}

/** Trades, books and candles of spot are accepted and never push anything. */
function carries(stream: string): boolean {
  return stream === ALL || /^[^!@]+@(?:ticker|miniTicker)$/.test(stream)
}
