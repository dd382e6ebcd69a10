import type { Economy, PerpMarket, SpotMarket, SpotMinute } from '../economy.ts'
import { longerCandles, withOpenMinute } from '../minutes.ts'
import { whole } from '../query.ts'
import type { RestReply } from '../venue-server.ts'
import type { World } from '../world.ts'
import {
  accountRatioRow,
  isMinutePath,
  minuteRow,
  minuteSeries,
  openInterestRow,
  riskLimitRows,
  settledRow,
  spotCandleRow,
  type MinutePath,
} from './data-rows.ts'
import type { Replies } from './reply.ts'
import { instruments } from './listing.ts'
import { linearRow, spotRow } from './tickers.ts'

const MINUTE_MS = 60_000
/** "risk-limit: 15 symbols per page" where no symbol is asked for. */
const RISK_SYMBOLS_PER_PAGE = 15
/** A window that names neither of its ends reaches back this far at most. */
const DAYS_30_MS = 30 * 86_400_000

const periods: Readonly<Record<string, number>> = {
  '5min': 5,
  '15min': 15,
  '30min': 30,
  '1h': 60,
  '4h': 240,
  '1d': 1440,
}

interface Page {
  readonly fromMs: number
  /** Included. */
  readonly toMs: number
  readonly limit: number
}

/** Bybit v5 REST beside trades and candles of perpetuals. Rows are newest first. */
export class BybitDataRest {
  private readonly world: World
  private readonly economy: Economy
  private readonly replies: Replies

  constructor(world: World, economy: Economy, replies: Replies) {
    this.world = world
    this.economy = economy
    this.replies = replies
  }

  linear(path: string, query: URLSearchParams): RestReply {
    if (isMinutePath(path)) return this.withPerp(query, (market) => this.minutes(path, market, query))
    switch (path) {
      case '/v5/market/tickers':
        return this.listed(query, this.economy.perps('bybit'), 'linear', (market) =>
          linearRow(market, this.economy.perp(market)),
        )
      case '/v5/market/funding/history':
        return this.withPerp(query, (market) => this.settlements(market, query))
      case '/v5/market/open-interest':
        return this.withPerp(query, (market) => this.openInterests(market, query))
      case '/v5/market/account-ratio':
        return this.withPerp(query, (market) => this.accountRatios(market, query))
      case '/v5/market/risk-limit':
        return this.riskLimits(query)
      default:
        return { status: 404, body: '404 page not found' }
    }
  }

  spot(path: string, query: URLSearchParams): RestReply {
    switch (path) {
      case '/v5/market/tickers':
        return this.listed(query, this.economy.spots('bybit'), 'spot', (market) =>
          spotRow(market, this.economy.spot(market)),
        )
      case '/v5/market/kline': {
        const market = this.economy.spots('bybit').find(({ symbol }) => symbol === query.get('symbol'))
        return market === undefined ? this.unknownSymbol() : this.spotCandles(market, query)
      }
      default:
        return this.replies.say({ category: 'spot', list: [] })
    }
  }

  unknownSymbol(): RestReply {
    return this.replies.refuse('params error: symbol invalid')
  }

  /** One by its symbol, or all. */
  private listed<M extends { readonly symbol: string }>(
    query: URLSearchParams,
    markets: readonly M[],
    category: string,
    row: (market: M) => object,
  ): RestReply {
    const wanted = query.get('symbol')
    const found = wanted === null ? markets : markets.filter(({ symbol }) => symbol === wanted)
    if (wanted !== null && found.length === 0) return this.unknownSymbol()
    return this.replies.say({ category, list: found.map(row) })
  }

  private withPerp(query: URLSearchParams, found: (market: PerpMarket) => RestReply): RestReply {
    const market = this.economy.perps('bybit').find(({ symbol }) => symbol === query.get('symbol'))
    return market === undefined ? this.quiet(query) : found(market)
  }

  /** What is listed without anything ever being said of it has no rows. */
  quiet(query: URLSearchParams): RestReply {
    const wanted = query.get('symbol')
    const listed = instruments(this.economy.perps('bybit')).find(({ symbol }) => symbol === wanted)
    if (listed?.status !== 'Trading') return this.unknownSymbol()
    return this.replies.say({ symbol: wanted, category: 'linear', list: [], nextPageCursor: '' })
  }

  /** `endTime` alone or both times; "startTime alone returns an error". */
  private settlements(market: PerpMarket, query: URLSearchParams): RestReply {
    const [start, end] = [whole(query, 'startTime'), whole(query, 'endTime')]
    if (start !== undefined && end === undefined) {
      return this.replies.refuse('params error: endTime is required when startTime is passed')
    }
    const limit = limitOf(query, 200, 200)
    if (limit === undefined) return this.replies.refuse('params error: limit invalid')
    const list = this.economy
      .settlements(market, limit, end === undefined ? undefined : (end + 1) * 1000)
      .filter(({ time }) => time >= (start ?? 0) * 1000)
      .map((rate) => settledRow(market, rate))
    return this.replies.say({ category: 'linear', list })
  }

  private openInterests(market: PerpMarket, query: URLSearchParams): RestReply {
    const minutes = periods[query.get('intervalTime') ?? '']
    if (minutes === undefined) return this.replies.refuse('params error: intervalTime invalid')
    const page = this.page(query, 50, 200, minutes)
    if (page === undefined) return this.replies.refuse('params error: limit invalid')
    const rows = this.economy
      .openInterests(market, page.fromMs * 1000, (page.toMs + 1) * 1000)
      .filter(({ time }) => (time / 1000) % (minutes * MINUTE_MS) === 0)
      .toReversed()
    const list = rows.slice(0, page.limit).map((row) => openInterestRow(market, row))
    const oldest = rows[page.limit - 1]
    const nextPageCursor = oldest === undefined ? '' : cursorOf(Math.floor(oldest.time / 1000))
    return this.replies.say({ symbol: market.symbol, category: 'linear', list, nextPageCursor })
  }

