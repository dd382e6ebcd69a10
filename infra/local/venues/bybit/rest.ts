import { withFlatCandles, type Candle } from '../candles.ts'
import { fixedText } from '../decimal.ts'
import type { History } from '../history.ts'
import type { Economy } from '../economy.ts'
import { whole } from '../query.ts'
import { Throttle } from '../throttle.ts'
import type { RestReply, RestRequest } from '../venue-server.ts'
import type { World } from '../world.ts'
import { BybitDataRest, firstOf, intervals } from './data-rest.ts'
import { recentTradeRow } from './frames.ts'
import { instruments, spotInstruments } from './listing.ts'
import { replies, type Replies } from './reply.ts'

/** "600 requests within a 5-second window per IP"; above it HTTP 403 until the address has been quiet. */
const REQUESTS_PER_WINDOW = 600
const WINDOW_MS = 5_000
const BAN_MS = 600_000
/** linear: "[1, 1000], default 500". */
const RECENT_MAX = 1000
const MINUTE_MS = 60_000

/** Bybit v5 REST, linear and spot. */
export class BybitRest {
  private readonly world: World
  private readonly economy: Economy
  private readonly replies: Replies
  private readonly data: BybitDataRest
  private readonly requests = new Throttle(WINDOW_MS)
  private bannedUntilMs = 0

  constructor(world: World, economy: Economy) {
    this.world = world
    this.economy = economy
    this.replies = replies(() => world.nowMs)
    this.data = new BybitDataRest(world, economy, this.replies)
  }

  answer({ path, query, nowMs }: RestRequest): RestReply {
    if (this.requests.use(nowMs) > REQUESTS_PER_WINDOW) this.bannedUntilMs = nowMs + BAN_MS
    if (nowMs < this.bannedUntilMs) return { status: 403, body: 'access too frequent' }
    if (path === '/v5/market/time') return this.time()
    if (!path.startsWith('/v5/market/')) return { status: 404, body: '404 page not found' }
    const category = query.get('category')
    if (category === null) return this.replies.refuse('params error: category invalid')
    if (category === 'linear') return this.linear(path, query)
    // The other categories exist; nothing of theirs is simulated.
    if (category !== 'spot') return this.replies.say({ category, list: [], nextPageCursor: '' })
    return path === '/v5/market/instruments-info' ? this.spotInstruments(query) : this.data.spot(path, query)
  }

  private linear(path: string, query: URLSearchParams): RestReply {
    switch (path) {
      case '/v5/market/instruments-info':
        return this.instruments(query)
      case '/v5/market/recent-trade':
        return this.withTrades(query, (history) => this.recent(history, query))
      case '/v5/market/kline':
        return this.withTrades(query, (history) => this.kline(history, query))
      default:
        return this.data.linear(path, query)
    }
  }

  /** What is listed without ever having traded has no rows. */
  private withTrades(query: URLSearchParams, found: (history: History) => RestReply): RestReply {
    const wanted = query.get('symbol') ?? ''
    if (!this.economy.perps('bybit').some(({ symbol }) => symbol === wanted)) return this.data.quiet(query)
    const history = this.world.find('bybit', wanted)
    return history === undefined ? this.replies.say({ category: 'linear', symbol: wanted, list: [] }) : found(history)
  }

  /** Pages by a cursor that is opaque to the caller: here, where the next page begins. */
  private instruments(query: URLSearchParams): RestReply {
    const limit = whole(query, 'limit') ?? 500
    if (!(limit >= 1 && limit <= 1000)) return this.replies.refuse('params error: limit invalid')
    const status = query.get('status') ?? 'Trading'
    const wanted = query.get('symbol')
    const all = instruments(this.economy.perps('bybit'))
      .filter((row) => row.status === status)
      .filter((row) => wanted === null || row.symbol === wanted)
    const from = firstOf(query)
    const next = from + limit
    const list = all.slice(from, next)
    return this.replies.say({ category: 'linear', list, nextPageCursor: next < all.length ? `first=${next}` : '' })
  }

  private spotInstruments(query: URLSearchParams): RestReply {
    const wanted = query.get('symbol')
    const all = spotInstruments(this.economy.spots('bybit'))
    return this.replies.say({
      category: 'spot',
      list: all.filter(({ symbol }) => wanted === null || symbol === wanted),
    })
  }

  private recent(history: History, query: URLSearchParams): RestReply {
    const limit = whole(query, 'limit') ?? 500
    if (!(limit >= 1)) return this.replies.refuse('params error: limit invalid')
    const { rows, market } = history
    const newest = rows.read(rows.end - Math.min(limit, RECENT_MAX), rows.end).reverse()
    return this.replies.say({ category: 'linear', list: newest.map((trade) => recentTradeRow(market, trade)) })
  }

  private kline({ candles, market }: History, query: URLSearchParams): RestReply {
    const minutes = intervals[query.get('interval') ?? '']
    if (minutes === undefined) return this.replies.refuse('Invalid period!')
    const intervalMs = minutes * MINUTE_MS
    const limit = Math.min(1000, whole(query, 'limit') ?? 200)
    const from = whole(query, 'start') ?? 0
    const to = (whole(query, 'end') ?? this.world.nowMs) + 1
    const list = withFlatCandles(candles.every(intervalMs, from, to), intervalMs)
      .slice(-limit)
      .reverse()
    return this.replies.say({
      symbol: market.symbol,
      category: 'linear',
      list: list.map((candle) => klineRow(market, candle)),
    })
  }

  private time(): RestReply {
    const nowMs = this.world.nowMs
    return this.replies.say({ timeSecond: String(Math.floor(nowMs / 1000)), timeNano: `${nowMs}000000` })
  }
}

/** `[start, open, high, low, close, volume, turnover]`, all text. */
function klineRow({ priceDecimals, sizeDecimals }: Scale, candle: Candle): string[] {
  const prices = [candle.open, candle.high, candle.low, candle.close].map((price) => fixedText(price, priceDecimals))
  const volume = fixedText(candle.buy + candle.sell, sizeDecimals)
  const turnover = fixedText(candle.buyQuote + candle.sellQuote, priceDecimals + sizeDecimals)
  return [String(candle.startMs), ...prices, volume, turnover]
}

interface Scale {
  readonly priceDecimals: number
  readonly sizeDecimals: number
}
