import type { Candle } from '../ledger/candles.ts'
import type { History } from '../ledger/history.ts'
import type { Link } from '../link.ts'
import { fixedNumber, powerText, shortNumber, trimmedText, msOf } from '../market/text.ts'
import type { PerpMarket, PerpState, SimLiquidation } from '../market/economy.ts'
import type { Market } from '../market/markets.ts'
import type { Micros, Trade } from '../market/trade.ts'
import { candlesOf, settlementsOf } from './candles.ts'
import type { Context, RestReply, VenueApi } from './venue-api.ts'
import { listedRows, ok, Throttles, whole } from './rest.ts'
import { fieldsIn, Subscribers, textsOf, VenueSession } from './socket.ts'

const ROOT = '/api/v4/futures/usdt/'
/** "200 requests in 10 seconds per endpoint and address." */
const REQUESTS_PER_WINDOW = 200
const WINDOW_MS = 10_000
const SECOND: Micros = 1_000_000
/** The shortest period of the economy's ratios. */
const FIVE_MINUTES = 300

const intervals: Readonly<Record<string, number>> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '30m': 1800,
  '1h': 3600,
  '4h': 14_400,
  '1d': 86_400,
}

/**
 * Gate's futures in USDT: trades, and REST. Times are in seconds, sizes in contracts.
 * - streams: `futures.trades`: signed contracts, internal trades marked
 * - control: one ack a request by its `id`, error 2 for a whole request, `futures.ping`
 * - REST: contracts, tickers, trades, candlesticks, contract_stats, funding_rate; seconds
 * - limits: 200/10 s an endpoint, 429, `x-gate-ratelimit-*`
 * - listings: traded assets; to be left out: stocks, delisting, pre-market
 */
export function gateApi(context: Context): VenueApi {
  const requests = new Throttles(WINDOW_MS)
  const subscribers = new Subscribers()
  return {
    name: 'gate',
    tooMany: () => ({ status: 429, body: { label: 'TOO_MANY_REQUESTS', message: 'Request Rate limit Exceeded' } }),
    sockets: { most: 300, windowMs: 300_000 },
    connect: (path) => (path === '/v4/ws/usdt' ? (link) => new GateSession(link, context, subscribers) : 404),
    /** What one moment traded on a contract is one message. */
    publish(market, trades) {
      subscribers.trades(market.symbol, market, () => {
        const result = trades.map((trade) => tradeRow(market, trade, msOf(trade.time)))
        return [JSON.stringify(reply(context, { event: 'update', result }))]
      })
    },
    rest({ path, query, nowMs }) {
      if (!path.startsWith(ROOT)) return notFound
      const endpoint = path.slice(ROOT.length)
      const throttle = requests.of(endpoint)
      const used = throttle.use(nowMs)
      const headers = {
        'x-gate-ratelimit-limit': String(REQUESTS_PER_WINDOW),
        'x-gate-ratelimit-requests-remain': String(Math.max(0, REQUESTS_PER_WINDOW - used)),
        'x-gate-ratelimit-reset-timestamp': String(Math.ceil((nowMs + throttle.left(nowMs)) / 1000)),
      }
      if (used > REQUESTS_PER_WINDOW) return { ...tooMany, headers }
      return { ...answer(context, endpoint, query), headers }
    },
  }
}

