import type { Candle } from '../ledger/candles.ts'
import type { Link } from '../link.ts'
import { fixedNumber, fixedText, powerText, priceText, shortNumber, timeText } from '../market/text.ts'
import type { Economy, SpotMarket, SpotState } from '../market/economy.ts'
import type { Market } from '../market/markets.ts'
import type { Micros, Trade } from '../market/trade.ts'
import { spotCandlesOf } from './candles.ts'
import type { Context, RestReply, VenueApi } from './venue-api.ts'
import { answerOf, Burst, type Calls, listedRows, ok, whole } from './rest.ts'
import { Changes, EveryPeriod, type Fields, fieldsIn, fieldsOf, Subscribers, VenueSession } from './socket.ts'

/** A ticker comes with each trade or change of the book; once a second is enough here. */
const TICKERS_MS = 1000
/** About one public call a second and address is safe; some more at once. */
const CALLS_PER_SECOND = 1
const BURST = 15
/** "Returns up to 720 of the most recent entries." */
const CANDLES_MAX = 720
const intervals: ReadonlySet<number> = new Set([1, 5, 15, 30, 60, 240, 1440, 10_080, 21_600])

/**
 * Kraken spot: prices and trades. Refusals of REST stand in `error`, mostly with HTTP 200.
 * - streams: `/v2` `trade` and `ticker`, on trades or `bbo`: snapshot, updates, JSON numbers with all decimals
 * - control: `status` with a 64-bit id, one answer per symbol, `heartbeat` a second once subscribed, `ping`; 60 s idle
 * - REST: AssetPairs, Ticker, Trades (by time), OHLC (open candle last), Time, SystemStatus; XBT and XDG, canonical
 *   keys, errors in `error`
 * - limits: 1 a second, bursts of 15, 429; 150 sockets/10 min
 * - listings: dollar pairs and stable coins; to be left out: EUR, tokenised stocks, `cancel_only`
 * - not there: books
 */
export function krakenApi(context: Context): VenueApi {
  const { economy } = context
  const subscribers = new Subscribers()
  const changes = new Changes()
  const tickers = new EveryPeriod(TICKERS_MS)
  const burst = new Burst(CALLS_PER_SECOND, BURST)
  let connections = 0
  return {
    name: 'kraken',
    // It says so within HTTP 200.
    tooMany: () => refuse('EAPI:Rate limit exceeded'),
    sockets: { most: 150, windowMs: 600_000 },
    connect(path) {
      if (path !== '/v2') return 404
      connections += 1
      const number = connections
      return (link) => new KrakenSession(link, context, { subscribers, number })
    },
    rest({ path, query, nowMs }) {
      if (!burst.takes(nowMs)) return { status: 429, body: { error: ['EAPI:Rate limit exceeded'] } }
      return answerOf(calls, path, context, query) ?? refuse('EGeneral:Unknown method')
    },
    beat(nowMs) {
      if (!tickers.isDue(nowMs)) return
      for (const market of economy.spots('kraken')) {
        for (const trigger of triggers) {
          const topic = topicOf(trigger, socketName(market))
          if (subscribers.of(topic).size === 0) continue
          if (!changes.isDue(topic, () => causeOf(trigger, economy.spot(market)), nowMs)) continue
          subscribers.tell(topic, market, () => tickerFrame('update', market, economy))
        }
      }
    },
    /** All that one moment traded on a pair is one message. */
    publish(market, trades) {
      subscribers.trades(tradeTopicOf(market.symbol), market, () => [tradeFrame('update', market, trades)])
    },
  }
}

/** What must have changed for a ticker to come. */
function causeOf(trigger: Trigger, { last, volume24h, bid, ask }: SpotState): string {
  return trigger === 'bbo' ? `${bid} ${ask}` : `${last} ${volume24h}`
}

