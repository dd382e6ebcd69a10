import type { Economy } from '../economy.ts'
import type { Link } from '../link.ts'
import type { Market } from '../markets.ts'
import { Subscribers } from '../subscribers.ts'
import { TapeEconomy } from '../tape-economy.ts'
import type { Trade } from '../trade.ts'
import type { RestReply, RestRequest, Session, VenueServer } from '../venue-server.ts'
import type { World } from '../world.ts'
import { tickerFrame } from './data-rows.ts'
import { matchFrame } from './frames.ts'
import { CoinbaseRest } from './rest.ts'
import { Showcase } from './showcase.ts'
import { CoinbaseSession, topicOf } from './socket.ts'

/** A ticker comes with each match; once a second is enough here. */
const TICKERS_MS = 1000

/** Coinbase Exchange, spot. */
export class CoinbaseServer implements VenueServer {
  readonly name = 'coinbase'
  private readonly showcase: Showcase
  private readonly subscribers = new Subscribers()
  private readonly calls: CoinbaseRest
  private readonly said = new Map<string, string>()
  private tickersAtMs = 0

  constructor(world: World, economy: Economy = new TapeEconomy(world)) {
    this.showcase = new Showcase(world, economy)
    this.calls = new CoinbaseRest(this.showcase)
  }

  connect(path: string): ((link: Link) => Session) | number {
    if (path !== '/') return 404
    return (link) => new CoinbaseSession(link, this.showcase, this.subscribers)
  }

  rest(request: RestRequest): RestReply {
    return this.calls.answer(request)
  }

  beat(nowMs: number): void {
    if (nowMs - this.tickersAtMs < TICKERS_MS) return
    this.tickersAtMs = nowMs
    for (const market of this.showcase.markets) {
      const links = this.subscribers.of(topicOf('ticker', market.symbol))
      const shown = links.size === 0 ? undefined : this.showcase.find(market.symbol)
      if (shown === undefined) continue
      const { time: _time, ...prices } = shown.state
      const row = JSON.stringify(prices)
      if (this.said.get(market.symbol) === row) continue
      this.said.set(market.symbol, row)
      const frame = tickerFrame(shown)
      for (const link of links) link.data(market, frame)
    }
  }

  publish(market: Market, trades: readonly Trade[]): void {
    const links = this.subscribers.of(topicOf('matches', market.symbol))
    if (links.size === 0) return
    for (const trade of trades) {
      const frame = matchFrame(market, trade, 'match')
      for (const link of links) link.trade(market, frame)
    }
  }
}