function answer(context: Context, endpoint: string, query: URLSearchParams): RestReply {
  const { economy } = context
  switch (endpoint) {
    case 'contracts':
      return contracts(context, query)
    case 'tickers':
      return ok(economy.perps('gate').map((market) => tickerRow(market, economy.perp(market))))
    case 'trades':
      return ofContract(context, query, ({ rows, market }) => {
        const limit = whole(query, 'limit') ?? 100
        const page = rows.read(rows.end - Math.min(limit, TRADES_MAX), rows.end).reverse()
        // Seconds with three decimals, whatever the name says.
        return page.map((trade) => tradeRow(market, trade, msOf(trade.time) / 1000))
      })
    case 'candlesticks':
      return candlesticks(context, query)
    case 'funding_rate': {
      const market = economy.perps('gate').find(({ symbol }) => symbol === query.get('contract'))
      return market === undefined
        ? refuse(400, 'CONTRACT_NOT_FOUND', 'contract not found')
        : fundingRates(context, market, query)
    }
    case 'contract_stats': {
      const name = query.get('contract')
      if (name === null) return refuse(400, 'MISSING_REQUIRED_PARAM', 'Missing required parameter: contract')
      const market = economy.perps('gate').find(({ symbol }) => symbol === name)
      return market === undefined
        ? refuse(400, 'CONTRACT_NOT_FOUND', 'contract not found')
        : stats(context, market, query)
    }
    default:
      return notFound
  }
}

/** Newest first, 100 where nothing is said: of [from, to] in seconds. A rate is there a second after its settlement. */
function fundingRates(context: Context, market: PerpMarket, query: URLSearchParams): RestReply {
  const [limit, from, to] = [whole(query, 'limit') ?? 100, whole(query, 'from'), whole(query, 'to')]
  if (!(limit >= 1 && limit <= 1000)) return refuse(400, 'INVALID_PARAM_VALUE', 'limit must be between 1 and 1000')
  const span = { fromMs: ((from ?? 1) - 1) * 1_000, toMs: ((to ?? Infinity) - 1) * 1_000, limit }
  const rows = settlementsOf(context, market, span)
  return ok(rows.map(({ time, rate }) => ({ r: shortNumber(rate, RATE_DECIMALS), t: seconds(time) + 1 })))
}

/** "Maximum of 2000 points"; nor older ones than this many. */
const POINTS_MAX = 2000
const POINTS_KEPT = 10_000

/** Oldest first, the one that runs among them: of [from, to] in seconds, or the newest `limit`. */
function candlesticks(context: Context, query: URLSearchParams): RestReply {
  const seconds = intervals[query.get('interval') ?? '5m']
  const { nowMs } = context.world
  const [limit, from, to] = [whole(query, 'limit'), whole(query, 'from'), whole(query, 'to')]
  if (seconds === undefined || (limit !== undefined && (from !== undefined || to !== undefined)))
    return refuse(400, 'INVALID_PARAM_VALUE', 'Invalid interval, or limit beside from and to')
  const intervalMs = seconds * 1_000
  const toMs = Math.min(nowMs, (to ?? Infinity) * 1_000) + 1
  const fromMs = from === undefined ? (Math.floor(toMs / intervalMs) - (limit ?? 100) + 1) * intervalMs : from * 1_000
  if (fromMs < nowMs - POINTS_KEPT * intervalMs)
    return refuse(400, 'INVALID_PARAM_VALUE', 'Candlestick too long ago. Maximum 10000 points ago are allowed')
  if (toMs - fromMs > POINTS_MAX * intervalMs)
    return refuse(400, 'INVALID_PARAM_VALUE', 'Too many data points requested')
  return ofContract(context, query, (history) => {
    const found = candlesOf(context, history, { intervalMs, fromMs, toMs })
    return found.map((candle) => candlestick(history.market, candle))
  })
}

/** Rows of one contract's trades; what never traded has none. */
function ofContract(
  { economy, world }: Context,
  query: URLSearchParams,
  rows: (history: History) => readonly object[],
): RestReply {
  const name = query.get('contract')
  if (name === null) return refuse(400, 'MISSING_REQUIRED_PARAM', 'Missing required parameter: contract')
  if (!economy.perps('gate').some(({ symbol }) => symbol === name))
    return refuse(400, 'CONTRACT_NOT_FOUND', 'contract not found')
  const history = world.find('gate', name)
  return ok(history === undefined ? [] : rows(history))
}

/** "Maximum number of records to be returned in a single list." */
const TRADES_MAX = 1000

