import { priceText } from '../amounts.ts'
import type { Economy, PerpMarket } from '../economy.ts'
import type { History } from '../history.ts'
import { ok, whole } from '../query.ts'
import type { Trade } from '../trade.ts'
import type { RestReply, RestRequest } from '../venue-server.ts'
import type { World } from '../world.ts'
import { BinanceDataRest } from './data-rest.ts'
import { aggTradeRow } from './frames.ts'
import { klines } from './klines.ts'
import { exchangeInfo, isListed } from './listing.ts'
import { bad, noSymbol, notFound, unknownSymbol } from './reply.ts'
import { CallLimit, WeightLimit } from './weight.ts'

/** "2400 request weight per minute per IP." */
const WEIGHT_PER_MINUTE = 2400
const HOUR_MS = 3_600_000
/** aggTrades "only support querying the last 24 hours". */
const DEPTH_MS = 24 * HOUR_MS

/** Binance USD-M REST with its weights and refusals. */
export class BinanceRest {
  private readonly world: World
  private readonly economy: Economy
  private readonly data: BinanceDataRest
  private readonly weight = new WeightLimit(WEIGHT_PER_MINUTE)
  /** `/futures/data/*` and the two funding calls are counted by themselves, per address in 5 minutes. */
  private readonly statistics = new CallLimit(1000)
  private readonly funding = new CallLimit(500)

  constructor(world: World, economy: Economy) {
    this.world = world
    this.economy = economy
    this.data = new BinanceDataRest(world, economy)
  }

  answer({ path, query, nowMs }: RestRequest): RestReply {
    const refused = this.weight.refuse(weightOf(path, query), nowMs) ?? this.refuseCall(path, nowMs)
    return refused ?? this.weight.marked(this.route(path, query), nowMs)
  }

  private refuseCall(path: string, nowMs: number): RestReply | undefined {
    if (path.startsWith('/futures/data/')) return this.statistics.refuse(nowMs)
    if (path === '/fapi/v1/fundingRate' || path === '/fapi/v1/fundingInfo') return this.funding.refuse(nowMs)
    return undefined
  }

  private route(path: string, query: URLSearchParams): RestReply {
    switch (path) {
      case '/fapi/v1/ping':
        return ok({})
      case '/fapi/v1/time':
        return ok({ serverTime: this.world.nowMs })
      case '/fapi/v1/exchangeInfo':
        return ok(exchangeInfo(this.economy.perps('binance'), this.world.nowMs))
      case '/fapi/v1/aggTrades':
        return this.withTrades(query, (history) => this.aggTrades(history, query))
      case '/fapi/v1/klines':
        return this.withTrades(query, (history) => klines(history, query, this.world.nowMs))
      case '/fapi/v1/ticker/price':
      case '/fapi/v2/ticker/price':
        return this.prices(query)
      default:
        return this.data.answer(path, query) ?? notFound
    }
  }

  private withSymbol(query: URLSearchParams, found: (market: PerpMarket) => RestReply): RestReply {
    const wanted = query.get('symbol')
    if (wanted === null) return noSymbol
    const market = this.economy.perps('binance').find(({ symbol }) => symbol === wanted)
    return market === undefined ? unknownSymbol : found(market)
  }

  /** What is listed without ever having traded has no rows. */
  private withTrades(query: URLSearchParams, found: (history: History) => RestReply): RestReply {
    const symbol = query.get('symbol')
    if (symbol === null) return noSymbol
    if (!isListed(this.economy.perps('binance'), symbol)) return unknownSymbol
    const history = this.world.find('binance', symbol)
    return history === undefined ? ok([]) : found(history)
  }

  private aggTrades(history: History, query: URLSearchParams): RestReply {
    const limit = whole(query, 'limit') ?? 500
    const [fromId, start, end] = [whole(query, 'fromId'), whole(query, 'startTime'), whole(query, 'endTime')]
    if ([limit, fromId, start, end].some(Number.isNaN)) return bad(-1100, 'Illegal characters found in a parameter.')
    if (limit < 1 || limit > 1000) return bad(-1130, "Data sent for parameter 'limit' is not valid.")
    if (fromId !== undefined && (start !== undefined || end !== undefined)) {
      return bad(-1128, 'Combination of optional parameters invalid.')
    }
    if (start !== undefined && end !== undefined && (end < start || end - start >= HOUR_MS)) {
      return bad(-1127, 'More than 1 hours between startTime and endTime.')
    }
    return ok(this.page(history, { limit, fromId, start, end }).map((trade) => aggTradeRow(history.market, trade)))
  }

  private page({ rows }: History, asked: Asked): Trade[] {
    const oldest = rows.firstAt((this.world.nowMs - DEPTH_MS) * 1000)
    const end = asked.end === undefined ? rows.end : rows.firstAt((asked.end + 1) * 1000)
    if (asked.fromId !== undefined) {
      const from = Math.max(oldest, rows.firstWithId(asked.fromId))
      return rows.read(from, Math.min(end, from + asked.limit))
    }
    const from = asked.start === undefined ? end - asked.limit : rows.firstAt(asked.start * 1000)
    return rows.read(Math.max(oldest, from), Math.min(end, Math.max(oldest, from) + asked.limit))
  }

  private prices(query: URLSearchParams): RestReply {
    const row = (market: PerpMarket): object => {
      const { last, time } = this.economy.perp(market)
      return { symbol: market.symbol, price: priceText(market, last), time: Math.floor(time / 1000) }
    }
    if (query.has('symbol')) return this.withSymbol(query, (market) => ok(row(market)))
    return ok(this.economy.perps('binance').map(row))
  }
}

interface Asked {
  readonly limit: number
  readonly fromId: number | undefined
  readonly start: number | undefined
  readonly end: number | undefined
}

function weightOf(path: string, query: URLSearchParams): number {
  if (path.startsWith('/futures/data/')) return 0
  switch (path) {
    case '/fapi/v1/aggTrades':
      return 20
    case '/fapi/v1/klines':
    case '/fapi/v1/premiumIndexKlines':
    case '/fapi/v1/markPriceKlines': {
      const limit = Number(query.get('limit') ?? 500)
      return limit < 100 ? 1 : limit < 500 ? 2 : limit <= 1000 ? 5 : 10
    }
    case '/fapi/v1/ticker/price':
    case '/fapi/v2/ticker/price':
      return query.has('symbol') ? 1 : 2
    case '/fapi/v1/premiumIndex':
      return query.has('symbol') ? 1 : 10
    case '/fapi/v1/ticker/24hr':
      return query.has('symbol') ? 1 : 40
    case '/fapi/v1/fundingRate':
    case '/fapi/v1/fundingInfo':
      return 0
    default:
      return 1
  }
}
