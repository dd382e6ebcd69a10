import { withFlatCandles, type Candle } from '../candles.ts'
import { trimmedText } from '../decimal.ts'
import type { Economy } from '../economy.ts'
import type { History } from '../history.ts'
import type { Market } from '../markets.ts'
import { whole } from '../query.ts'
import { Throttle } from '../throttle.ts'
import type { Trade } from '../trade.ts'
import type { RestReply, RestRequest } from '../venue-server.ts'
import type { World } from '../world.ts'
import { dataLimits, isPerInstrument, OkxDataRest } from './data-rest.ts'
import { tradeRow } from './frames.ts'
import { instruments, spotInstruments } from './listing.ts'
import { empty, refuse, say } from './reply.ts'

const WINDOW_MS = 2_000
const MINUTE_MS = 60_000

/** Requests per two seconds and address, endpoint by endpoint. */
const limits: Readonly<Record<string, number>> = {
  ...dataLimits,
  '/api/v5/market/trades': 100,
  '/api/v5/market/history-trades': 20,
  '/api/v5/market/candles': 40,
  '/api/v5/market/history-candles': 20,
  '/api/v5/market/tickers': 20,
  '/api/v5/public/instruments': 20,
  '/api/v5/public/time': 10,
}

const bars: Readonly<Record<string, number>> = {
  '1m': 1,
  '3m': 3,
  '5m': 5,
  '15m': 15,
  '30m': 30,
  '1H': 60,
  '2H': 120,
  '4H': 240,
  '6Hutc': 360,
  '12Hutc': 720,
  '1Dutc': 1_440,
}

/** OKX v5 REST: everything is text, newest first. */
export class OkxRest {
  private readonly world: World
  private readonly economy: Economy
  private readonly data: OkxDataRest
  private readonly requests = new Map<string, Throttle>()

  constructor(world: World, economy: Economy) {
    this.world = world
    this.economy = economy
    this.data = new OkxDataRest(world, economy)
  }

  answer({ path, query, nowMs }: RestRequest): RestReply {
    const limit = limits[path]
    if (limit === undefined) return { status: 404, body: { msg: 'Not Found', code: '404', data: [] } }
    const counted = isPerInstrument(path) ? `${path} ${query.get('instId') ?? ''}` : path
    const used = this.requests.get(counted) ?? new Throttle(WINDOW_MS)
    this.requests.set(counted, used)
    if (used.use(nowMs) > limit) return refuse(429, '50011', 'Too Many Requests')
    return this.route(path, query)
  }

  private route(path: string, query: URLSearchParams): RestReply {
    switch (path) {
      case '/api/v5/public/time':
        return say([{ ts: String(this.world.nowMs) }])
      case '/api/v5/public/instruments':
        return this.instruments(query)
      case '/api/v5/market/trades':
        return this.withInstrument(query, (history) => newest(history, query))
      case '/api/v5/market/history-trades':
        return this.withInstrument(query, (history) => page(history, query))
      case '/api/v5/market/candles':
      case '/api/v5/market/history-candles':
        return this.anyCandles(query)
      default:
        return this.data.answer(path, query)
    }
  }

  /** What is listed without ever having traded has no rows. */
  private withInstrument(query: URLSearchParams, found: (history: History) => RestReply): RestReply {
    const instId = query.get('instId')
    if (instId === null) return empty('instId')
    if (!this.economy.perps('okx').some(({ symbol }) => symbol === instId)) return this.data.quiet(instId)
    const history = this.world.find('okx', instId)
    return history === undefined ? say([]) : found(history)
  }

  private instruments(query: URLSearchParams): RestReply {
    const type = query.get('instType')
    if (type === null) return empty('instType')
    const swaps = this.economy.perps('okx')
    const [like] = swaps
    const wanted = query.get('instId')
    const rows =
      type === 'SPOT' && like !== undefined
        ? spotInstruments(this.economy.spots('okx'), like)
        : instruments(swaps, type)
    return say(rows.filter((row) => wanted === null || row.instId === wanted))
  }

  private anyCandles(query: URLSearchParams): RestReply {
    const minutes = bars[query.get('bar') ?? '1m']
    if (minutes === undefined) return refuse(400, '51000', 'Parameter bar error')
    const spot = this.data.spotCandles(query.get('instId') ?? '', minutes, query)
    return spot ?? this.withInstrument(query, (history) => this.candles(history, minutes, query))
  }

  private candles({ candles, market }: History, minutes: number, query: URLSearchParams): RestReply {
    const intervalMs = minutes * MINUTE_MS
    const limit = Math.min(300, whole(query, 'limit') ?? 100)
    const before = whole(query, 'before') ?? -1
    const after = whole(query, 'after') ?? Number.MAX_SAFE_INTEGER
    const list = withFlatCandles(candles.every(intervalMs, before + 1, after), intervalMs)
      .slice(-limit)
      .reverse()
    return say(list.map((candle) => candleRow(market, candle, this.world.nowMs >= candle.startMs + intervalMs)))
  }
}

/** `market/trades`: the newest, at most 500. */
function newest({ rows, market }: History, query: URLSearchParams): RestReply {
  const limit = Math.min(500, whole(query, 'limit') ?? 100)
  return say(rowsOf(market, rows.read(rows.end - limit, rows.end)))
}

/**
 * `market/history-trades`, at most 100. `after`: older than that id (`type=1`) or time (`type=2`). `before`: newer than
 * it, but the newest of them, not the next.
 */
function page({ rows, market }: History, query: URLSearchParams): RestReply {
  const limit = Math.min(100, whole(query, 'limit') ?? 100)
  const [after, before] = [whole(query, 'after'), whole(query, 'before')]
  if (Number.isNaN(after ?? 0)) return refuse(400, '51000', 'Parameter after error')
  if (Number.isNaN(before ?? 0)) return refuse(400, '51000', 'Parameter before error')
  const rowOf = (bound: number): number =>
    query.get('type') === '2' ? rows.firstAt(bound * 1000) : rows.firstWithId(bound)
  const end = after === undefined ? rows.end : rowOf(after)
  const begin = before === undefined ? rows.begin : rowOf(before + 1)
  return say(rowsOf(market, rows.read(Math.max(begin, end - limit), end)))
}

function rowsOf(market: Market, trades: readonly Trade[]): object[] {
  return trades.map((trade) => tradeRow(market, trade)).reverse()
}

/** `[ts, open, high, low, close, contracts, base, quote, confirm]`. */
function candleRow(market: Market, candle: Candle, closed: boolean): string[] {
  const { priceDecimals, sizeDecimals, factor } = market
  const prices = [candle.open, candle.high, candle.low, candle.close].map((price) => trimmedText(price, priceDecimals))
  const contracts = candle.buy + candle.sell
  const quote = trimmedText(candle.buyQuote + candle.sellQuote, priceDecimals + sizeDecimals - factor)
  const volumes = [trimmedText(contracts, sizeDecimals), trimmedText(contracts, sizeDecimals - factor), quote]
  return [String(candle.startMs), ...prices, ...volumes, closed ? '1' : '0']
}