/** A trade: `size` in contracts, negative where the taker sold; `is_internal` is said of internal ones alone. */
function tradeRow(market: Market, trade: Trade, time: number): object {
  return {
    size: trade.buy ? trade.size : -trade.size,
    id: trade.id,
    create_time: Math.floor(trade.time / 1_000_000),
    create_time_ms: time,
    price: trimmedText(trade.price, market.priceDecimals),
    contract: market.symbol,
    ...(trade.block ? { is_internal: true } : {}),
  }
}

/** `v`: contracts; `sum`: dollars. */
function candlestick(market: Market, candle: Candle): object {
  const price = (units: number): string => trimmedText(units, market.priceDecimals)
  const { open: o, high: h, low: l, close: c } = candle
  return {
    t: candle.startMs / 1000,
    v: candle.buy + candle.sell,
    o: price(o),
    h: price(h),
    l: price(l),
    c: price(c),
    sum: trimmedText(candle.buyQuote + candle.sellQuote, market.priceDecimals + market.sizeDecimals - market.factor),
  }
}

/** A message of the trades' channel. */
function reply({ world }: Context, more: object): object {
  return { time: Math.floor(world.nowMs / 1000), time_ms: world.nowMs, channel: CHANNEL, ...more }
}

const CHANNEL = 'futures.trades'

/** One socket of the futures in USDT; the channel of trades. */
class GateSession extends VenueSession {
  private readonly context: Context

  constructor(link: Link, context: Context, subscribers: Subscribers) {
    super(link, subscribers)
    this.context = context
  }

  receive(text: string): void {
    const { channel, event, payload, id, time } = fieldsIn(text) ?? {}
    const named = typeof id === 'number' ? { id } : {}
    if (channel === 'futures.ping') {
      const { time: now, time_ms } = reply(this.context, {}) as { time: number; time_ms: number }
      this.link.control({ time: now, time_ms, channel: 'futures.pong', event: '', result: null })
      return
    }
    const contracts = textsOf(payload) ?? []
    const unknown = contracts.find((name) => !this.isListed(name))
    if (channel !== CHANNEL || typeof time !== 'number') this.refuse(event, named, 'unknown channel')
    else if (unknown !== undefined) this.refuse(event, named, `unknown contract ${unknown}`)
    else if (event === 'subscribe' || event === 'unsubscribe') {
      for (const name of contracts) this.change(event, name)
      this.link.control(reply(this.context, { ...named, event, error: null, result: { status: 'success' } }))
    } else this.refuse(event, named, 'unknown event')
  }

  tick(): void {
    // Nothing is due by time here.
  }

  private change(event: 'subscribe' | 'unsubscribe', name: string): void {
    if (event === 'unsubscribe') {
      this.leave(name)
      return
    }
    this.context.world.find('gate', name)?.enter()
    this.join(name)
  }

  private isListed(name: string): boolean {
    return this.context.economy.perps('gate').some(({ symbol }) => symbol === name)
  }

  private refuse(event: unknown, named: object, message: string): void {
    this.link.control(reply(this.context, { ...named, event, error: { code: 2, message }, result: null }))
  }
}

function contracts({ economy }: Context, query: URLSearchParams): RestReply {
  const rows = listedRows(
    economy.perps('gate').map((market) => contractRow(market, economy.perp(market))),
    ({ name }) => String(name),
    (first) => [
      { ...first, name: 'TSLAX_USDT', contract_type: 'stocks' },
      { ...first, name: 'OLD_USDT', in_delisting: true, status: 'delisting' },
      { ...first, name: 'FRESH_USDT', is_pre_market: true, status: 'prelaunch' },
    ],
  )
  const offset = whole(query, 'offset') ?? 0
  return ok(rows.slice(offset, offset + (whole(query, 'limit') ?? 100_000)))
}

