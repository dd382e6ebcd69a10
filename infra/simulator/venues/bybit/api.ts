import type { Link } from '../../link.ts'
import type { PerpMarket, SpotMarket } from '../../market/economy.ts'
import type { Micros } from '../../market/trade.ts'
import type { Context, VenueApi } from '../venue-api.ts'
import { ok, Throttle } from '../rest.ts'
import { Subscribers, Changes, EveryPeriod, fieldsIn, textsOf, VenueSession } from '../socket.ts'
import { connectionName } from '../../market/text.ts'
import { answer } from './rest.ts'
import {
  publicTradeFrame,
  changedFields,
  instruments,
  isTrading,
  linearTicker,
  type LinearTicker,
  liquidationFrame,
  spotInstruments,
  spotTicker,
} from './rows.ts'

/** "600 requests within a 5-second window per IP"; above it HTTP 403 until the address has been quiet. */
const REQUESTS_PER_WINDOW = 600
const WINDOW_MS = 5_000
const BAN_MS = 600_000
/** "One message may hold up to 1024 trades." */
const TRADES_PER_MESSAGE_MAX = 1024

/** Bybit v5: linear perpetuals, and spot but for its trades. */
export function bybitApi(context: Context): VenueApi {
  const subscribers = { linear: new Subscribers(), spot: new Subscribers() }
  const stream = new BybitStream(context, subscribers)
  const requests = new Throttle(WINDOW_MS)
  let bannedUntilMs = 0
  let connections = 0
  return {
    name: 'bybit',
    // It says so within HTTP 200.
    tooMany: () =>
      ok({
        retCode: 10006,
        retMsg: 'Too many visits. Exceeded the API Rate Limit.',
        result: {},
        retExtInfo: {},
        time: 0,
      }),
    sockets: { most: 500, windowMs: 300_000 },
    connect(path) {
      const match = /^\/v5\/public\/(linear|spot)$/.exec(path)
      if (match === null) return 404
      const category = match[1] === 'spot' ? 'spot' : 'linear'
      connections += 1
      const parts = { context, category, subscribers: subscribers[category], stream, number: connections } as const
      return (link) => new BybitSession(link, parts)
    },
    rest({ path, query, nowMs }) {
      if (requests.use(nowMs) > REQUESTS_PER_WINDOW) bannedUntilMs = nowMs + BAN_MS
      if (nowMs < bannedUntilMs) return { status: 403, body: 'access too frequent' }
      return answer(context, path, query)
    },
    beat: (nowMs) => stream.beat(nowMs),
    /** One message for what traded together, as the venue batches. */
    publish(market, trades) {
      subscribers.linear.trades(`publicTrade.${market.symbol}`, market, () => {
        const batches = Math.ceil(trades.length / TRADES_PER_MESSAGE_MAX)
        return Array.from({ length: batches }, (_, index) => {
          const batch = trades.slice(index * TRADES_PER_MESSAGE_MAX, (index + 1) * TRADES_PER_MESSAGE_MAX)
          const newest = batch.at(-1)?.time ?? 0
          return publicTradeFrame(market, batch, Math.max(context.world.nowMs, Math.floor(newest / 1000)))
        })
      })
    },
  }
}

/** A connection that says nothing, not even a ping, is cut after 10 minutes. */
const IDLE_MS = 600_000
/** "Args total length no more than 21,000 characters per connection." */
const ARGS_CHARACTERS_MAX = 21_000
/** "Spot can input up to 10 args for each subscription request sent to one connection"; linear has no such limit. */
const SPOT_ARGS_MAX = 10
const PREFIX = 'publicTrade.'

interface Parts {
  readonly context: Context
  readonly category: Category
  readonly subscribers: Subscribers
  readonly stream: BybitStream
  readonly number: number
}

/** One Bybit v5 public socket of one category. */
class BybitSession extends VenueSession {
  private readonly parts: Parts
  private readonly name: string

