import type { Candle } from '../../ledger/candles.ts'
import type { History } from '../../ledger/history.ts'
import type { PerpMarket } from '../../market/economy.ts'
import type { Scale } from '../../market/text.ts'
import {
  type CandleSpan,
  candlesOf,
  interestsOf,
  priceCandlesOf,
  type Priced,
  settledBetween,
  spotCandlesOf,
} from '../candles.ts'
import type { Context, RestReply } from '../venue-api.ts'
import { type Call, type Calls, ok, whole } from '../rest.ts'
import {
  accountRatioRow,
  candleRow,
  instruments,
  isTrading,
  linearRow,
  openInterestRow,
  priceRow,
  recentTradeRow,
  riskLimitRows,
  settledRow,
  spotInstruments,
  spotRow,
} from './rows.ts'

/** linear: "[1, 1000], default 500". */
const RECENT_MAX = 1000
const CANDLES_MAX = 1000
const MINUTE_MS = 60_000

/** Minutes of what `interval` names. */
const intervals: Readonly<Record<string, number>> = {
  ...Object.fromEntries([1, 3, 5, 15, 30, 60, 120, 240, 360, 720].map((minutes) => [String(minutes), minutes])),
  D: 1_440,
}
/** Bybit v5 REST by category. Rows are newest first; refusals too come with HTTP 200, and a `retCode`. */
export function answer(context: Context, path: string, query: URLSearchParams): RestReply {
  if (path === '/v5/market/time') return time(context)
  if (!path.startsWith('/v5/market/')) return notFound
  const category = query.get('category')
  if (category === null) return refuse(context, 'category')
  if (category === 'linear') return linear[path]?.(context, query) ?? notFound
  if (category === 'spot') return spot[path]?.(context, query) ?? say(context, { category, list: [] })
  // The other categories exist; nothing of theirs is simulated.
  return say(context, { category, list: [], nextPageCursor: '' })
}

const linear: Calls = {
  '/v5/market/instruments-info': listing,
  '/v5/market/recent-trade': ofTrades(recent),
  '/v5/market/kline': ofTrades(kline),
  '/v5/market/tickers': (context, query) =>
    tickers(context, query, 'linear', context.economy.perps('bybit'), (market) =>
      linearRow(market, context.economy.perp(market)),
    ),
  '/v5/market/funding/history': ofPerp(settlements),
  '/v5/market/open-interest': ofPerp(openInterests),
  '/v5/market/account-ratio': ofPerp(accountRatios),
  '/v5/market/mark-price-kline': ofPerp(prices('mark')),
  '/v5/market/index-price-kline': ofPerp(prices('index')),
  '/v5/market/risk-limit': ofPerp(riskLimits),
  '/v5/market/premium-index-price-kline': ofPerp(prices('premium')),
}

const spot: Calls = {
  '/v5/market/instruments-info': (context, query) => {
    const all = spotInstruments(context.economy.spots('bybit'))
    const list = all.filter(({ symbol }) => !query.has('symbol') || symbol === query.get('symbol'))
    return say(context, { category: 'spot', list })
  },
  '/v5/market/tickers': (context, query) =>
    tickers(context, query, 'spot', context.economy.spots('bybit'), (market) =>
      spotRow(market, context.economy.spot(market)),
    ),
  '/v5/market/kline': spotCandles,
}

function say({ world }: Context, result: object): RestReply {
  return ok({ retCode: 0, retMsg: 'OK', result, retExtInfo: {}, time: world.nowMs })
}

/** `wrong`: the parameter, or what is said of it. */
function refuse({ world }: Context, wrong: string): RestReply {
  const retMsg = wrong.includes(' ') ? wrong : `params error: ${wrong} invalid`
  return ok({ retCode: 10001, retMsg, result: {}, retExtInfo: {}, time: world.nowMs })
}

const notFound: RestReply = { status: 404, body: '404 page not found' }

function time(context: Context): RestReply {
  const { nowMs } = context.world
  return say(context, { timeSecond: String(Math.floor(nowMs / 1000)), timeNano: `${nowMs}000000` })
}