/** Oldest first: from `from` on, or the newest `limit` (default 30, at most 100). */
function stats({ world, economy }: Context, market: PerpMarket, query: URLSearchParams): RestReply {
  const step = intervals[query.get('interval') ?? '5m']
  if (step === undefined) return refuse(400, 'INVALID_PARAM_VALUE', 'Invalid interval')
  const limit = whole(query, 'limit') ?? 30
  if (!(limit >= 1 && limit <= 100)) return refuse(400, 'INVALID_PARAM_VALUE', 'limit must be between 1 and 100')
  const newest = Math.floor(world.now / SECOND / step) * step
  const from = whole(query, 'from')
  const first = from === undefined ? newest - (limit - 1) * step : Math.ceil(from / step) * step
  const times = Array.from({ length: limit }, (_, index) => (first + index * step) * SECOND)
  const until = Math.min(newest, whole(query, 'to') ?? newest) * SECOND
  const rows = times
    .filter((time) => time <= until)
    .map((time) => {
      const ratios = economy.topTraders(market, time)
      if (ratios === undefined) return undefined
      const now = economy.perp(market).openInterest
      const openInterest = economy.openInterests(market, time, time + FIVE_MINUTES * SECOND)[0]?.size ?? now
      const liquidations = economy.liquidations(market, time, time + step * SECOND)
      return statsRow(market, { time, ratios, openInterest, mark: economy.markAt(market, time), liquidations })
    })
  return ok(rows.filter((row) => row !== undefined))
}

function refuse(status: number, label: string, message: string): RestReply {
  return { status, body: { label, message } }
}

const notFound = refuse(404, 'NOT_FOUND', 'path not found')
const tooMany = refuse(429, 'TOO_MANY_REQUESTS', 'Request Rate Limit Exceeded')

/** Rates are shown with so many decimals. */
const RATE_DECIMALS = 6
/** Positions of the top traders in all, contracts: what the ratios are made of. */
const TOP_SIZE = 50_000_000
const TOP_ACCOUNTS = 200

/** A contract; `quanto_multiplier` is the base currency that one is worth, `position_size` counts both sides. */
function contractRow(market: PerpMarket, state: PerpState): ContractRow {
  return {
    name: market.symbol,
    type: 'direct',
    quanto_multiplier: powerText(market.factor),
    ref_discount_rate: '0',
    order_price_deviate: '0.04',
    maintenance_rate: shortNumber(market.tiers[0]?.rate ?? 0.005, 6),
    mark_type: 'index',
    last_price: price(market, state.last),
    mark_price: price(market, state.mark),
    index_price: price(market, state.index),
    funding_rate_indicative: shortNumber(state.rate, RATE_DECIMALS),
    mark_price_round: powerText(-market.priceDecimals),
    funding_offset: 0,
    in_delisting: false,
    risk_limit_base: '200000',
    interest_rate: '0.0003',
    order_price_round: powerText(-market.priceDecimals),
    order_size_min: 1,
    ref_rebate_rate: '0.2',
    funding_interval: market.intervalHours * 3600,
    risk_limit_step: '1499800000',
    leverage_min: '1',
    leverage_max: shortNumber(market.maxLeverage, 0),
    risk_limit_max: '1500000000',
    maker_fee_rate: '-0.00005',
    taker_fee_rate: '0.00075',
    funding_rate: shortNumber(state.rate, RATE_DECIMALS),
    order_size_max: 15_000_000,
    funding_next_apply: seconds(state.nextSettlement),
    short_users: 11_585,
    config_change_time: 1_770_798_325,
    trade_size: contractsOf(market, state.volume24h),
    position_size: contractsOf(market, state.openInterest),
    long_users: 14_765,
    funding_impact_value: '30000',
    orders_limit: 100,
    trade_id: 724_267_229,
    orderbook_id: 108_769_531_316,
    enable_bonus: true,
    enable_credit: true,
    create_time: 1_574_035_200,
    funding_cap_ratio: '0.75',
    status: 'trading',
    launch_time: 1_574_035_200,
    contract_type: '',
    cross_leverage_default: '10',
    enable_circuit_breaker: false,
    enable_decimal: false,
    funding_rate_limit: shortNumber(market.cap, RATE_DECIMALS),
    is_pre_market: false,
    market_order_size_max: '10000000',
    market_order_slip_ratio: '0.02',
    voucher_leverage: '2',
  }
}

