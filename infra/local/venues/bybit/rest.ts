import { withFlatCandles, type Candle } from '../candles.ts'
import { fixedText } from '../decimal.ts'
import type { History } from '../history.ts'
import { ok, whole } from '../query.ts'
import { Throttle } from '../throttle.ts'
import type { RestReply, RestRequest } from '../venue-server.ts'
import type { World } from '../world.ts'
import { recentTradeRow } from './frames.ts'
import { instruments } from './listing.ts'

/** "600 requests within a 5-second window per IP"; above it HTTP 403 until the address has been quiet. */
const REQUESTS_PER_WINDOW = 600
const WINDOW_MS = 5_000
const BAN_MS = 600_000
/** linear: "[1, 1000], default 500". */
const RECENT_MAX = 1000
const MINUTE_MS = 60_000

const intervals: Readonly<Record<string, number>> = {
  ...Object.fromEntries([1, 3, 5, 15, 30, 60, 120, 240, 360, 720].map((minutes) => [String(minutes), minutes])),
  D: 1_440,
}

/** Bybit v5 REST, linear category. Refusals come with HTTP 200 and a `retCode`. */
export class BybitRest {
  private readonly world: World
  private readonly requests = new Throttle(WINDOW_MS)
  private bannedUntilMs = 0

  constructor(world: World) {
    this.world = world
  }

  answer({ path, query, nowMs }: RestRequest): RestReply {
    if (this.requests.use(nowMs) > REQUESTS_PER_WINDOW) this.bannedUntilMs = nowMs + BAN_MS
    if (nowMs < this.bannedUntilMs) return { status: 403, body: 'access too frequent' }
    if (path === '/v5/market/time') return this.time()
    if (!path.startsWith('/v5/market/')) return { status: 404, body: '404 page not found' }
    const category = query.get('category')
    if (category === null) return this.refuse('params error: category invalid')
    // The other categories exist; nothing of theirs is simulated.
    if (category !== 'linear') return this.say({ category, list: [], nextPageCursor: '' })
    return this.route(path, query)
  }

  private route(path: string, query: URLSearchParams): RestReply {
    switch (path) {
      case '/v5/market/instruments-info':
        return this.instruments(query)
      case '/v5/market/recent-trade':
        return this.withSymbol(query, (history) => this.recent(history, query))
      case '/v5/market/kline':
        return this.withSymbol(query, (history) => this.kline(history, query))
      case '/v5/market/tickers':
        return query.has('symbol')
          ? this.withSymbol(query, (history) => this.say({ category: 'linear', list: [this.ticker(history)] }))
          : this.say({ category: 'linear', list: this.world.of('bybit').map((history) => this.ticker(history)) })
      default:
        return { status: 404, body: '404 page not found' }
    }
  }

  private withSymbol(query: URLSearchParams, found: (history: History) => RestReply): RestReply {
    const history = this.world.find('bybit', query.get('symbol') ?? '')
    return history === undefined ? this.refuse('params error: symbol invalid') : found(history)
  }

  /** Pages by a cursor that is opaque to the caller: here, where the next page begins. */
  private instruments(query: URLSearchParams): RestReply {
    const limit = whole(query, 'limit') ?? 500
    if (!(limit >= 1 && limit <= 1000)) return this.refuse('params error: limit invalid')
    const status = query.get('status') ?? 'Trading'
    const wanted = query.get('symbol')
    const all = instruments(this.world.of('bybit').map(({ market }) => market))
      .filter((row) => row.status === status)
      .filter((row) => wanted === null || row.symbol === wanted)
    const from = whole(new URLSearchParams(query.get('cursor') ?? ''), 'first') ?? 0
    const next = from + limit
    const list = all.slice(from, next)
    return this.say({ category: 'linear', list, nextPageCursor: next < all.length ? `first=${next}` : '' })
  }

  private recent(history: History, query: URLSearchParams): RestReply {
    const limit = whole(query, 'limit') ?? 500
    if (!(limit >= 1)) return this.refuse('params error: limit invalid')
    const { rows, market } = history
    const newest = rows.read(rows.end - Math.min(limit, RECENT_MAX), rows.end).reverse()
    return this.say({ category: 'linear', list: newest.map((trade) => recentTradeRow(market, trade)) })
  }

  private kline({ candles, market }: History, query: URLSearchParams): RestReply {
    const minutes = intervals[query.get('interval') ?? '']
    if (minutes === undefined) return this.refuse('Invalid period!')
    const intervalMs = minutes * MINUTE_MS
    const limit = Math.min(1000, whole(query, 'limit') ?? 200)
    const from = whole(query, 'start') ?? 0
    const to = (whole(query, 'end') ?? this.world.nowMs) + 1
    const list = withFlatCandles(candles.every(intervalMs, from, to), intervalMs)
      .slice(-limit)
      .reverse()
    return this.say({ symbol: market.symbol, category: 'linear', list: list.map((candle) => klineRow(market, candle)) })
  }

  private ticker({ market, newest }: History): object {
    const price = fixedText(
      newest?.price ?? Math.round(market.startPrice * 10 ** market.priceDecimals),
      market.priceDecimals,
    )
    return {
      symbol: market.symbol,
      lastPrice: price,
      indexPrice: price,
      markPrice: price,
      bid1Price: price,
      ask1Price: price,
    }
  }

  private time(): RestReply {
    const nowMs = this.world.nowMs
    return this.say({ timeSecond: String(Math.floor(nowMs / 1000)), timeNano: `${nowMs}000000` })
  }

  private say(result: object): RestReply {
    return ok({ retCode: 0, retMsg: 'OK', result, retExtInfo: {}, time: this.world.nowMs })
  }

  private refuse(retMsg: string): RestReply {
    return ok({ retCode: 10001, retMsg, result: {}, retExtInfo: {}, time: this.world.nowMs })
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
