import type { Link } from '../../link.ts'
import type { SpotMarket } from '../../market/economy.ts'
import { spotCandlesOf, tradedCandlesOf } from '../candles.ts'
import type { Context, RestReply, VenueApi } from '../venue-api.ts'
import { answerOf, Burst, ok, whole, type Calls } from '../rest.ts'
import { Changes, EveryPeriod, Subscribers, fieldsIn, fieldsOf, VenueSession } from '../socket.ts'
import {
  advancedProduct,
  candleRow,
  currencies,
  matchFrame,
  products,
  tickerFrame,
  tradeRow,
  withAlias,
  type AdvancedProduct,
  type Shown,
  heartbeatFrame,
} from './rows.ts'

/** A ticker comes with each match; once a second is enough here. */
const TICKERS_MS = 1000
/** "10 requests per second per IP, up to 15 in bursts." */
const REQUESTS_PER_SECOND = 10
const BURST = 15
const PAGE_MAX = 1000
const CANDLES_MAX = 300
const granularities: ReadonlySet<number> = new Set([60, 300, 900, 3600, 21_600, 86_400])

const ADVANCED = '/api/v3/brokerage/market/products'

/** Coinbase Exchange, spot, and the public REST of Advanced Trade, which is another host with limits of its own. */
export function coinbaseApi(context: Context): VenueApi {
  const subscribers = new Subscribers()
  const changes = new Changes()
  const tickers = new EveryPeriod(TICKERS_MS)
  const [exchange, advanced] = [new Burst(REQUESTS_PER_SECOND, BURST), new Burst(REQUESTS_PER_SECOND, BURST)]
  return {
    name: 'coinbase',
    tooMany: () => refuse(429, 'Public rate limit exceeded'),
    // 8 a second with bursts of 20.
    sockets: { most: 20, windowMs: 1_000 },
    connect: (path) => (path === '/' ? (link) => new CoinbaseSession(link, context, subscribers) : 404),
    rest({ path, query, headers, nowMs }) {
      const isAdvanced = path.startsWith(ADVANCED)
      if (!isAdvanced && headers['user-agent'] === undefined) return refuse(400, 'User-Agent header is required.')
      if (!(isAdvanced ? advanced : exchange).takes(nowMs)) return refuse(429, 'Public rate limit exceeded')
      if (path === ADVANCED) return ok(advancedList(context, query))
      return answerOf(calls, path, context, query) ?? productAnswer(context, path, query)
    },
    beat(nowMs) {
      if (!tickers.isDue(nowMs)) return
      for (const { symbol } of context.economy.spots('coinbase')) {
        const topic = topicOf('ticker', symbol)
        const shown = subscribers.of(topic).size === 0 ? undefined : findShown(context, symbol)
        if (shown === undefined) continue
        const { time: _time, ...prices } = shown.state
        if (!changes.isDue(topic, () => JSON.stringify(prices), nowMs)) continue
        subscribers.tell(topic, shown.market, () => tickerFrame(shown))
      }
    },
    publish(market, trades) {
      const topic = topicOf('matches', market.symbol)
      subscribers.trades(topic, market, () => trades.map((trade) => matchFrame(market, trade, 'match')))
    },
  }
}

const calls: Calls = {
  '/time': ({ world: { nowMs } }) => ok({ iso: new Date(nowMs).toISOString(), epoch: nowMs / 1000 }),
  '/products': ({ economy }) => ok(products(economy.spots('coinbase'))),
  '/currencies': ({ economy }) => ok(currencies(economy.spots('coinbase'))),
}

function productAnswer(context: Context, path: string, query: URLSearchParams): RestReply {
  const match = /^\/products\/([^/]+)\/(trades|candles)$/.exec(path)
  const shown = findShown(context, match?.[1] ?? '')
  if (match === null || shown === undefined) return refuse(404, 'NotFound')
  return match[2] === 'trades' ? trades(shown, query) : candles(context, shown, query)
}

/**
 * Newest first. `after`: older than that id. `before`: newer than it, but the newest of them, which leaves a hole when
 * there are more than a page. `CB-BEFORE` and `CB-AFTER` are the page's first and last id, to go on from.
 */