type ContractRow = Readonly<Record<string, string | number | boolean>>

function tickerRow(market: PerpMarket, state: PerpState): object {
  const change = state.last - state.open24h
  const tick = Number(`1e${-market.priceDecimals - market.priceFactor}`)
  return {
    contract: market.symbol,
    last: price(market, state.last),
    change_percentage: fixedNumber((change / state.open24h) * 100, 2),
    total_size: String(contractsOf(market, state.openInterest)),
    low_24h: price(market, state.low24h),
    high_24h: price(market, state.high24h),
    volume_24h: String(contractsOf(market, state.volume24h)),
    volume_24h_base: shortNumber(state.volume24h, 0),
    volume_24h_quote: shortNumber(state.quoteVolume24h, 0),
    volume_24h_settle: shortNumber(state.quoteVolume24h, 0),
    mark_price: price(market, state.mark),
    funding_rate: shortNumber(state.rate, RATE_DECIMALS),
    funding_rate_indicative: shortNumber(state.rate, RATE_DECIMALS),
    index_price: price(market, state.index),
    quanto_multiplier: powerText(market.factor),
    highest_bid: price(market, state.last - tick),
    highest_size: String(contractsOf(market, 1000 / state.last)),
    lowest_ask: price(market, state.last),
    lowest_size: String(contractsOf(market, 2000 / state.last)),
    change_price: price(market, change),
  }
}

interface Period {
  readonly time: Micros
  readonly ratios: { readonly positions: number; readonly accounts: number }
  /** One-sided, base units. */
  readonly openInterest: number
  readonly mark: number
  readonly liquidations: readonly SimLiquidation[]
}

/** `top_lsr_size` is the top traders' long over short by size of positions, `top_lsr_account` by heads. */
function statsRow(market: PerpMarket, { time, ratios, openInterest, mark, liquidations }: Period): object {
  const { positions, accounts } = ratios
  const users = { long: Math.round((24_000 * accounts) / (1 + accounts)), all: 24_000 }
  const heads = Math.round((TOP_ACCOUNTS * accounts) / (1 + accounts))
  const size = Math.round((TOP_SIZE * positions) / (1 + positions))
  return {
    time: seconds(time),
    lsr_taker: 1,
    lsr_account: users.long / (users.all - users.long),
    ...liquidated(market, 'long', liquidations),
    ...liquidated(market, 'short', liquidations),
    open_interest: contractsOf(market, openInterest),
    open_interest_usd: Number((openInterest * mark).toFixed(4)),
    top_lsr_account: accounts,
    top_lsr_size: positions,
    mark_price: Number(price(market, mark)),
    top_long_size: size,
    top_short_size: TOP_SIZE - size,
    long_taker_size: 100_000,
    short_taker_size: 100_000,
    top_long_account: heads,
    top_short_account: TOP_ACCOUNTS - heads,
    long_users: users.long,
    short_users: users.all - users.long,
  }
}

function liquidated(market: PerpMarket, side: 'long' | 'short', liquidations: readonly SimLiquidation[]): object {
  const own = liquidations.filter((one) => one.side === side)
  const base = own.reduce((sum, one) => sum + one.size, 0)
  const usd = Number(own.reduce((sum, one) => sum + one.size * one.fillPrice, 0).toFixed(4))
  return {
    [`${side}_liq_size`]: contractsOf(market, base),
    [`${side}_liq_amount`]: base,
    [`${side}_liq_usd`]: usd,
    [`${side}_liq_usd_new`]: usd,
  }
}

/** Whole contracts. */
function contractsOf(market: PerpMarket, base: number): number {
  return Math.round(base / Number(`1e${market.factor}`))
}

/** The venue writes prices as short as they are. */
function price(market: PerpMarket, value: number): string {
  return shortNumber(value, market.priceDecimals + market.priceFactor)
}

function seconds(time: Micros): number {
  return Math.floor(time / 1_000_000)
}
