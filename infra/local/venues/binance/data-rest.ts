import type { Economy, PerpMarket, PerpMinute, PerpState } from '../economy.ts'
import { ok } from '../query.ts'
import { TapeEconomy } from '../tape-economy.ts'
import type { RestReply } from '../venue-server.ts'
import type { World } from '../world.ts'
import {
  dayRow,
  fundingInfoRow,
  fundingRateRow,
  markRow,
  openInterestHistRow,
  openInterestRow,
  premiumIndexRow,
  premiumRow,
  ratioRow,
  settlementMs,
} from './data-rows.ts'
import { intervalMsOf } from './intervals.ts'
import { isListed } from './listing.ts'
import { bad, noSymbol, pageOf, spanOf, unknownSymbol, type Span } from './reply.ts'

const HOUR = 3_600_000_000
/** Settled rates are made up this far back. */
const DEPTH = 400 * 24 * HOUR
const MINUTE_MS = 60_000
/** "Only the data of the latest 30 days is available." */
const STATISTICS_MS = 30 * 86_400_000
const periods: ReadonlySet<string> = new Set(['5m', '15m', '30m', '1h', '2h', '4h', '6h', '12h', '1d'])

/** Binance USD-M REST beside trades. On a tape there is none of it: every symbol is unknown. */
export class BinanceDataRest {
  private readonly world: World
  private readonly economy: Economy
  private readonly absent: boolean

  constructor(world: World, economy: Economy) {
    this.world = world
    this.economy = economy
    this.absent = economy instanceof TapeEconomy
  }

  /** Undefined: no such path. */
  answer(path: string, query: URLSearchParams): RestReply | undefined {
    switch (path) {
      case '/fapi/v1/premiumIndex':
        return this.each(query, (market) => premiumIndexRow(market, this.economy.perp(market)))
      case '/fapi/v1/ticker/24hr':
        return this.each(query, (market) => this.day(market))
      case '/fapi/v1/fundingInfo':
        return ok(this.markets().map(fundingInfoRow))
      case '/fapi/v1/fundingRate':
        return this.fundingRates(query)
      case '/fapi/v1/premiumIndexKlines':
        return this.klines(query, (_market, minutes, start, length) => premiumRow(minutes, start, length))
      case '/fapi/v1/markPriceKlines':
        return this.klines(query, markRow)
      case '/fapi/v1/openInterest':
        return this.one(query, (market) => ok(openInterestRow(market, this.economy.perp(market))))
      case '/futures/data/openInterestHist':
        return this.statistics(query, (market, span, every) => this.openInterests(market, span, every))
      case '/futures/data/topLongShortPositionRatio':
        return this.statistics(query, (market, span, every) => this.ratios(market, span, every, 'positions'))
      case '/futures/data/topLongShortAccountRatio':
        return this.statistics(query, (market, span, every) => this.ratios(market, span, every, 'accounts'))
      default:
        return undefined
    }
  }

  private markets(): readonly PerpMarket[] {
    return this.absent ? [] : this.economy.perps('binance')
  }

  private one(query: URLSearchParams, found: (market: PerpMarket) => RestReply): RestReply {
    const wanted = query.get('symbol')
    if (wanted === null) return noSymbol
    const market = this.markets().find(({ symbol }) => symbol === wanted)
    return market === undefined ? unknownSymbol : found(market)
  }

  /** As `one`, for rows: what is listed without anything ever being said of it has none. */
  private rows(query: URLSearchParams, found: (market: PerpMarket) => RestReply): RestReply {
    const quiet = !this.absent && isListed(this.markets(), query.get('symbol') ?? '')
    const reply = this.one(query, found)
    return reply === unknownSymbol && quiet ? ok([]) : reply
  }

  /** One object with a symbol, an array without. */
  private each(query: URLSearchParams, row: (market: PerpMarket) => object): RestReply {
    return query.has('symbol') ? this.one(query, (market) => ok(row(market))) : ok(this.markets().map(row))
  }

  private day(market: PerpMarket): object {
    return dayRow(market, this.economy.perp(market), this.world.find('binance', market.symbol)?.newest)
  }

  /** Ascending; "if startTime and endTime are not sent, the most recent 200 are returned". */
  private fundingRates(query: URLSearchParams): RestReply {
    const span = spanOf(query, { usual: 100, most: 1000 })
    if ('status' in span) return span
    if (query.has('symbol')) {
      return this.rows(query, (market) => ok(pageOf(this.settled([market], span, query.has('limit')), span)))
    }
    return ok(pageOf(this.settled(this.markets(), span, query.has('limit')), span))
  }