function trades({ history }: Shown, query: URLSearchParams): RestReply {
  // What is listed without ever having traded has no rows.
  if (history === undefined) return ok([])
  const { rows, market } = history
  const limit = whole(query, 'limit') ?? PAGE_MAX
  const [after, before] = [whole(query, 'after'), whole(query, 'before')]
  if (!(limit >= 1) || Number.isNaN(after ?? 0) || Number.isNaN(before ?? 0)) return refuse(400, 'Invalid pagination')
  const end = after === undefined ? rows.end : rows.firstWithId(after)
  const begin = before === undefined ? rows.begin : rows.firstWithId(before + 1)
  const page = rows.read(Math.max(begin, end - Math.min(limit, PAGE_MAX)), end).reverse()
  const [first, last] = [page[0], page.at(-1)]
  const headers =
    first === undefined || last === undefined ? {} : { 'cb-before': String(first.id), 'cb-after': String(last.id) }
  return { status: 200, headers, body: page.map((trade) => tradeRow(market, trade)) }
}

/** Newest first, of the trades where there are any; otherwise of the economy's minutes. */
function candles(context: Context, { market, history }: Shown, query: URLSearchParams): RestReply {
  const { world } = context
  const granularity = Number(query.get('granularity') ?? 60)
  if (!granularities.has(granularity)) return refuse(400, 'Unsupported granularity')
  const intervalMs = granularity * 1000
  const endMs = momentOf(query.get('end')) ?? world.nowMs
  const startMs = momentOf(query.get('start')) ?? endMs - CANDLES_MAX * intervalMs
  if ((endMs - startMs) / intervalMs > CANDLES_MAX) {
    return refuse(
      400,
      `granularity too small for the requested time range. Count of aggregations requested exceeds ${CANDLES_MAX}`,
    )
  }
  const span = { intervalMs, fromMs: startMs, toMs: Math.min(endMs, world.nowMs) + 1 }
  const found =
    history === undefined ? spotCandlesOf(context, market, history, span) : tradedCandlesOf(context, history, span)
  return ok(found.map((candle) => candleRow(market, candle)).reverse())
}