  private accountRatios(market: PerpMarket, query: URLSearchParams): RestReply {
    const minutes = periods[query.get('period') ?? '']
    if (minutes === undefined) return this.replies.refuse('params error: period invalid')
    const page = this.page(query, 50, 500, minutes)
    if (page === undefined) return this.replies.refuse('params error: limit invalid')
    const stepMs = minutes * MINUTE_MS
    const newest = Math.floor(page.toMs / stepMs) * stepMs
    const starts = Array.from({ length: page.limit }, (_, index) => newest - index * stepMs)
    const list = starts.filter((start) => start >= page.fromMs).map((start) => accountRatioRow(market, start))
    return this.replies.say({ list, nextPageCursor: cursorOf(starts.at(-1) ?? newest) })
  }

  private riskLimits(query: URLSearchParams): RestReply {
    const wanted = query.get('symbol')
    const all = this.economy.perps('bybit')
    const rows = (markets: readonly PerpMarket[]): object[] =>
      markets.flatMap((market) => riskLimitRows(market, 1 + 20 * all.indexOf(market)))
    if (wanted !== null)
      return this.withPerp(query, (market) => this.replies.say({ category: 'linear', list: rows([market]) }))
    const from = firstOf(query)
    const next = from + RISK_SYMBOLS_PER_PAGE
    const list = rows(all.slice(from, next))
    return this.replies.say({ category: 'linear', list, nextPageCursor: next < all.length ? `first=${next}` : '' })
  }

  private minutes(path: MinutePath, market: PerpMarket, query: URLSearchParams): RestReply {
    const window = this.candleWindow(query)
    if (window === undefined) return this.replies.refuse('Invalid period!')
    const { of, text } = minuteSeries[path]
    const intervalMs = window.minutes * MINUTE_MS
    const minutes = this.economy.minutes(market, window.fromMs * 1000, (window.toMs + intervalMs) * 1000)
    const candles = minutes.map((minute) => ({ start: minute.start, ...of(minute), volume: 0 }))
    const list = newestFirst(longerCandles(candles, intervalMs), window).map((one) =>
      minuteRow(Math.floor(one.start / 1000), one, (value) => text(market, value)),
    )
    return this.replies.say({ symbol: market.symbol, category: 'linear', list })
  }

  private spotCandles(market: SpotMarket, query: URLSearchParams): RestReply {
    const window = this.candleWindow(query)
    if (window === undefined) return this.replies.refuse('Invalid period!')
    const intervalMs = window.minutes * MINUTE_MS
    const minutes = this.economy.spotMinutes(market, window.fromMs * 1000, (window.toMs + intervalMs) * 1000)
    const shown = withOpenMinute(minutes, this.economy.spot(market).last, this.world.now)
    const list = newestFirst(longerCandles(shown, intervalMs), window)
    return this.replies.say({
      category: 'spot',
      symbol: market.symbol,
      list: list.map((one) => spotCandleRow(market, one)),
    })
  }

  /** `start` and `end` are times of a candle's beginning, both included; at most 1000 candles, the newest of them. */
  private candleWindow(query: URLSearchParams): (Page & { readonly minutes: number }) | undefined {
    const minutes = intervals[query.get('interval') ?? '']
    if (minutes === undefined) return undefined
    const limit = Math.min(1000, whole(query, 'limit') ?? 200)
    const toMs = whole(query, 'end') ?? this.world.nowMs
    const fromMs = whole(query, 'start') ?? toMs - (limit + 1) * minutes * MINUTE_MS
    return { fromMs, toMs, limit, minutes }
  }

  /** Rows before the cursor's time where there is one. */
  private page(query: URLSearchParams, usual: number, most: number, minutes: number): Page | undefined {
    const limit = limitOf(query, usual, most)
    if (limit === undefined) return undefined
    const cursor = /lasttime=(\d+)/.exec(decodeURIComponent(query.get('cursor') ?? ''))?.[1]
    const end = Math.min(whole(query, 'endTime') ?? this.world.nowMs, this.world.nowMs)
    const toMs = cursor === undefined ? end : Number(cursor) - 1
    const fromMs = whole(query, 'startTime') ?? Math.max(toMs - (limit + 1) * minutes * MINUTE_MS, toMs - DAYS_30_MS)
    return { fromMs, toMs, limit }
  }
}

export const intervals: Readonly<Record<string, number>> = {
  ...Object.fromEntries([1, 3, 5, 15, 30, 60, 120, 240, 360, 720].map((minutes) => [String(minutes), minutes])),
  D: 1_440,
}

/** A cursor is opaque to the caller: here, where the next page begins. */
export function firstOf(query: URLSearchParams): number {
  return whole(new URLSearchParams(query.get('cursor') ?? ''), 'first') ?? 0
}

function cursorOf(timeMs: number): string {
  return encodeURIComponent(`lastid=0&lasttime=${timeMs}`)
}

function limitOf(query: URLSearchParams, usual: number, most: number): number | undefined {
  const limit = whole(query, 'limit') ?? usual
  return limit >= 1 ? Math.min(limit, most) : undefined
}

function newestFirst(candles: readonly SpotMinute[], { fromMs, toMs, limit }: Page): SpotMinute[] {
  return candles
    .filter(({ start }) => start >= fromMs * 1000 && start <= toMs * 1000)
    .slice(-limit)
    .reverse()
}