/** A call of one perpetual. What is listed without anything ever being said of it has no rows. */
function ofPerp(found: (context: Context, market: PerpMarket, query: URLSearchParams) => RestReply): Call {
  return (context, query) => {
    const wanted = query.get('symbol')
    const perps = context.economy.perps('bybit')
    const market = perps.find(({ symbol }) => symbol === wanted)
    if (market !== undefined) return found(context, market, query)
    if (!isTrading(instruments(perps), wanted)) return refuse(context, 'symbol')
    return say(context, { symbol: wanted, category: 'linear', list: [], nextPageCursor: '' })
  }
}

/** A call of one perpetual's trades. */
function ofTrades(found: (context: Context, history: History, query: URLSearchParams) => RestReply): Call {
  return ofPerp((context, { symbol }, query) => {
    const history = context.world.find('bybit', symbol)
    return history === undefined
      ? say(context, { category: 'linear', symbol, list: [] })
      : found(context, history, query)
  })
}

function listing(context: Context, query: URLSearchParams): RestReply {
  const limit = whole(query, 'limit') ?? 500
  if (!(limit >= 1 && limit <= 1000)) return refuse(context, 'limit')
  const status = query.get('status') ?? 'Trading'
  const wanted = query.get('symbol')
  const all = instruments(context.economy.perps('bybit'))
    .filter((row) => row.status === status)
    .filter((row) => wanted === null || row.symbol === wanted)
  // The cursor is opaque to the caller: here, where the next page begins.
  const from = whole(new URLSearchParams(query.get('cursor') ?? ''), 'first') ?? 0
  const next = from + limit
  const nextPageCursor = next < all.length ? `first=${next}` : ''
  return say(context, { category: 'linear', list: all.slice(from, next), nextPageCursor })
}

/** One by its symbol, or all. */
function tickers<M extends { readonly symbol: string }>(
  context: Context,
  query: URLSearchParams,
  category: string,
  markets: readonly M[],
  row: (market: M) => object,
): RestReply {
  const wanted = query.get('symbol')
  const found = wanted === null ? markets : markets.filter(({ symbol }) => symbol === wanted)
  if (wanted !== null && found.length === 0) return refuse(context, 'symbol')
  return say(context, { category, list: found.map(row) })
}

function recent(context: Context, { rows, market }: History, query: URLSearchParams): RestReply {
  const limit = whole(query, 'limit') ?? 500
  if (!(limit >= 1)) return refuse(context, 'limit')
  const newest = rows.read(rows.end - Math.min(limit, RECENT_MAX), rows.end).reverse()
  return say(context, { category: 'linear', list: newest.map((trade) => recentTradeRow(market, trade)) })
}

function kline(context: Context, history: History, query: URLSearchParams): RestReply {
  const { market } = history
  return klines(context, 'linear', market, query, (span) => candlesOf(context, history, span))
}

/** The newest of those that are asked for, the one that runs among them. */
function klines(
  context: Context,
  category: string,
  market: Scale & { readonly symbol: string },
  query: URLSearchParams,
  found: (span: CandleSpan) => Candle[],
): RestReply {
  const window = candleWindow(context, query)
  if (window === undefined) return refuse(context, 'Invalid period!')
  const { intervalMs, limit } = window
  const toMs = Math.min(window.toMs, context.world.nowMs)
  const fromMs = Math.max(window.fromMs, toMs - (limit + 1) * intervalMs)
  const list = found({ intervalMs, fromMs, toMs: toMs + 1 })
    .slice(-limit)
    .reverse()
  return say(context, { symbol: market.symbol, category, list: list.map((candle) => candleRow(market, candle)) })
}

function prices(what: Priced): (context: Context, market: PerpMarket, query: URLSearchParams) => RestReply {
  return (context, market, query) => {
    const window = candleWindow(context, query)
    if (window === undefined) return refuse(context, 'Invalid period!')
    const { intervalMs, limit } = window
    const toMs = Math.min(window.toMs, context.world.nowMs) + 1
    const fromMs = Math.max(window.fromMs, toMs - limit * intervalMs)
    const list = priceCandlesOf(context, [what, market], { intervalMs, fromMs, toMs }).reverse()
    return say(context, {
      symbol: market.symbol,
      category: 'linear',
      list: list.map((candle) => priceRow(what, market, candle)),
    })
  }
}

const periods: Readonly<Record<string, number>> = {
  '5min': 5,
  '15min': 15,
  '30min': 30,
  '1h': 60,
  '4h': 240,
  '1d': 1_440,
}