/** An ISO time or seconds since 1970, as ms. */
function momentOf(text: string | null): number | undefined {
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

function advancedList(context: Context, query: URLSearchParams): object {
  const shown = (query.get('product_type') ?? 'SPOT') === 'SPOT' ? allShown(context) : []
  const wanted = new Set(query.getAll('product_ids'))
  const all = [...shown.flatMap((one) => withAlias(advancedProduct(one))), ...disabled(shown)].filter(
    ({ product_id }) => wanted.size === 0 || wanted.has(String(product_id)),
  )
  const offset = whole(query, 'offset') ?? 0
  const page = all.slice(offset, offset + (whole(query, 'limit') ?? all.length))
  const next = offset + page.length < all.length
  const pagination = { prev_cursor: '', next_cursor: '', has_next: next, has_prev: offset > 0 }
  return { products: page, num_products: all.length, pagination }
}

/** Listed, and to be left out. */
function disabled([first]: readonly Shown[]): AdvancedProduct[] {
  if (first === undefined) return []
  const off = { trading_disabled: true, status: 'delisted', volume_24h: '', price: '0.1868', alias_to: [] }
  return [{ ...advancedProduct(first), product_id: 'EOS-USD', base_currency_id: 'EOS', ...off }]
}

function refuse(status: number, message: string): RestReply {
  return { status, body: { message } }
}

/** "You must send a subscribe message within 5 seconds or be disconnected." */
const SUBSCRIBE_WITHIN_MS = 5_000
/** "100 messages sent by the client per second per connection." */
const MESSAGES_PER_SECOND = 100

const channels = ['matches', 'heartbeat', 'ticker'] as const

/** One Coinbase Exchange feed socket. */
class CoinbaseSession extends VenueSession {
  private readonly context: Context
  private subscribed = false

  constructor(link: Link, context: Context, subscribers: Subscribers) {
    super(link, subscribers)
    this.context = context
  }

  receive(text: string): void {
    if (!this.within(MESSAGES_PER_SECOND)) {
      this.refuse('Rate limit exceeded', 'too many messages')
      this.link.close(1008)
      return
    }
    const request = requestOf(text)
    if (request === undefined) {
      this.refuse('Malformed JSON', 'the message is no JSON object of a known type')
      return
    }
    const wrong = request.wanted.map((one) => this.wrongWith(one)).find(Boolean)
    if (wrong !== undefined) this.refuse('Failed to subscribe', wrong)
    else if (request.type === 'subscribe') this.subscribe(request.wanted)
    else {
      for (const { channel, product } of request.wanted) this.leave(topicOf(channel, product))
      this.echo()
    }
  }

  tick(nowMs: number): void {
    if (!this.subscribed && nowMs - this.link.openedAtMs > SUBSCRIBE_WITHIN_MS) {
      this.refuse('Failed to subscribe', 'no subscribe message within 5 seconds')
      this.link.close(1008)
      return
    }
    const { world } = this.context
    for (const product of this.productsOf('heartbeat')) {
      this.link.control(heartbeatFrame(product, world.find('coinbase', product)?.newest, world.now))
    }
  }

  private subscribe(wanted: readonly Wanted[]): void {
    this.subscribed = true
    const { world } = this.context
    const fresh = wanted.filter(({ channel, product }) => !this.topics.has(topicOf(channel, product)))
    for (const { channel, product } of fresh) {
      if (channel === 'matches') world.find('coinbase', product)?.enter()
      this.join(topicOf(channel, product))
    }
    this.echo()
    for (const { channel, product } of fresh) {
      const shown = channel === 'ticker' ? findShown(this.context, product) : undefined
      if (shown !== undefined) this.link.data(shown.market, tickerFrame(shown))
      // The most recent match of each product, whether or not the reader has seen it before.
      const history = channel === 'matches' ? world.find('coinbase', product) : undefined
      if (history?.newest !== undefined) this.link.control(matchFrame(history.market, history.newest, 'last_match'))
    }
  }

  /** Always the full set that is subscribed now. */
  private echo(): void {
    const sets = channels.map((name) => ({ name, product_ids: this.productsOf(name), account_ids: null }))
    this.link.control({
      type: 'subscriptions',
      channels: sets.filter(({ product_ids }) => product_ids.length > 0),
    })
  }

  private productsOf(channel: string): string[] {
    const prefix = topicOf(channel, '')
    return [...this.topics].filter((topic) => topic.startsWith(prefix)).map((topic) => topic.slice(prefix.length))
  }

  /** Of some products that are listed nothing is ever said; they can be subscribed all the same. */
  private wrongWith({ channel, product }: Wanted): string | undefined {
    if (!channels.some((name) => name === channel)) return `${channel} is not a valid channel`
    const markets = this.context.economy.spots('coinbase')
    const online = products(markets).some(({ id, status, trading_disabled }) => {
      return id === product && status === 'online' && !trading_disabled
    })
    return online ? undefined : `${product} is not a valid product`
  }

  private refuse(message: string, reason: string): void {
    this.link.control({ type: 'error', message, reason })
  }
}

function topicOf(channel: string, product: string): string {
  return `${channel}:${product}`
}

/** The products that are listed now, each with its prices and its trades. */
function allShown(context: Context): Shown[] {
  return context.economy.spots('coinbase').map((market) => shownOf(context, market))
}

function findShown(context: Context, product: string): Shown | undefined {
  const market = context.economy.spots('coinbase').find(({ symbol }) => symbol === product)
  return market === undefined ? undefined : shownOf(context, market)
}

function shownOf({ world, economy }: Context, market: SpotMarket): Shown {
  return { market, state: economy.spot(market), history: world.find('coinbase', market.symbol) }
}

interface Wanted {
  readonly channel: string
  readonly product: string
}

interface Request {
  readonly type: 'subscribe' | 'unsubscribe'
  readonly wanted: readonly Wanted[]
}

/** Channels are names, which then mean the request's own `product_ids`, or objects with theirs. */
function requestOf(text: string): Request | undefined {
  const { type, channels: asked, product_ids } = fieldsIn(text) ?? {}
  if ((type !== 'subscribe' && type !== 'unsubscribe') || !Array.isArray(asked)) return undefined
  const common = namesOf(product_ids)
  return { type, wanted: asked.flatMap((channel: unknown) => wantedOf(channel, common)) }
}

function wantedOf(channel: unknown, common: readonly string[]): Wanted[] {
  if (typeof channel === 'string') return common.map((product) => ({ channel, product }))
  const { name, product_ids } = fieldsOf(channel)
  const wanted = product_ids === undefined ? common : namesOf(product_ids)
  return wanted.map((product) => ({ channel: typeof name === 'string' ? name : '', product }))
}

function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
