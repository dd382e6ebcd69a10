import type { Economy, PerpMarket, PerpState, SpotMarket } from '../economy.ts'
import { longerCandles, withOpenMinute } from '../minutes.ts'
import { whole } from '../query.ts'
import type { Micros } from '../trade.ts'
import type { RestReply } from '../venue-server.ts'
import type { World } from '../world.ts'
import {
  familyOf,
  fundingRow,
  indexRow,
  markRow,
  openInterestHistoryRow,
  openInterestRow,
  premiumRow,
  settledRow,
  spotCandleRow,
  spotTickerRow,
  swapTickerRow,
  tierRows,
  type Row,
} from './data-rows.ts'
import { instruments, isLive } from './listing.ts'
import { empty, refuse, say, unknownInstrument } from './reply.ts'

const MINUTE_MS = 60_000
/** A premium is taken at the end of its minute. */
const PREMIUM_AT: Micros = 59_000_000
const RUBIK = '/api/v5/rubik/stat/contracts/'

const periods: Readonly<Record<string, number>> = { '5m': 5, '15m': 15, '30m': 30, '1H': 60, '2H': 120, '4H': 240 }

/** Requests per two seconds and address, endpoint by endpoint. */
export const dataLimits: Readonly<Record<string, number>> = {
  '/api/v5/market/ticker': 20,
  '/api/v5/market/index-tickers': 20,
  '/api/v5/public/mark-price': 10,
  '/api/v5/public/funding-rate': 10,
  '/api/v5/public/funding-rate-history': 10,
  '/api/v5/public/open-interest': 20,
  '/api/v5/public/premium-history': 20,
  '/api/v5/public/position-tiers': 10,
  [`${RUBIK}long-short-position-ratio-contract-top-trader`]: 5,
  [`${RUBIK}long-short-account-ratio-contract-top-trader`]: 5,
  [`${RUBIK}open-interest-history`]: 10,
}

/** Endpoints whose limit is counted "per address and instrument". */
export function isPerInstrument(path: string): boolean {
  return path.startsWith(RUBIK) || path.startsWith('/api/v5/public/funding-rate')
}

/** OKX v5 REST beside trades and candles of swaps: everything is text, newest first. */
export class OkxDataRest {
  private readonly world: World
  private readonly economy: Economy

  constructor(world: World, economy: Economy) {
    this.world = world
    this.economy = economy
  }

  answer(path: string, query: URLSearchParams): RestReply {
    switch (path) {
      case '/api/v5/market/tickers':
        return this.tickers(query.get('instType'))
      case '/api/v5/market/ticker':
        return this.ticker(query)
      case '/api/v5/market/index-tickers':
        return this.indexTickers(query)
      case '/api/v5/public/mark-price':
        return this.swaps(query, markRow)
      case '/api/v5/public/open-interest':
        return this.swaps(query, openInterestRow)
      case '/api/v5/public/funding-rate':
        return this.fundingRates(query)
      case '/api/v5/public/funding-rate-history':
        return this.withSwap(query, (market) => this.settlements(market, query))
      case '/api/v5/public/premium-history':
        return this.withSwap(query, (market) => this.premiums(market, query))
      case '/api/v5/public/position-tiers':
        return this.tiers(query)
      case `${RUBIK}long-short-position-ratio-contract-top-trader`:
        return this.withSwap(query, (market) => this.ratios(market, query, 'positions'))
      case `${RUBIK}long-short-account-ratio-contract-top-trader`:
        return this.withSwap(query, (market) => this.ratios(market, query, 'accounts'))
      default:
        return this.withSwap(query, (market) => this.openInterests(market, query))
    }
  }