const calls: Calls = {
  '/0/public/Time': ({ world: { nowMs } }) => {
    // Tue, 11 Nov 25 00:17:04 +0000
    const rfc1123 = new Date(nowMs)
      .toUTCString()
      .replace(/ \d\d(\d\d) /, ' $1 ')
      .replace('GMT', '+0000')
    return say({ unixtime: Math.floor(nowMs / 1000), rfc1123 })
  },
  '/0/public/SystemStatus': ({ world: { nowMs } }) =>
    say({ status: 'online', timestamp: new Date(nowMs).toISOString().replace(/\.\d+/, '') }),
  '/0/public/AssetPairs': (context, query) => {
    const markets = wanted(context, query)
    if (markets === undefined) return refuse('EQuery:Unknown asset pair')
    const rows = markets.map((market) => [canonicalName(market), pairRow(market)] as const)
    return say(Object.fromEntries(query.has('pair') ? rows : listedRows(rows, ([, row]) => row.altname, decoys)))
  },
  /** With `assetVersion=1` keys are as in the second WebSocket version. */
  '/0/public/Ticker': (context, query) => {
    const markets = wanted(context, query)
    if (markets === undefined) return refuse('EQuery:Unknown asset pair')
    const key = query.get('assetVersion') === '1' ? socketName : canonicalName
    return say(
      Object.fromEntries(markets.map((market) => [key(market), tickerRow(market, context.economy.spot(market))])),
    )
  },
  '/0/public/Trades': (context, query) => trades(context, query),
  /** Oldest first; the last row is of the candle that is still open, `last` the time of the one before. */
  '/0/public/OHLC': (context, query) => {
    const { world } = context
    const [market] = query.has('pair') ? (wanted(context, query) ?? []) : []
    if (market === undefined) return refuse('EQuery:Unknown asset pair')
    const minutes = whole(query, 'interval') ?? 1
    if (!intervals.has(minutes)) return refuse('EGeneral:Invalid arguments')
    const intervalMs = minutes * 60_000
    const since = (whole(query, 'since') ?? 0) * 1_000
    const fromMs = (Math.floor(world.nowMs / intervalMs) - CANDLES_MAX + 1) * intervalMs
    const history = world.find('kraken', socketName(market))
    const all = spotCandlesOf(context, market, history, { intervalMs, fromMs, toMs: world.nowMs + 1 })
    const last = (all.at(-2) ?? all.at(-1))?.startMs ?? 0
    const rows = all.filter(({ startMs }) => startMs > since).map((candle) => candleRow(market, candle))
    return say({ [canonicalName(market)]: rows, last: last / 1_000 })
  },
}

/** `[time in seconds, open, high, low, close, vwap, volume, count]`. */
function candleRow({ priceDecimals, sizeDecimals }: SpotMarket, candle: Candle): (string | number)[] {
  const { startMs, open, high, low, close, buy, sell, count } = candle
  const prices = [open, high, low, close].map((price) => fixedText(price, priceDecimals))
  const mean = count === 0 ? '0.0' : fixedText(Math.round((high + low + close) / 3), priceDecimals)
  return [startMs / 1_000, ...prices, mean, fixedText(buy + sell, sizeDecimals), count]
}

/**
 * "Returns the last 1000 trades by default"; `since`, in seconds or nanoseconds, is exclusive, and what follows on it is
 * in order of time. `last` is the nanosecond to go on from.
 */
function trades(context: Context, query: URLSearchParams): RestReply {
  const [pair] = query.has('pair') ? (wanted(context, query) ?? []) : []
  if (pair === undefined) return refuse('EQuery:Unknown asset pair')
  const count = whole(query, 'count') ?? TRADES_MAX
  const since = sinceOf(query.get('since'))
  if (!(count >= 1 && count <= TRADES_MAX) || since === undefined) return refuse('EGeneral:Invalid arguments')
  const history = context.world.find('kraken', socketName(pair))
  const { rows, market } = history ?? {}
  const from = rows === undefined || since === null ? (rows?.end ?? 0) - count : rows.firstAt(since)
  const page = rows?.read(from, from + count) ?? []
  const last = `${(page.at(-1)?.time ?? 0) * 1000}`
  const shown = market === undefined ? [] : page.map((trade) => tradeRow(market, trade))
  return say({ [canonicalName(pair)]: shown, last })
}

const TRADES_MAX = 1000

/** The first microsecond behind the given nanosecond or second; null: none is given, undefined: it is no time. */
function sinceOf(text: string | null): Micros | null | undefined {
  if (text === null) return null
  if (!/^\d+$/.test(text)) return undefined
  return text.length > 12 ? Number(BigInt(text) / 1000n) + 1 : Number(text) * 1_000_000 + 1
}

/** The pairs that are asked for by any of their names, all where none is; undefined where one is unknown. */
function wanted({ economy }: Context, query: URLSearchParams): readonly SpotMarket[] | undefined {
  const all = economy.spots('kraken')
  const names = query.get('pair')?.split(',')
  if (names === undefined) return all
  const found = names.map((name) => {
    return all.find((market) => {
      return [market.symbol, canonicalName(market), slashName(market), socketName(market)].includes(name)
    })
  })
  return found.every((market) => market !== undefined) ? found : undefined
}

