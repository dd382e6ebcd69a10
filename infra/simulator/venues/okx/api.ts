import type { Trade, Micros } from '../../market/trade.ts'
import type { Link } from '../../link.ts'
import type { PerpMarket, SpotMarket } from '../../market/economy.ts'
import type { Context, VenueApi } from '../venue-api.ts'
import { Throttles } from '../rest.ts'
import { Subscribers, Changes, EveryPeriod, fieldsIn, fieldsOf, VenueSession } from '../socket.ts'
import { connectionName } from '../../market/text.ts'
import { calls, refuse } from './rest.ts'
import {
  mergeable,
  tradesAllFrame,
  tradesFrame,
  fundingRow,
  isLive,
  liquidationRow,
  markRow,
  openInterestRow,
  type Row,
  spotTickerRow,
} from './rows.ts'

const WINDOW_MS = 2_000

/** OKX v5: perpetual swaps, and spot but for its trades. */
export function okxApi(context: Context): VenueApi {
  const subscribers = new Subscribers()
  const stream = new OkxStream(context, subscribers)
  const requests = new Throttles(WINDOW_MS)
  let connections = 0
  return {
    name: 'okx',
    tooMany: () => ({ status: 429, body: { code: '50011', msg: 'Too Many Requests', data: [] } }),
    sockets: { most: 3, windowMs: 1_000 },
    connect(path) {
      const match = /^\/ws\/v5\/(public|business)$/.exec(path)
      if (match === null) return 404
      const route = match[1] as OkxRoute
      connections += 1
      const number = connections
      return (link) => new OkxSession(link, { context, subscribers, stream, route, number })
    },
    rest({ path, query, nowMs }) {
      const known = Object.hasOwn(calls, path) ? calls[path] : undefined
      if (known === undefined) return { status: 404, body: { msg: 'Not Found', code: '404', data: [] } }
      const { limit, perInstrument, call } = known
      const counted = perInstrument === true ? `${path} ${query.get('instId') ?? ''}` : path
      if (requests.of(counted).use(nowMs) > limit) return refuse(429, '50011', 'Too Many Requests')
      return call(context, query)
    },
    beat: (nowMs) => stream.beat(nowMs),
    publish(market, trades) {
      const send = (channel: string, frames: () => string[]): void => {
        subscribers.trades(topicOf({ channel, instId: market.symbol }), market, frames)
      }
      send('trades-all', () => trades.map((trade) => tradesAllFrame(market, trade)))
      send('trades', () => groups(trades).map((group) => tradesFrame(market, group)))
    },
  }
}

/** What one taker order filled at one price. */
function groups(trades: readonly Trade[]): Trade[][] {
  const all: Trade[][] = []
  for (const trade of trades) {
    const last = all.at(-1)?.at(-1)
    if (last !== undefined && mergeable(last, trade)) all.at(-1)?.push(trade)
    else all.push([trade])
  }
  return all
}

/** "If there’s a network problem or no data is pushed for more than 30 seconds, the connection breaks." */
const IDLE_MS = 30_000
/** "The total number of subscribe, unsubscribe and login requests per connection is limited to 480 per hour." */
const REQUESTS_PER_HOUR = 480
const HOUR_MS = 3_600_000

/** `public` carries the merged `trades` and all that is not trades, `business` the single ones of `trades-all`. */
const tradesOf = { public: 'trades', business: 'trades-all' } as const
type OkxRoute = keyof typeof tradesOf

interface Parts {
  readonly context: Context
  readonly subscribers: Subscribers
  readonly stream: OkxStream
  readonly route: OkxRoute
  readonly number: number
}

/** One OKX v5 public or business socket. */
class OkxSession extends VenueSession {
  private readonly parts: Parts
  private readonly connId: string

  constructor(link: Link, parts: Parts) {
    super(link, parts.subscribers, HOUR_MS)
    this.parts = parts
    this.connId = connectionName(parts.number, 8)
  }

