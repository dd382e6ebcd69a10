import type { Economy, SpotState } from '../economy.ts'
import type { Link } from '../link.ts'
import { Subscribers } from '../subscribers.ts'
import type { RestReply, RestRequest, Session, VenueServer } from '../venue-server.ts'
import type { World } from '../world.ts'
import { socketName } from './names.ts'
import { KrakenRest } from './rest.ts'
import { KrakenSession, tickerFrame, topicOf, triggers, type Trigger } from './socket.ts'

/** A ticker comes with each trade or change of the book; once a second is enough here. */
const TICKERS_MS = 1000

/** Kraken spot: prices. Its trades are not simulated. */
export class KrakenServer implements VenueServer {
  readonly name = 'kraken'
  private readonly world: World
  private readonly economy: Economy
  private readonly subscribers = new Subscribers()
  private readonly calls: KrakenRest
  private readonly said = new Map<string, string>()
  private tickersAtMs = 0
  private connections = 0

  constructor(world: World, economy: Economy) {
    this.world = world
    this.economy = economy
    this.calls = new KrakenRest(world, economy)
  }

  connect(path: string): ((link: Link) => Session) | number {
    if (path !== '/v2') return 404
    this.connections += 1
    const { economy, subscribers, connections: number } = this
    return (link) => new KrakenSession(link, { economy, clock: () => this.world.now, subscribers, number })
  }

  rest(request: RestRequest): RestReply {
    return this.calls.answer(request)
  }

  publish(): void {
    // No trades are simulated here.
  }

  beat(nowMs: number): void {
    if (nowMs - this.tickersAtMs < TICKERS_MS) return
    this.tickersAtMs = nowMs
    for (const market of this.economy.spots('kraken')) {
      for (const trigger of triggers) {
        const topic = topicOf(trigger, socketName(market))
        const links = this.subscribers.of(topic)
        if (links.size === 0) continue
        const cause = causeOf(trigger, this.economy.spot(market))
        if (this.said.get(topic) === cause) continue
        this.said.set(topic, cause)
        const frame = tickerFrame('update', market, this.economy)
        for (const link of links) link.data(market, frame)
      }
    }
  }
}

/** What must have changed for a ticker to come. */
function causeOf(trigger: Trigger, { last, volume24h, bid, ask }: SpotState): string {
  return trigger === 'bbo' ? `${bid} ${ask}` : `${last} ${volume24h}`
}