/** What a reader of dollar pairs of coins has to leave out. */
function decoys([, first]: Listed): Listed[] {
  const like = (altname: string, wsname: string, more: object) => ({ ...first, altname, wsname, ...more })
  return [
    ['XXBTZEUR', like('XBTEUR', 'XBT/EUR', { quote: 'ZEUR' })],
    ['AAPLxUSD', like('AAPLxUSD', 'AAPLx/USD', { aclass_base: 'tokenized_asset', base: 'AAPLx', quote: 'ZUSD' })],
    ['MATICUSD', like('MATICUSD', 'MATIC/USD', { base: 'MATIC', quote: 'ZUSD', status: 'cancel_only' })],
  ]
}

type Listed = readonly [name: string, row: ReturnType<typeof pairRow>]

function say(result: object): RestReply {
  return ok({ error: [], result })
}

function refuse(error: string): RestReply {
  return ok({ error: [error] })
}

/** A connection without subscriptions that says nothing is closed after about a minute. */
const IDLE_MS = 60_000
/** The venue does not say how many messages are too many. */
const MESSAGES_PER_SECOND = 50

/** What makes a ticker come: a trade, or a change of the best bid and offer. */
const triggers = ['trades', 'bbo'] as const
type Trigger = (typeof triggers)[number]

/** One socket of Kraken's second version; the channels `ticker` and `trade`. */
class KrakenSession extends VenueSession {
  private readonly context: Context
  /** Channel and symbol to topic. */
  private readonly symbols = new Map<string, string>()

  constructor(link: Link, context: Context, { subscribers, number }: { subscribers: Subscribers; number: number }) {
    super(link, subscribers)
    this.context = context
    // A number of 64 bits: more than a double holds.
    const id = `44218940131011${String(number).padStart(5, '0')}`
    link.control(
      `{"channel":"status","type":"update","data":[{"version":"2.0.10","system":"online","api_version":"v2","connection_id":${id}}]}`,
    )
  }

  receive(text: string): void {
    this.heardAtMs = Date.now()
    if (!this.within(MESSAGES_PER_SECOND)) {
      this.link.control({ Error: 'Exceeded msg rate' })
      return
    }
    const request = requestOf(text)
    if (request === undefined) {
      this.say({ error: 'Malformed request', success: false })
      return
    }
    switch (request.method) {
      case 'ping':
        this.say({ method: 'pong', ...request.named })
        return
      case 'subscribe':
      case 'unsubscribe':
        // One answer per symbol, so a wrong one does not hold up the others.
        for (const symbol of request.symbols) this.change(request, symbol)
        return
      default:
        this.refuse(request, 'Unsupported method')
    }
  }

  /** "A heartbeat is sent approximately once a second once a channel is subscribed." */
  tick(nowMs: number): void {
    if (this.symbols.size > 0) this.link.control('{"channel":"heartbeat"}')
    else if (nowMs - this.heardAtMs > IDLE_MS) this.link.close(1000)
  }

  private change(request: Request, symbol: string): void {
    const market = this.context.economy.spots('kraken').find((candidate) => socketName(candidate) === symbol)
    const key = keyOf(request, symbol)
    if (request.channel !== 'ticker' && request.channel !== 'trade')
      this.refuse(request, `Channel not supported ${request.channel}`, symbol)
    else if (request.method === 'unsubscribe') this.unsubscribe(request, symbol)
    else if (market === undefined) this.refuse(request, `Currency pair not supported ${symbol}`, symbol)
    else if (this.symbols.has(key)) this.refuse(request, 'Already subscribed', symbol)
    else this.subscribe(request, symbol, market)
  }

  private subscribe(request: Request, symbol: string, market: SpotMarket): void {
    const { channel, trigger, snapshot, named } = request
    const topic = channel === 'trade' ? tradeTopicOf(symbol) : topicOf(trigger, symbol)
    const history = channel === 'trade' ? this.context.world.find('kraken', symbol) : undefined
    history?.enter()
    this.symbols.set(keyOf(request, symbol), topic)
    this.join(topic)
    const result = { channel, ...(channel === 'trade' ? {} : { event_trigger: trigger }), snapshot, symbol }
    this.say({ method: 'subscribe', result, success: true, ...named })
    if (!snapshot) return
    if (channel === 'ticker') this.link.data(market, tickerFrame('snapshot', market, this.context.economy))
    // "The snapshot is of the last 50 trades."
    const last = history?.rows.read(history.rows.end - SNAPSHOT_TRADES, history.rows.end) ?? []
    if (history !== undefined && last.length > 0) this.link.control(tradeFrame('snapshot', history.market, last))
  }