  receive(text: string): void {
    if (text === 'ping') {
      this.link.control('pong')
      return
    }
    const request = requestOf(text)
    if (request === undefined) {
      this.refuse({}, '60012', `Invalid request: ${text.slice(0, 200)}`)
      return
    }
    const { named, op, args } = request
    if (!this.within(REQUESTS_PER_HOUR)) {
      this.refuse(named, '60014', 'Requests too frequent')
      return
    }
    // One answer per arg, so a wrong one does not hold up the others.
    for (const arg of args) {
      if (op === 'subscribe') this.subscribe(named, arg)
      else {
        this.leave(topicOf(arg))
        this.link.control({ ...named, event: 'unsubscribe', arg, connId: this.connId })
      }
    }
  }

  tick(nowMs: number): void {
    const unsubscribed = this.topics.size === 0 && nowMs - this.link.openedAtMs > IDLE_MS
    if (unsubscribed || nowMs - this.link.sentAtMs > IDLE_MS) this.link.close(4004, 'No data received in 30s.')
  }

  /** 60 seconds before the venue ends a connection for its own reasons. */
  announceClosing(): void {
    const msg = 'The connection will soon be closed for a service upgrade. Please reconnect.'
    this.link.control({ event: 'notice', code: '64008', msg, connId: this.connId })
  }

  private subscribe(named: Named, arg: Arg): void {
    const { context, stream, route } = this.parts
    const { channel, instId } = arg
    const { world, economy } = context
    const trades = channel === tradesOf[route] && isLive(economy.perps('okx'), instId ?? '')
    if (!trades && (route !== 'public' || !stream.exists(arg))) {
      const asked = `channel:${channel}${instId === undefined ? '' : `,instId:${instId}`}`
      this.refuse(
        named,
        '60018',
        `Subscribe failed, wrong URL or ${asked} doesn't exist. Please use the correct URL, channel and parameters referring to API document.`,
      )
      return
    }
    if (trades) world.find('okx', instId ?? '')?.enter()
    this.join(topicOf(arg))
    this.link.control({ ...named, event: 'subscribe', arg, connId: this.connId })
    stream.greet(arg, this.link)
  }

  private refuse(named: Named, code: string, msg: string): void {
    this.link.control({ ...named, event: 'error', msg, code, connId: this.connId })
  }
}

/** A request's own name, where it has a valid one: answers repeat it. */
interface Named {
  readonly id?: string
}

interface Request {
  readonly named: Named
  readonly op: 'subscribe' | 'unsubscribe'
  readonly args: readonly Arg[]
}

function requestOf(text: string): Request | undefined {
  const { id, op, args } = fieldsIn(text) ?? {}
  if (op !== 'subscribe' && op !== 'unsubscribe') return undefined
  if (!Array.isArray(args) || args.length === 0 || !args.every(isArg)) return undefined
  return { named: typeof id === 'string' && /^[a-zA-Z0-9]{1,32}$/.test(id) ? { id } : {}, op, args }
}

function isArg(value: unknown): value is Arg {
  const { channel, instId = '', instType = '' } = fieldsOf(value)
  return [channel, instId, instType].every((text) => typeof text === 'string')
}

const LIQUIDATIONS = 'liquidation-orders'
const LIQUIDATIONS_MS = 500
/** How far back the old event that comes first may lie. */
const OLD: Micros = 3_600_000_000

/**
 * What is told of a swap, and how often: when something has changed, and when nothing has. "mark-price: every 200 ms
 * when it changes, every 10 s when not; open-interest: every 3 s; funding-rate: every 30 to 90 s". Once a second is
 * enough here for what is faster.
 */
const ofSwaps = {
  'mark-price': { row: markRow, changedMs: 1_000, unchangedMs: 10_000 },
  'open-interest': { row: openInterestRow, changedMs: 3_000, unchangedMs: 3_000 },
  'funding-rate': { row: fundingRow, changedMs: 30_000, unchangedMs: 30_000 },
} as const
/** Of a spot pair. */
const TICKERS = 'tickers'
const tickerTimes = { changedMs: 1_000, unchangedMs: Number.POSITIVE_INFINITY }

/** What an argument of a subscription asks for; as the client wrote it, so that the answer repeats it. */
interface Arg {
  readonly channel: string
  readonly instId?: string
  readonly instType?: string
}

function topicOf({ channel, instId, instType }: Arg): string {
  return `${channel}:${instId ?? instType ?? ''}`
}

/** What OKX streams beside trades. */
class OkxStream {
  private readonly context: Context
  private readonly subscribers: Subscribers
  private readonly changes = new Changes()
  private readonly seconds = new EveryPeriod(1000)
  private readonly halfSeconds = new EveryPeriod(LIQUIDATIONS_MS)
  private toldUntil: Micros