/** Of rows by period between `startTime` and `endTime`, both included, the newest; the cursor says where the next begin. */
function periodOf(
  { world }: Context,
  query: URLSearchParams,
  { name, most }: { name: string; most: number },
): { stepMs: number; fromMs: number; toMs: number } | undefined {
  const minutes = periods[query.get(name) ?? '']
  if (minutes === undefined) return undefined
  const stepMs = minutes * MINUTE_MS
  const limit = Math.min(most, whole(query, 'limit') ?? 50)
  const toMs = Math.min(whole(query, 'endTime') ?? world.nowMs, world.nowMs)
  const fromMs = Math.max(whole(query, 'startTime') ?? 0, (Math.floor(toMs / stepMs) - limit + 1) * stepMs)
  return { stepMs, fromMs, toMs }
}

/** "limit: [1, 200]"; newest first, both sides counted. */
function openInterests(context: Context, market: PerpMarket, query: URLSearchParams): RestReply {
  const period = periodOf(context, query, { name: 'intervalTime', most: 200 })
  if (period === undefined) return refuse(context, 'intervalTime')
  const list = interestsOf(context, market, period).reverse()
  const rows = list.map((row) => openInterestRow(market, row))
  return say(context, { symbol: market.symbol, category: 'linear', list: rows, nextPageCursor: '' })
}

/** "limit: [1, 500]"; of all who hold, newest first. */
function accountRatios(context: Context, market: PerpMarket, query: URLSearchParams): RestReply {
  const period = periodOf(context, query, { name: 'period', most: 500 })
  if (period === undefined) return refuse(context, 'period')
  const { stepMs, fromMs, toMs } = period
  // The venue has no top traders; its accounts are positioned as those of the same asset elsewhere.
  const like = context.economy.perps('binance').find(({ asset }) => asset === market.asset)
  const list: object[] = []
  for (let time = Math.floor(toMs / stepMs) * stepMs; time >= fromMs; time -= stepMs) {
    const ratio = like && context.economy.topTraders(like, time * 1_000)?.accounts
    if (ratio !== undefined) list.push(accountRatioRow(market, ratio, time))
  }
  return say(context, { list, nextPageCursor: '' })
}

function spotCandles(context: Context, query: URLSearchParams): RestReply {
  const market = context.economy.spots('bybit').find(({ symbol }) => symbol === query.get('symbol'))
  if (market === undefined) return refuse(context, 'symbol')
  return klines(context, 'spot', market, query, (span) => spotCandlesOf(context, market, undefined, span))
}

interface Page {
  readonly fromMs: number
  /** Included. */
  readonly toMs: number
  readonly limit: number
  readonly intervalMs: number
}

/** `start` and `end` are times of a candle's beginning, both included; at most 1000 candles, the newest of them. */
function candleWindow({ world }: Context, query: URLSearchParams): Page | undefined {
  const length = intervals[query.get('interval') ?? '']
  if (length === undefined) return undefined
  const intervalMs = length * MINUTE_MS
  const limit = Math.min(CANDLES_MAX, whole(query, 'limit') ?? 200)
  const toMs = whole(query, 'end') ?? world.nowMs
  const fromMs = whole(query, 'start') ?? toMs - (limit + 1) * intervalMs
  return { fromMs, toMs, limit, intervalMs }
}

/** `endTime` alone or both times; "startTime alone returns an error". */
function settlements(context: Context, market: PerpMarket, query: URLSearchParams): RestReply {
  const [start, end] = [whole(query, 'startTime'), whole(query, 'endTime')]
  if (start !== undefined && end === undefined) {
    return refuse(context, 'params error: endTime is required when startTime is passed')
  }
  const limit = whole(query, 'limit') ?? 200
  if (!(limit >= 1)) return refuse(context, 'limit')
  const list = context.economy
    .settlements(
      market,
      Math.min(limit, 200, settledBetween(market, start, end ?? context.world.nowMs)),
      end === undefined ? undefined : (end + 1) * 1000,
    )
    .filter(({ time: settled }) => settled >= (start ?? 0) * 1000)
    .map((rate) => settledRow(market, rate))
  return say(context, { category: 'linear', list })
}

function riskLimits(context: Context, market: PerpMarket): RestReply {
  const firstId = 1 + 20 * context.economy.perps('bybit').indexOf(market)
  return say(context, { category: 'linear', list: riskLimitRows(market, firstId) })
}
