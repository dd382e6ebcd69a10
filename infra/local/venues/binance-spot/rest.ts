import { bad, noSymbol, notFound, pageOf, spanOf, unknownSymbol } from '../binance/reply.ts'
import { intervalMsOf } from '../binance/intervals.ts'
import { WeightLimit } from '../binance/weight.ts'
import type { Economy, SpotMarket, SpotMinute, SpotState } from '../economy.ts'
import { ok } from '../query.ts'
import type { RestReply, RestRequest } from '../venue-server.ts'
import type { World } from '../world.ts'
import { exchangeInfo } from './listing.ts'
import { dayRow, klineRow, priceRow } from './rows.ts'

/** "6000 request weight per minute per IP." */
const WEIGHT_PER_MINUTE = 6000

/** Binance spot REST: list, prices and candles. Its trades are not simulated. */
export class BinanceSpotRest {
  private readonly world: World
  private readonly economy: Economy
  private readonly weight = new WeightLimit(WEIGHT_PER_MINUTE)

  constructor(world: World, economy: Economy) {
    this.world = world
    this.economy = economy
  }

  answer({ path, query, nowMs }: RestRequest): RestReply {
    const refused = this.weight.refuse(weightOf(path, query), nowMs)
    return refused ?? this.weight.marked(this.route(path, query), nowMs)
  }

  private route(path: string, query: URLSearchParams): RestReply {
    switch (path) {
      case '/api/v3/ping':
        return ok({})
      case '/api/v3/time':
        return ok({ serverTime: this.world.nowMs })
      case '/api/v3/exchangeInfo':
        return this.listed(query)
      case '/api/v3/ticker/price':
        return this.each(query, (market) => priceRow(market, this.economy.spot(market)))
      case '/api/v3/ticker/24hr':
        return this.each(query, (market) => dayRow(market, this.economy.spot(market)))
      case '/api/v3/klines':
        return this.klines(query)
      default:
        return notFound
    }
  }

  private markets(): readonly SpotMarket[] {
    return this.economy.spots('binance')
  }

  private find(wanted: string): SpotMarket | undefined {
    return this.markets().find(({ symbol }) => symbol === wanted)
  }

  /** One row with `symbol`, an array with `symbols` and without either. */
  private each(query: URLSearchParams, row: (market: SpotMarket) => object): RestReply {
    const [symbol, symbols] = [query.get('symbol'), query.get('symbols')]
    if (symbol !== null && symbols !== null) return bad(-1128, 'Combination of optional parameters invalid.')
    if (symbol !== null) {
      const market = this.find(symbol)
      return market === undefined ? unknownSymbol : ok(row(market))
    }
    if (symbols === null) return ok(this.markets().map(row))
    const named = namesOf(symbols)
    if (named === undefined) return bad(-1100, "Illegal characters found in parameter 'symbols'.")
    const found = named.map((name) => this.find(name))
    const markets = found.filter((market) => market !== undefined)
    return markets.length < found.length ? unknownSymbol : ok(markets.map(row))
  }

  private listed(query: URLSearchParams): RestReply {
    const info = exchangeInfo(this.markets(), this.world.nowMs)
    const wanted = query.has('symbol') ? [query.get('symbol') ?? ''] : namesOf(query.get('symbols') ?? '')
    const symbols = info.symbols.filter(({ symbol }) => wanted?.includes(symbol) ?? true)
    if (wanted !== undefined && symbols.length < wanted.length) return unknownSymbol
    const short = query.get('showPermissionSets') === 'false'
    return ok({ ...info, symbols: short ? symbols.map((row) => ({ ...row, permissionSets: [] })) : symbols })
  }

  private klines(query: URLSearchParams): RestReply {
    const symbol = query.get('symbol')
    if (symbol === null) return noSymbol
    const market = this.find(symbol)
    if (market === undefined) return unknownSymbol
    const intervalMs = intervalMsOf(query.get('interval'))
    if (intervalMs === undefined) return bad(-1120, 'Invalid interval.')
    const span = spanOf(query, { usual: 500, most: 1000 })
    if ('status' in span) return span
    const to = Math.min(this.world.nowMs, span.end ?? this.world.nowMs) + 1
    const from = span.start ?? Math.floor(to / intervalMs) * intervalMs - (span.limit - 1) * intervalMs
    const first = Math.ceil(from / intervalMs) * intervalMs
    const closed = this.economy.spotMinutes(market, first * 1000, to * 1000)
    const open = openMinute(this.economy.spot(market), closed.at(-1))
    const minutes = open.start / 1000 < first || open.start / 1000 >= to ? closed : [...closed, open]
    const groups = new Map<number, SpotMinute[]>()
    for (const minute of minutes) {
      const startMs = Math.floor(minute.start / 1000 / intervalMs) * intervalMs
      const group = groups.get(startMs)
      if (group === undefined) groups.set(startMs, [minute])
      else group.push(minute)
    }
    return ok(
      pageOf(
        [...groups].map(([startMs, group]) => klineRow(market, group, startMs, intervalMs)),
        span,
      ),
    )
  }
}

/** The minute that is not over yet, from the last one's end to now. */
function openMinute({ last, time }: SpotState, before: SpotMinute | undefined): SpotMinute {
  const open = before?.close ?? last
  const start = Math.floor(time / 60_000_000) * 60_000_000
  const volume = ((before?.volume ?? 0) * (time - start)) / 60_000_000
  return { start, open, high: Math.max(open, last), low: Math.min(open, last), close: last, volume }
}

/** `["BTCUSDT","ETHUSDT"]`. */
function namesOf(text: string): string[] | undefined {
  return /^\["[^"\s]+"(?:,"[^"\s]+")*\]$/.test(text) ? text.slice(2, -2).split('","') : undefined
}

function weightOf(path: string, query: URLSearchParams): number {
  const count = query.has('symbol') ? 1 : (namesOf(query.get('symbols') ?? '')?.length ?? Number.POSITIVE_INFINITY)
  switch (path) {
    case '/api/v3/exchangeInfo':
      return 20
    case '/api/v3/ticker/price':
      return query.has('symbol') ? 2 : 4
    case '/api/v3/ticker/24hr':
      return count <= 20 ? 2 : count <= 100 ? 40 : 80
    case '/api/v3/klines':
      return 2
    default:
      return 1
  }
}