  /** `after`: older than that time; `before`: newer than it. Undefined where no such pair is listed. */
  spotCandles(instId: string, minutes: number, query: URLSearchParams): RestReply | undefined {
    const market = this.economy.spots('okx').find(({ symbol }) => symbol === instId)
    if (market === undefined) return undefined
    const intervalMs = minutes * MINUTE_MS
    const { from, to, limit } = this.bounds(query, 300, intervalMs)
    const known = this.economy.spotMinutes(market, from, Math.min(to + intervalMs * 1000, this.world.now))
    const shown = withOpenMinute(known, this.economy.spot(market).last, this.world.now)
    const list = longerCandles(shown, intervalMs).filter(({ start }) => start >= from && start < to)
    const rows = list.slice(-limit).reverse()
    return say(rows.map((minute) => spotCandleRow(market, minute, this.world.now >= minute.start + intervalMs * 1000)))
  }

  private tickers(type: string | null): RestReply {
    if (type === null) return empty('instType')
    if (type === 'SPOT') return say(this.economy.spots('okx').map((market) => this.spotTicker(market)))
    if (type !== 'SWAP') return say([])
    return say(this.economy.perps('okx').map((market) => swapTickerRow(market, this.economy.perp(market))))
  }

  private ticker(query: URLSearchParams): RestReply {
    const wanted = query.get('instId')
    const spot = this.economy.spots('okx').find(({ symbol }) => symbol === wanted)
    if (spot !== undefined) return say([this.spotTicker(spot)])
    return this.withSwap(query, (market) => say([swapTickerRow(market, this.economy.perp(market))]))
  }

  private spotTicker(market: SpotMarket): Row {
    return spotTickerRow(market, this.economy.spot(market))
  }

  /** By the index's own name, or all that are quoted in a currency. */
  private indexTickers(query: URLSearchParams): RestReply {
    const [quote, instId] = [query.get('quoteCcy'), query.get('instId')]
    if (quote === null && instId === null) return empty('instId')
    const wanted = this.economy.perps('okx').filter((market) => {
      return instId === null ? familyOf(market).endsWith(`-${quote}`) : familyOf(market) === instId
    })
    if (instId !== null && wanted.length === 0) return unknownInstrument
    return say(wanted.map((market) => indexRow(market, this.economy.perp(market))))
  }

  /** All swaps or one. */
  private swaps(query: URLSearchParams, row: (market: PerpMarket, state: PerpState) => Row): RestReply {
    const [type, instId] = [query.get('instType'), query.get('instId')]
    if (type === null) return empty('instType')
    const listed = type === 'SWAP' ? this.economy.perps('okx') : []
    const wanted = listed.filter(({ symbol }) => instId === null || symbol === instId)
    if (instId !== null && wanted.length === 0) return unknownInstrument
    return say(wanted.map((market) => row(market, this.economy.perp(market))))
  }

  /** `ANY` means all swaps, and dated futures that have funding too. */
  private fundingRates(query: URLSearchParams): RestReply {
    const row = (market: PerpMarket): Row => fundingRow(market, this.economy.perp(market))
    if (query.get('instId') !== 'ANY') return this.withSwap(query, (market) => say([row(market)]))
    const all = this.economy.perps('okx').map(row)
    const [first] = all
    return say(first === undefined ? [] : [...all, { ...first, instId: 'BTC-USDT-310404', instType: 'FUTURES' }])
  }

  /** By the time of the settlement. */
  private settlements(market: PerpMarket, query: URLSearchParams): RestReply {
    const limit = Math.min(400, whole(query, 'limit') ?? 400)
    const [after, before] = [whole(query, 'after'), whole(query, 'before') ?? -1]
    const list = this.economy.settlements(market, limit, after === undefined ? undefined : after * 1000)
    return say(list.filter(({ time }) => time > before * 1000).map((settled) => settledRow(market, settled)))
  }

  private premiums(market: PerpMarket, query: URLSearchParams): RestReply {
    const { from, to, limit } = this.bounds(query, 100, MINUTE_MS)
    const rows = this.economy
      .minutes(market, from - PREMIUM_AT, to)
      .map(({ start, premium }) => ({ time: start + PREMIUM_AT, close: premium.close }))
      .filter(({ time }) => time >= from && time < to)
      .slice(-limit)
      .reverse()
    return say(rows.map(({ time, close }) => premiumRow(market, time, close)))
  }