  private unsubscribe(request: Request, symbol: string): void {
    const topic = this.symbols.get(keyOf(request, symbol))
    if (topic === undefined) {
      this.refuse(request, 'Subscription Not Found', symbol)
      return
    }
    this.symbols.delete(keyOf(request, symbol))
    this.leave(topic)
    this.say({ method: 'unsubscribe', result: { channel: request.channel, symbol }, success: true, ...request.named })
  }

  private refuse({ method, named }: Request, error: string, symbol?: string): void {
    this.say({ error, method, success: false, ...(symbol === undefined ? {} : { symbol }), ...named })
  }

  /** EveryPeriod answer says when the request came and when it leaves. */
  private say({ req_id, ...answer }: Fields): void {
    const { now } = this.context.world
    const times = { time_in: timeText(now), time_out: timeText(now + 42) }
    this.link.control({ ...answer, ...times, ...(req_id === undefined ? {} : { req_id }) })
  }
}

const SNAPSHOT_TRADES = 50

function keyOf({ channel }: Request, symbol: string): string {
  return `${channel} ${symbol}`
}

function tradeTopicOf(symbol: string): string {
  return `trade:${symbol}`
}

/** A message of the `trade` channel, oldest first: JSON numbers with all of their decimals. */
function tradeFrame(type: 'snapshot' | 'update', market: Market, trades: readonly Trade[]): string {
  const rows = trades.map((trade) => {
    const price = fixedText(trade.price, market.priceDecimals)
    const size = fixedText(trade.size, market.sizeDecimals)
    return `{"symbol":"${market.symbol}","side":"${trade.buy ? 'buy' : 'sell'}","price":${price},"qty":${size},"ord_type":"${orderOf(trade)}","trade_id":${trade.id},"timestamp":"${timeText(trade.time)}"}`
  })
  return `{"channel":"trade","type":"${type}","data":[${rows.join(',')}]}`
}

/** `[price, volume, time in seconds, b or s, m or l, miscellaneous, trade id]`, prices with five decimals at least. */
function tradeRow(market: Market, trade: Trade): (string | number)[] {
  const more = Math.max(0, 5 - market.priceDecimals)
  const price = fixedText(BigInt(trade.price) * 10n ** BigInt(more), market.priceDecimals + more)
  const size = fixedText(trade.size, market.sizeDecimals)
  const kind = orderOf(trade).slice(0, 1)
  return [price, size, Number(`${trade.time}e-6`), trade.buy ? 'b' : 's', kind, '', trade.id]
}

function orderOf({ id }: Trade): 'market' | 'limit' {
  return id % 3 === 0 ? 'limit' : 'market'
}

function topicOf(trigger: Trigger, symbol: string): string {
  return `ticker:${trigger}:${symbol}`
}

function tickerFrame(type: 'snapshot' | 'update', market: SpotMarket, economy: Economy): string {
  return `{"channel":"ticker","type":"${type}","data":[${tickerData(market, economy.spot(market))}]}`
}

interface Request {
  readonly method: string
  /** The request's number, where it has one: answers repeat it. */
  readonly named: { readonly req_id?: number }
  readonly channel: string
  readonly symbols: readonly string[]
  readonly trigger: Trigger
  readonly snapshot: boolean
}

function requestOf(text: string): Request | undefined {
  const { method, req_id, params } = fieldsIn(text) ?? {}
  if (typeof method !== 'string') return undefined
  const { channel, symbol, event_trigger, snapshot } = fieldsOf(params)
  return {
    method,
    named: typeof req_id === 'number' ? { req_id } : {},
    channel: typeof channel === 'string' ? channel : '',
    symbols: Array.isArray(symbol) ? symbol.filter((item) => typeof item === 'string') : [],
    trigger: event_trigger === 'bbo' ? 'bbo' : 'trades',
    snapshot: snapshot !== false,
  }
}

const LOT_DECIMALS = 8