  /** Settlements of the markets in the span, ascending; at each full hour those whose interval ends. */
  private settled(markets: readonly PerpMarket[], span: Span, limited: boolean): { fundingTime: number }[] {
    if (markets.length === 0) return []
    const { now } = this.world
    const wanted = span.start === undefined && span.end === undefined && !limited ? 200 : span.limit
    const end = Math.min(now, span.end === undefined ? now : span.end * 1000)
    const hours =
      Math.ceil((wanted * Math.max(1, ...markets.map(({ intervalHours }) => intervalHours))) / markets.length) + 8
    const start = Math.max(now - DEPTH, span.start === undefined ? end - hours * HOUR : span.start * 1000)
    const rows: { fundingTime: number }[] = []
    // A settlement that was some milliseconds late is found from its own time on.
    for (let time = Math.floor(start / HOUR) * HOUR; time <= end; time += HOUR) {
      const ending = markets.filter(({ intervalHours }) => time % (intervalHours * HOUR) === 0)
      const due = ending
        .filter(({ symbol }) => within(settlementMs(symbol, time), start, end))
        .flatMap((market) => this.economy.settlements(market, 1, time + 1).map((row) => fundingRateRow(market, row)))
      rows.push(...due.sort((left, right) => left.fundingTime - right.fundingTime))
      if (span.start !== undefined && rows.length >= wanted) break
    }
    return rows
  }

  /** Candles; the newest one is still open and comes too, as at the venue. */
  private klines(
    query: URLSearchParams,
    row: (market: PerpMarket, minutes: readonly PerpMinute[], startMs: number, intervalMs: number) => unknown[],
  ): RestReply {
    return this.rows(query, (market) => {
      const intervalMs = intervalMsOf(query.get('interval'))
      if (intervalMs === undefined) return bad(-1120, 'Invalid interval.')
      const span = spanOf(query, { usual: 500, most: 1500 })
      if ('status' in span) return span
      const newest = Math.min(span.end ?? this.world.nowMs, this.world.nowMs)
      const first = span.start ?? Math.floor(newest / intervalMs) * intervalMs - (span.limit - 1) * intervalMs
      const from = Math.ceil(first / intervalMs) * intervalMs
      const to = Math.min(newest + 1, from + span.limit * intervalMs)
      const closed = this.economy.minutes(market, from * 1000, to * 1000)
      const open = openMinute(this.economy.perp(market), closed.at(-1))
      const minutes = open.start / 1000 < from || open.start / 1000 >= to ? closed : [...closed, open]
      const groups = new Map<number, PerpMinute[]>()
      for (const minute of minutes) {
        const startMs = Math.floor(minute.start / 1000 / intervalMs) * intervalMs
        const group = groups.get(startMs)
        if (group === undefined) groups.set(startMs, [minute])
        else group.push(minute)
      }
      return ok([...groups].map(([startMs, group]) => row(market, group, startMs, intervalMs)))
    })
  }

  private statistics(
    query: URLSearchParams,
    rows: (market: PerpMarket, span: { from: number; to: number }, everyMs: number) => readonly object[],
  ): RestReply {
    return this.rows(query, (market) => {
      const period = query.get('period')
      const everyMs = periods.has(period ?? '') ? intervalMsOf(period) : undefined
      if (everyMs === undefined) return bad(-1130, "Data sent for parameter 'period' is not valid.")
      const span = spanOf(query, { usual: 30, most: 500 })
      if ('status' in span) return span
      const to = Math.min(span.end ?? this.world.nowMs, this.world.nowMs)
      const oldest = this.world.nowMs - STATISTICS_MS
      if (span.start !== undefined && span.start < oldest) return bad(-1130, "parameter 'startTime' is invalid.")
      const from = Math.max(oldest, span.start ?? to - span.limit * everyMs)
      const aligned = { from: Math.ceil(from / everyMs) * everyMs, to }
      return ok(pageOf(rows(market, aligned, everyMs), span))
    })
  }

  /** The value is at the mark price of that time. */
  private openInterests(market: PerpMarket, { from, to }: { from: number; to: number }, everyMs: number): object[] {
    const rows = this.economy.openInterests(market, from * 1000, to * 1000 + 1)
    return rows
      .filter(({ time }) => (time / 1000) % everyMs === 0)
      .map((row) => {
        const [minute] = this.economy.minutes(market, row.time - MINUTE_MS * 1000, row.time)
        return openInterestHistRow(market, row, minute?.mark.close ?? this.economy.perp(market).mark)
      })
  }

  private ratios(
    market: PerpMarket,
    { from, to }: { from: number; to: number },
    everyMs: number,
    kind: 'positions' | 'accounts',
  ): object[] {
    const rows: object[] = []
    for (let time = from; time <= to; time += everyMs) {
      const ratio = this.economy.topTraders(market, time * 1000)
      if (ratio !== undefined) rows.push(ratioRow(market, ratio[kind], time * 1000))
    }
    return rows
  }
}

/** The minute that is not over yet, from the last one's end to now. */
function openMinute(state: PerpState, before: PerpMinute | undefined): PerpMinute {
  const bar = (from: number, now: number): PerpMinute['mark'] => {
    return { open: from, high: Math.max(from, now), low: Math.min(from, now), close: now }
  }
  return {
    start: Math.floor(state.time / 60_000_000) * 60_000_000,
    premium: bar(before?.premium.close ?? state.premium, state.premium),
    mark: bar(before?.mark.close ?? state.mark, state.mark),
  }
}

function within(timeMs: number, start: number, end: number): boolean {
  return timeMs * 1000 >= start && timeMs * 1000 <= end
}