  private tiers(query: URLSearchParams): RestReply {
    for (const name of ['instType', 'tdMode']) if (query.get(name) === null) return empty(name)
    const families = query.get('instFamily') ?? query.get('uly')
    if (families === null) return empty('instFamily')
    const wanted = families.split(',')
    if (wanted.length > 5) return refuse(400, '51000', 'Parameter instFamily error')
    const markets = this.economy.perps('okx').filter((market) => wanted.includes(familyOf(market)))
    if (markets.length === 0) return unknownInstrument
    return say(markets.flatMap((market) => tierRows(market, this.economy.perp(market).mark)))
  }

  /** `[ts, long over short]` of the top traders. */
  private ratios(market: PerpMarket, query: URLSearchParams, basis: 'positions' | 'accounts'): RestReply {
    const times = this.periodStarts(query)
    if (times === undefined) return refuse(400, '51000', 'Parameter period error')
    const rows = times.map((time) => [time, this.economy.topTraders(market, time)?.[basis]] as const)
    return say(rows.flatMap(([time, ratio]) => (ratio === undefined ? [] : [[String(time / 1000), String(ratio)]])))
  }

  private openInterests(market: PerpMarket, query: URLSearchParams): RestReply {
    const times = this.periodStarts(query)
    if (times === undefined) return refuse(400, '51000', 'Parameter period error')
    const [newest = 0, oldest = 0] = [times[0], times.at(-1)]
    const sizes = new Map(
      this.economy.openInterests(market, oldest, newest + 1).map(({ time, size }) => [time, size] as const),
    )
    const marks = new Map(
      this.economy.minutes(market, oldest, newest + 60_000_000).map(({ start, mark }) => [start, mark.open] as const),
    )
    const now = this.economy.perp(market).mark
    return say(
      times.flatMap((time) => {
        const size = sizes.get(time)
        return size === undefined ? [] : [openInterestHistoryRow(market, time, size, marks.get(time) ?? now)]
      }),
    )
  }

  /** Beginnings of the periods that are asked for, newest first. `begin` and `end` are included. */
  private periodStarts(query: URLSearchParams): Micros[] | undefined {
    const minutes = periods[query.get('period') ?? '5m']
    if (minutes === undefined) return undefined
    const stepMs = minutes * MINUTE_MS
    const limit = Math.min(100, whole(query, 'limit') ?? 100)
    const endMs = Math.min(this.world.nowMs, whole(query, 'end') ?? this.world.nowMs)
    const newest = Math.floor(endMs / stepMs) * stepMs
    const beginMs = whole(query, 'begin') ?? 0
    return Array.from({ length: limit }, (_, index) => (newest - index * stepMs) * 1000).filter(
      (time) => time >= beginMs * 1000,
    )
  }

  private withSwap(query: URLSearchParams, found: (market: PerpMarket) => RestReply): RestReply {
    const instId = query.get('instId')
    if (instId === null) return empty('instId')
    const market = this.economy.perps('okx').find(({ symbol }) => symbol === instId)
    return market === undefined ? this.quiet(instId) : found(market)
  }

  /** What is listed without anything ever being said of it has no rows. */
  quiet(instId: string): RestReply {
    return isLive(instruments(this.economy.perps('okx'), 'SWAP'), instId) ? say([]) : unknownInstrument
  }

  /** The newest `limit` rows between `before` and `after`, both excluded, in microseconds: [from, to). */
  private bounds(query: URLSearchParams, most: number, stepMs: number): { from: Micros; to: Micros; limit: number } {
    const limit = Math.min(most, whole(query, 'limit') ?? 100)
    const to = Math.min(this.world.nowMs + 1, whole(query, 'after') ?? Number.POSITIVE_INFINITY)
    const from = Math.max(to - (limit + 2) * stepMs, (whole(query, 'before') ?? -1) + 1)
    return { from: from * 1000, to: to * 1000, limit }
  }
}