/** Data of the `ticker` channel: JSON numbers with all of their decimals, so they are written as text here. */
function tickerData(market: SpotMarket, state: SpotState): string {
  const price = (value: number): string => priceText(market, value)
  const size = (value: number): string => fixedNumber(value, LOT_DECIMALS)
  const mean = state.volume24h === 0 ? state.last : state.quoteVolume24h / state.volume24h
  const change = fixedNumber((state.last / state.open24h - 1) * 100, 2)
  return `{"symbol":"${socketName(market)}","bid":${price(state.bid)},"bid_qty":${size(1000 / state.bid)},"ask":${price(state.ask)},"ask_qty":${size(2000 / state.ask)},"last":${price(state.last)},"volume":${size(state.volume24h)},"vwap":${price(mean)},"low":${price(state.low24h)},"high":${price(state.high24h)},"change":${price(state.last - state.open24h)},"change_pct":${change},"timestamp":"${timeText(state.time)}"}`
}

/** A pair of `Ticker`: prices with five decimals at least; pairs of figures are of today and of 24 hours. */
function tickerRow(market: SpotMarket, state: SpotState): object {
  const decimals = Math.max(5, market.priceDecimals)
  const price = (value: number): string => fixedNumber(value, decimals)
  const twice = (text: string): string[] => [text, text]
  const lots = (value: number): string[] => {
    const whole = Math.max(1, Math.round(value))
    return [String(whole), `${whole}.000`]
  }
  const mean = state.volume24h === 0 ? state.last : state.quoteVolume24h / state.volume24h
  const trades = Math.max(1, Math.round(state.quoteVolume24h / 4000))
  return {
    a: [price(state.ask), ...lots(2000 / state.ask)],
    b: [price(state.bid), ...lots(1000 / state.bid)],
    c: [price(state.last), fixedNumber(100 / state.last, LOT_DECIMALS)],
    v: twice(fixedNumber(state.volume24h, LOT_DECIMALS)),
    p: twice(price(mean)),
    t: [trades, trades],
    l: twice(price(state.low24h)),
    h: twice(price(state.high24h)),
    o: price(state.open24h),
  }
}

const fees = [
  [0, 0.4],
  [10_000, 0.35],
  [10_000_000, 0.1],
]

/** A pair of `AssetPairs`. */
function pairRow(market: SpotMarket): PairRow {
  const tick = powerText(-market.priceDecimals)
  return {
    altname: market.symbol,
    wsname: slashName(market),
    aclass_base: 'currency',
    base: assetCode(market.base),
    aclass_quote: 'currency',
    quote: assetCode(market.quote),
    lot: 'unit',
    cost_decimals: 5,
    pair_decimals: market.priceDecimals,
    lot_decimals: LOT_DECIMALS,
    lot_multiplier: 1,
    leverage_buy: [2, 3, 4, 5],
    leverage_sell: [2, 3, 4, 5],
    fees,
    fees_maker: fees,
    fee_volume_currency: 'ZUSD',
    margin_call: 80,
    margin_stop: 40,
    ordermin: shortNumber(0.00005, LOT_DECIMALS),
    costmin: '0.5',
    tick_size: tick,
    status: 'online',
    long_position_limit: 80,
    short_position_limit: 80,
  }
}

interface PairRow {
  readonly altname: string
  readonly status: string
  readonly [field: string]: unknown
}

/** Assets of the venue's first years are written with a letter more in REST: X for coins, Z for money. */
const oldCoins: ReadonlySet<string> = new Set(['XBT', 'ETH', 'LTC', 'XRP', 'XDG', 'XLM', 'XMR', 'ZEC', 'ETC'])
const ownNames: Readonly<Record<string, string>> = { XBT: 'BTC', XDG: 'DOGE' }

/** XXBT, ZUSD, SOL. */
function assetCode(name: string): string {
  if (name === 'USD') return 'ZUSD'
  return oldCoins.has(name) ? `X${name}` : name
}

/** The key of a pair in REST results: XXBTZUSD, USDTZUSD, but XDGUSD, SOLUSD and XBTUSDT. */
function canonicalName({ base, quote, symbol }: SpotMarket): string {
  if (quote !== 'USD') return symbol
  if (base === 'USDT') return 'USDTZUSD'
  return oldCoins.has(base) && base !== 'XDG' ? `X${base}ZUSD` : symbol
}

/** XBT/USD, as REST names the pair of the first WebSocket version. */
function slashName({ base, quote }: SpotMarket): string {
  return `${base}/${quote}`
}

/** BTC/USD, as the second WebSocket version names it. */
function socketName({ base, quote }: SpotMarket): string {
  return `${ownNames[base] ?? base}/${quote}`
}