  constructor(context: Context, subscribers: Subscribers) {
    this.context = context
    this.subscribers = subscribers
    this.toldUntil = context.world.now
  }

  exists(arg: Arg): boolean {
    if (arg.channel === LIQUIDATIONS) return arg.instType === 'SWAP'
    return (
      this.rowsOf(arg) !== undefined ||
      (isOfSwaps(arg.channel) && isLive(this.context.economy.perps('okx'), arg.instId ?? ''))
    )
  }

  /** What is known now comes at once; of liquidations an old one, as the venue has it. */
  greet(arg: Arg, link: Link): void {
    const { channel, instId = '' } = arg
    if (channel === LIQUIDATIONS) {
      const old = this.newestLiquidation()
      if (old !== undefined) link.data(old.market, frameOf(LIQUIDATIONS, { instType: 'SWAP' }, old.row))
      return
    }
    const rows = this.rowsOf(arg)
    if (rows !== undefined) link.data(rows.market, frameOf(channel, { instId }, rows.row()))
  }

  beat(nowMs: number): void {
    if (this.halfSeconds.isDue(nowMs)) this.tellLiquidations()
    if (!this.seconds.isDue(nowMs)) return
    const { economy } = this.context
    for (const [channel, times] of Object.entries(ofSwaps)) {
      for (const { symbol } of economy.perps('okx')) this.tell(channel, symbol, nowMs, times)
    }
    for (const { symbol } of economy.spots('okx')) this.tell(TICKERS, symbol, nowMs, tickerTimes)
  }

  private tell(channel: string, instId: string, nowMs: number, times: typeof tickerTimes): void {
    const topic = topicOf({ channel, instId })
    const rows = this.subscribers.of(topic).size === 0 ? undefined : this.rowsOf({ channel, instId })
    if (rows === undefined) return
    const row = rows.row()
    if (!this.changes.isDue(topic, () => JSON.stringify({ ...row, ts: '' }), nowMs, times)) return
    this.subscribers.tell(topic, rows.market, () => frameOf(channel, { instId }, row))
  }

  private tellLiquidations(): void {
    const { world, economy } = this.context
    const [from, to] = [this.toldUntil, world.now]
    this.toldUntil = to
    const topic = topicOf({ channel: LIQUIDATIONS, instType: 'SWAP' })
    if (this.subscribers.of(topic).size === 0) return
    for (const market of economy.perps('okx')) {
      const liquidations = economy.liquidations(market, from, to)
      if (liquidations.length === 0) continue
      const row = liquidationRow(market, liquidations)
      this.subscribers.tell(topic, market, () => frameOf(LIQUIDATIONS, { instType: 'SWAP' }, row))
    }
  }

  private newestLiquidation(): { market: PerpMarket; row: object } | undefined {
    const { economy } = this.context
    const all = economy.perps('okx').flatMap((market) => {
      const liquidation = economy.liquidations(market, this.toldUntil - OLD, this.toldUntil).at(-1)
      return liquidation === undefined
        ? []
        : [{ market, time: liquidation.time, row: liquidationRow(market, [liquidation]) }]
    })
    return all.sort((left, right) => right.time - left.time)[0]
  }

  /** Whose row a channel has of an instrument, and the row as of now. */
  private rowsOf({ channel, instId }: Arg): { market: PerpMarket | SpotMarket; row: () => Row } | undefined {
    const { economy } = this.context
    if (isOfSwaps(channel)) {
      const market = economy.perps('okx').find(({ symbol }) => symbol === instId)
      return market && { market, row: () => ofSwaps[channel].row(market, economy.perp(market)) }
    }
    const market = channel === TICKERS ? economy.spots('okx').find(({ symbol }) => symbol === instId) : undefined
    return market && { market, row: () => spotTickerRow(market, economy.spot(market)) }
  }
}

function frameOf(channel: string, about: { instId: string } | { instType: string }, row: object): string {
  return JSON.stringify({ arg: { channel, ...about }, data: [row] })
}

function isOfSwaps(channel: string): channel is keyof typeof ofSwaps {
  return Object.hasOwn(ofSwaps, channel)
}
