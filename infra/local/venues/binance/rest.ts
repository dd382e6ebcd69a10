import { fixedText } from '../decimal.ts'
import type { History } from '../history.ts'
import { ok, secondsText, whole } from '../query.ts'
import { Throttle } from '../throttle.ts'
import type { Trade } from '../trade.ts'
import type { RestReply, RestRequest } from '../venue-server.ts'
import type { World } from '../world.ts'
import { aggTradeRow } from './frames.ts'
import { klines } from './klines.ts'
import { exchangeInfo } from './listing.ts'

/** "2400 request weight per minute per IP." */
const WEIGHT_PER_MINUTE = 2400
/** Requests that go on after a 429 get the address banned: 2 minutes at first. */
const BANNED_AFTER = 20
const BAN_MS = 120_000
const HOUR_MS = 3_600_000
/** aggTrades "only support querying the last 24 hours". */
const DEPTH_MS = 24 * HOUR_MS

/** Binance USD-M REST: what a reader of trades needs, with its weights and refusals. */
export class BinanceRest {
  private readonly world: World
  private readonly weight = new Throttle(60_000)
  private refusals = 0
  private bannedUntilMs = 0

  constructor(world: World) {
    this.world = world
  }

  answer(request: RestRequest): RestReply {
    const over = this.limit(request)
    if (over !== undefined) return over
    const used = { 'x-mbx-used-weight-1m': String(this.weight.use(request.nowMs, 0)) }
    const reply = this.route(request.path, request.query)
    return { ...reply, headers: { ...used, ...reply.headers } }
  }

  private limit({ path, query, nowMs }: RestRequest): RestReply | undefined {
    if (nowMs < this.bannedUntilMs) return banned(this.bannedUntilMs, nowMs)
    const used = this.weight.use(nowMs, weightOf(path, query))
    if (used <= WEIGHT_PER_MINUTE) {
      this.refusals = 0
      return undefined
    }
    this.refusals += 1
    if (this.refusals > BANNED_AFTER) {
      this.bannedUntilMs = nowMs + BAN_MS
      return banned(this.bannedUntilMs, nowMs)
    }
    return {
      status: 429,
      headers: { 'retry-after': secondsText(this.weight.left(nowMs)), 'x-mbx-used-weight-1m': String(used) },
      body: error(
        -1003,
        `Too many requests; current limit of IP is ${WEIGHT_PER_MINUTE} requests per minute. Please use the websocket for live updates to avoid polling the API.`,
      ),
    }
  }

  private route(path: string, query: URLSearchParams): RestReply {
    switch (path) {
      case '/fapi/v1/ping':
        return ok({})
      case '/fapi/v1/time':
        return ok({ serverTime: this.world.nowMs })
      case '/fapi/v1/exchangeInfo':
        return ok(exchangeInfo(this.markets(), this.world.nowMs))
      case '/fapi/v1/aggTrades':
        return this.withSymbol(query, (history) => this.aggTrades(history, query))
      case '/fapi/v1/klines':
        return this.withSymbol(query, (history) => klines(history, query, this.world.nowMs))
      case '/fapi/v1/ticker/price':
      case '/fapi/v2/ticker/price':
        return this.prices(query)
      default:
        return { status: 404, body: '<html><body><h2>404 Not found</h2></body></html>' }
    }
  }

  private markets(): History['market'][] {
    return this.world.of('binance').map((history) => history.market)
  }

  private withSymbol(query: URLSearchParams, found: (history: History) => RestReply): RestReply {
    const symbol = query.get('symbol')
    if (symbol === null) return bad(-1102, "Mandatory parameter 'symbol' was not sent, was empty/null, or malformed.")
    const history = this.world.find('binance', symbol)
    return history === undefined ? bad(-1121, 'Invalid symbol.') : found(history)
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
    const price = ({ market, newest }: History): object => ({
      symbol: market.symbol,
      price: fixedText(
        newest?.price ?? Math.round(market.startPrice * 10 ** market.priceDecimals),
        market.priceDecimals,
      ),
      time: newest === undefined ? this.world.nowMs : Math.floor(newest.time / 1000),
    })
    if (query.has('symbol')) return this.withSymbol(query, (history) => ok(price(history)))
    return ok(this.world.of('binance').map(price))
  }
}

interface Asked {
  readonly limit: number
  readonly fromId: number | undefined
  readonly start: number | undefined
  readonly end: number | undefined
}

function weightOf(path: string, query: URLSearchParams): number {
  switch (path) {
    case '/fapi/v1/aggTrades':
      return 20
    case '/fapi/v1/klines': {
      const limit = Number(query.get('limit') ?? 500)
      return limit < 100 ? 1 : limit < 500 ? 2 : limit <= 1000 ? 5 : 10
    }
    case '/fapi/v1/ticker/price':
    case '/fapi/v2/ticker/price':
      return query.has('symbol') ? 1 : 2
    default:
      return 1
  }
}

function bad(code: number, msg: string): RestReply {
  return { status: 400, body: error(code, msg) }
}

function error(code: number, msg: string): object {
  return { code, msg }
}

function banned(untilMs: number, nowMs: number): RestReply {
  return {
    status: 418,
    headers: { 'retry-after': secondsText(untilMs - nowMs) },
    body: error(
      -1003,
      `Way too many requests; IP banned until ${untilMs}. Please use the websocket for live updates to avoid bans.`,
    ),
  }
}
