import type { Candle } from '../ledger/candles.ts'
import type { Link } from '../link.ts'
import { fixedNumber, trimmedText, msOf } from '../market/text.ts'
import { furtherMarkets } from '../market/further.ts'
import type { Market } from '../market/markets.ts'
import type { Trade } from '../market/trade.ts'
import { candlesOf, fundedLike, settlementsOf } from './candles.ts'
import { ok, Throttle } from './rest.ts'
import { type Fields, fieldsIn, fieldsOf, Subscribers, VenueSession } from './socket.ts'
import type { Context, RestReply, VenueApi } from './venue-api.ts'

/** "REST requests share an aggregated weight limit of 1200 per minute." */
const WEIGHT_PER_MINUTE = 1200
const MINUTE_MS = 60_000
/** "2000 messages sent to Hyperliquid per minute", of all connections; here of each. */
const MESSAGES_PER_MINUTE = 2000
/** "The server will close any connection if it hasn't sent a message to it in the last 60 seconds." */
const IDLE_MS = 60_000
/** Trades of a page, and of what a subscription begins with. */
const RECENT = 10

const markets = furtherMarkets.filter(({ venue }) => venue === 'hyperliquid')

const tooMany: RestReply = { status: 429, body: 'null' }

/**
 * Hyperliquid: trades, and the questions of `POST /info` that somebody here asks.
 * - streams: `trades`, the newest ten again on subscribing
 * - control: `subscriptionResponse` per market, `error`, `ping`; 2000 messages/min, 60 s idle
 * - REST: `POST /info`: meta, allMids, recentTrades (ten), candleSnapshot, fundingHistory
 * - limits: 1200 weight/min, 429; 30 sockets/min
 * - listings: traded assets, kPEPE; to be left out: delisted
 */
export function hyperliquidApi(context: Context): VenueApi {
  const subscribers = new Subscribers()
  const weight = new Throttle(MINUTE_MS)
  return {
    name: 'hyperliquid',
    tooMany: () => tooMany,
    sockets: { most: 30, windowMs: 60_000 },
    connect: (path) => (path === '/ws' ? (link) => new HyperliquidSession(link, context, subscribers) : 404),
    rest({ path, body, nowMs }) {
      if (path !== '/info') return { status: 404, body: 'null' }
      const asked = fieldsOf(body)
      if (weight.use(nowMs, asked['type'] === 'allMids' ? 2 : 20) > WEIGHT_PER_MINUTE) return tooMany
      const reply = answer(context, asked)
      // "An additional weight per 20 items returned, of candles per 60."
      const per = asked['type'] === 'candleSnapshot' ? 60 : 20
      if (Array.isArray(reply.body)) weight.use(nowMs, Math.ceil(reply.body.length / per))
      return reply
    },
    /** What a block traded of a coin is one message. */
    publish: (market, trades) => subscribers.trades(market.symbol, market, () => [tradesFrame(market, trades)]),
  }
}

/** "Failed to deserialize the JSON body" with 422 is what it says of a question that it does not know. */
function answer(context: Context, asked: Fields): RestReply {
  const { type, coin, req } = asked
  switch (type) {
    case 'meta':
      return ok({ universe: [...markets.map(marketRow), { ...marketRow(), name: 'OLD', isDelisted: true }] })
    case 'allMids':
      return ok(Object.fromEntries(markets.map((market) => [market.symbol, midOf(context, market)])))
    case 'recentTrades': {
      const history = context.world.find('hyperliquid', String(coin))
      if (history === undefined) return ok(null)
      const { rows, market } = history
      return ok(
        rows
          .read(rows.end - RECENT, rows.end)
          .reverse()
          .map((trade) => tradeRow(market, trade)),
      )
    }
    case 'fundingHistory':
      return fundingHistory(context, asked)
    case 'candleSnapshot':
      return candles(context, fieldsOf(req))
    default:
      return { status: 422, body: 'Failed to deserialize the JSON body into the target type' }
  }
}

/** "Only the most recent 5000 candles are available." */
const CANDLES_KEPT = 5000
const intervals: Readonly<Record<string, number>> = { '1m': 1, '5m': 5, '15m': 15, '30m': 30, '1h': 60, '4h': 240 }

/** Those that begin between `startTime` and `endTime`, both included, oldest first. */
function candles(context: Context, { coin, interval, startTime, endTime }: Fields): RestReply {
  const history = context.world.find('hyperliquid', String(coin))
  const minutes = intervals[String(interval)]
  if (history === undefined || minutes === undefined || typeof startTime !== 'number')
    return { status: 500, body: 'null' }
  const { nowMs } = context.world
  const intervalMs = minutes * 60_000
  const fromMs = Math.max(startTime, nowMs - CANDLES_KEPT * intervalMs)
  const toMs = Math.min(typeof endTime === 'number' ? endTime : nowMs, nowMs) + 1
  const found = candlesOf(context, history, { intervalMs, fromMs, toMs })
  return ok(found.map((candle) => candleRow(history.market, candle, { interval: String(interval), intervalMs })))
}