  constructor(link: Link, parts: Parts) {
    super(link, parts.subscribers)
    this.parts = parts
    this.name = `d9tcajmgcca9r5l6${connectionName(parts.number, 4)}-${connectionName(parts.number + 1, 5)}`
  }

  receive(text: string): void {
    this.heardAtMs = Date.now()
    const { op, req_id, args } = fieldsIn(text) ?? {}
    const name = typeof req_id === 'string' ? req_id : ''
    switch (op) {
      case 'ping':
        this.reply(name, 'ping', { message: 'pong' })
        return
      case 'subscribe':
        this.subscribe(name, textsOf(args) ?? [])
        return
      case 'unsubscribe':
        for (const topic of textsOf(args) ?? []) this.leave(topic)
        this.reply(name, 'unsubscribe', { message: '' })
        return
      default:
        this.reply(name, typeof op === 'string' ? op : '', { refused: 'Params Error' })
    }
  }

  tick(nowMs: number): void {
    if (nowMs - this.heardAtMs > IDLE_MS) this.link.close(1000)
  }

  /** All of a request's topics or none: one that does not exist refuses it. */
  private subscribe(name: string, topics: readonly string[]): void {
    const { context, category, stream } = this.parts
    const refused = this.wrongWith(topics)
    if (refused !== undefined) {
      this.reply(name, 'subscribe', { refused })
      return
    }
    for (const topic of topics) {
      if (topic.startsWith(PREFIX)) context.world.find('bybit', topic.slice(PREFIX.length))?.enter()
      this.join(topic)
    }
    // The two categories acknowledge in different words.
    this.reply(name, 'subscribe', { message: category === 'spot' ? 'subscribe' : '' })
    for (const topic of topics) stream.greet(category, topic, this.link)
  }

  private wrongWith(topics: readonly string[]): string | undefined {
    if (topics.length === 0) return 'error:no args'
    if (this.parts.category === 'spot' && topics.length > SPOT_ARGS_MAX) return 'args size >10'
    const unknown = topics.find((topic) => !this.exists(topic))
    if (unknown !== undefined) return `error:handler not found,topic:${unknown}`
    const twice = topics.find((topic) => this.topics.has(topic))
    if (twice !== undefined) return `error:already subscribed,topic:${twice}`
    const characters = [...this.topics, ...topics].join('').length
    return characters > ARGS_CHARACTERS_MAX ? 'args total length exceeds 21,000 characters' : undefined
  }

  private exists(topic: string): boolean {
    const { category, stream } = this.parts
    if (!topic.startsWith(PREFIX)) return stream.exists(category, topic)
    return category === 'linear' && stream.exists('linear', `tickers.${topic.slice(PREFIX.length)}`)
  }

  /** Spot leaves out the id of a request that had none. */
  private reply(req_id: string, op: string, said: { message: string } | { refused: string }): void {
    const success = 'message' in said
    const named = this.parts.category === 'spot' && req_id === '' ? {} : { req_id }
    this.link.control({ success, ret_msg: success ? said.message : said.refused, conn_id: this.name, ...named, op })
  }
}

/** "allLiquidation: push frequency 500ms". Tickers may come every 50 or 100 ms; once a second is enough here. */
const LIQUIDATIONS_MS = 500
const TICKERS_MS = 1000

type Category = 'linear' | 'spot'

/** What Bybit streams beside trades: tickers of both categories, and liquidations. */
class BybitStream {
  private readonly context: Context
  private readonly subscribers: Readonly<Record<Category, Subscribers>>
  /** What every reader of a topic knows: the newest snapshot with all changes since. */
  private readonly said = new Map<string, LinearTicker>()
  private readonly changes = new Changes()
  private readonly tickers = new EveryPeriod(TICKERS_MS)
  private readonly liquidations = new EveryPeriod(LIQUIDATIONS_MS)
  /** Liquidations before this are told. */
  private toldUntil: Micros
  private sequence = 753_843_900_397

  constructor(context: Context, subscribers: Readonly<Record<Category, Subscribers>>) {
    this.context = context
    this.subscribers = subscribers
    this.toldUntil = context.world.now
  }

  /** Whether a topic exists beside the trades'. Of some that are listed nothing is ever said. */
  exists(category: Category, topic: string): boolean {
    const { economy } = this.context
    const [kind, symbol] = partsOf(topic)
    if (category === 'spot') return kind === 'tickers' && isTrading(spotInstruments(economy.spots('bybit')), symbol)
    const known = kind === 'tickers' || kind === 'allLiquidation'
    return known && isTrading(instruments(economy.perps('bybit')), symbol)
  }

  /** Tickers begin with a snapshot; liquidations are never told again. */
  greet(category: Category, topic: string, link: Link): void {
    const { economy } = this.context
    const [kind, wanted] = partsOf(topic)
    if (kind !== 'tickers') return
    if (category === 'spot') {
      const market = economy.spots('bybit').find(({ symbol }) => symbol === wanted)
      if (market !== undefined) link.data(market, this.spotFrame(market))
      return
    }
    const market = economy.perps('bybit').find(({ symbol }) => symbol === wanted)
    if (market === undefined) return
    const alone = this.subscribers.linear.of(topic).size <= 1
    const known = alone ? undefined : this.said.get(topic)
    const ticker = known ?? linearTicker(market, economy.perp(market))
    this.said.set(topic, ticker)
    link.data(market, this.linearFrame(topic, 'snapshot', ticker))
  }

  beat(nowMs: number): void {
    const { economy } = this.context
    if (this.liquidations.isDue(nowMs)) this.tellLiquidations()
    if (!this.tickers.isDue(nowMs)) return
    for (const market of economy.perps('bybit')) this.tellLinear(market)
    for (const market of economy.spots('bybit')) {
      const topic = `tickers.${market.symbol}`
      if (this.subscribers.spot.of(topic).size === 0) continue
      const cause = (): string => JSON.stringify(spotTicker(market, economy.spot(market)))
      if (this.changes.isDue(topic, cause, nowMs))
        this.subscribers.spot.tell(topic, market, () => this.spotFrame(market))
    }
  }

  private tellLinear(market: PerpMarket): void {
    const topic = `tickers.${market.symbol}`
    if (this.subscribers.linear.of(topic).size === 0) return
    const now = linearTicker(market, this.context.economy.perp(market))
    const before = this.said.get(topic)
    const changed = before === undefined ? now : changedFields(before, now)
    this.said.set(topic, now)
    if (changed === undefined) return
    const type = before === undefined ? 'snapshot' : 'delta'
    this.subscribers.linear.tell(topic, market, () => this.linearFrame(topic, type, changed))
  }

  /** All of a symbol since the last time in one message. */
  private tellLiquidations(): void {
    const { world, economy } = this.context
    const [from, to] = [this.toldUntil, world.now]
    this.toldUntil = to
    for (const market of economy.perps('bybit')) {
      const topic = `allLiquidation.${market.symbol}`
      if (this.subscribers.linear.of(topic).size === 0) continue
      const found = economy.liquidations(market, from, to)
      if (found.length > 0)
        this.subscribers.linear.tell(topic, market, () => liquidationFrame(market, found, world.nowMs))
    }
  }

  private linearFrame(topic: string, type: 'snapshot' | 'delta', data: LinearTicker): string {
    return JSON.stringify({ topic, type, data, cs: this.next(), ts: this.context.world.nowMs })
  }

  private spotFrame(market: SpotMarket): string {
    const data = spotTicker(market, this.context.economy.spot(market))
    const ts = this.context.world.nowMs
    return JSON.stringify({ topic: `tickers.${market.symbol}`, ts, type: 'snapshot', cs: this.next(), data })
  }

  private next(): number {
    this.sequence += 1
    return this.sequence
  }
}

function partsOf(topic: string): [kind: string, symbol: string] {
  const point = topic.indexOf('.')
  return point < 0 ? [topic, ''] : [topic.slice(0, point), topic.slice(point + 1)]
}