const RATES_MAX = 500

/** Each hour's rate, oldest first, both bounds included: its part of what Binance's market of the asset settled last. */
function fundingHistory(context: Context, { coin, startTime, endTime }: Fields): RestReply {
  const like = fundedLike(context, markets.find(({ symbol }) => symbol === coin)?.asset)
  if (like === undefined || typeof startTime !== 'number') return { status: 500, body: 'null' }
  const toMs = Math.min(typeof endTime === 'number' ? endTime : Infinity, context.world.nowMs)
  const rows: object[] = []
  for (let time = Math.ceil(startTime / HOUR_MS) * HOUR_MS; time <= toMs && rows.length < RATES_MAX; time += HOUR_MS) {
    const [settled] = settlementsOf(context, like, { toMs: time, limit: 1 })
    const rate = (settled?.rate ?? 0) / like.intervalHours
    rows.push({ coin, fundingRate: fixedNumber(rate, 10), premium: fixedNumber(rate, 10), time })
  }
  return ok(rows)
}

const HOUR_MS = 3_600_000

function candleRow(
  { symbol, priceDecimals, sizeDecimals }: Market,
  candle: Candle,
  { interval, intervalMs }: { interval: string; intervalMs: number },
): object {
  const price = (units: number): string => trimmedText(units, priceDecimals)
  const { startMs: t, open, high, low, close, buy, sell, count: n } = candle
  const prices = { o: price(open), h: price(high), l: price(low), c: price(close) }
  return { t, T: t + intervalMs - 1, s: symbol, i: interval, ...prices, v: trimmedText(buy + sell, sizeDecimals), n }
}

function marketRow(market?: Market) {
  return { name: market?.symbol ?? '', szDecimals: market?.sizeDecimals ?? 0, maxLeverage: 40 }
}

/** Of the same asset's perpetual on Binance, whose trades this market follows. */
function midOf({ economy }: Context, market: Market): string {
  const like = economy.perps('binance').find(({ asset }) => asset === market.asset)
  const last = like === undefined ? market.startPrice : economy.perp(like).last * 10 ** market.factor
  return last.toFixed(market.priceDecimals)
}

/** `tid` is a hash of 50 bits. */
function tradeRow(market: Market, trade: Trade): object {
  const mixed = BigInt.asUintN(64, BigInt(trade.id) * 0x9e3779b97f4a7c15n)
  return {
    coin: market.symbol,
    side: trade.buy ? 'B' : 'A',
    px: trimmedText(trade.price, market.priceDecimals),
    sz: trimmedText(trade.size, market.sizeDecimals),
    time: msOf(trade.time),
    hash: `0x${mixed.toString(16).padStart(64, '0')}`,
    tid: Number(mixed >> 14n),
    users: [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`],
  }
}

function tradesFrame(market: Market, trades: readonly Trade[]): string {
  return JSON.stringify({ channel: 'trades', data: trades.map((trade) => tradeRow(market, trade)) })
}

/** One socket; the subscription `trades`. */
class HyperliquidSession extends VenueSession {
  private readonly context: Context

  constructor(link: Link, context: Context, subscribers: Subscribers) {
    super(link, subscribers, MINUTE_MS)
    this.context = context
  }

  receive(text: string): void {
    if (!this.within(MESSAGES_PER_MINUTE)) {
      this.link.close(1008)
      return
    }
    const { method, subscription } = fieldsIn(text) ?? {}
    if (method === 'ping') this.link.control({ channel: 'pong' })
    else if (method === 'subscribe' || method === 'unsubscribe') this.change(method, fieldsOf(subscription))
    else this.refuse(`Error parsing JSON into valid websocket request: ${text}`)
  }

  tick(nowMs: number): void {
    if (nowMs - this.link.sentAtMs > IDLE_MS) this.link.close(1000)
  }

  private change(method: 'subscribe' | 'unsubscribe', subscription: Fields): void {
    const coin = String(subscription['coin'])
    const history = this.context.world.find('hyperliquid', coin)
    if (subscription['type'] !== 'trades' || history === undefined) {
      this.refuse(`Invalid subscription ${JSON.stringify(subscription)}`)
      return
    }
    const answer = { channel: 'subscriptionResponse', data: { method, subscription } }
    if (method === 'unsubscribe') {
      this.leave(coin)
      this.link.control(answer)
      return
    }
    history.enter()
    this.join(coin)
    this.link.control(answer)
    const last = history.rows.read(history.rows.end - RECENT, history.rows.end)
    if (last.length > 0) this.link.control(tradesFrame(history.market, last))
  }

  private refuse(data: string): void {
    this.link.control({ channel: 'error', data })
  }
}
