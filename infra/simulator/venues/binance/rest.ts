import type { History } from '../../ledger/history.ts'
import { priceText, msOf } from '../../market/text.ts'
import type { PerpMarket } from '../../market/economy.ts'
import type { Trade } from '../../market/trade.ts'
import { TapeEconomy } from '../../tape/economy.ts'
import { candlesOf, interestsOf, priceCandlesOf, type Priced } from '../candles.ts'
import type { Context, RestReply } from '../venue-api.ts'
import { type Call, ok, whole } from '../rest.ts'
import {
  bad,
  badLimit,
  candles,
  intervalMsOf,
  noSymbol,
  pageOf,
  type Span,
  spanOf,
  unknownSymbol,
  type Weighed,
} from './calls.ts'
import {
  aggTradeRow,
  exchangeInfo,
  fundingInfoRow,
  fundingRateRow,
  isListed,
  klineRow,
  openInterestHistRow,
  openInterestRow,
  premiumIndexRow,
  priceRow,
  ratioRow,
  settlementMs,
} from './rows.ts'

const HOUR_MS = 3_600_000
const HOUR = HOUR_MS * 1000
/** aggTrades "only support querying the last 24 hours". */
const TRADES_MS = 24 * HOUR_MS
/** Settled rates are made up this far back. */
const SETTLEMENTS = 400 * 24 * HOUR
/** "Only the data of the latest 30 days is available." */
const STATISTICS_MS = 30 * 86_400_000
const CANDLES_MAX = 1500
const periods: ReadonlySet<string> = new Set(['5m', '15m', '30m', '1h', '2h', '4h', '6h', '12h', '1d'])

const perSymbol =
  (all: number) =>
  (query: URLSearchParams): number =>
    query.has('symbol') ? 1 : all
const perLimit = (query: URLSearchParams): number => {
  const limit = Number(query.get('limit') ?? 500)
  return limit < 100 ? 1 : limit < 500 ? 2 : limit <= 1000 ? 5 : 10
}

/** Binance USD-M REST with its weights. */
export const calls: Readonly<Record<string, Weighed>> = {
  '/fapi/v1/ping': { call: () => ok({}) },
  '/fapi/v1/time': { call: ({ world }) => ok({ serverTime: world.nowMs }) },
  '/fapi/v1/exchangeInfo': { call: ({ world, economy }) => ok(exchangeInfo(economy.perps('binance'), world.nowMs)) },
  '/fapi/v1/aggTrades': { weight: 20, call: ofTrades(aggTrades) },
  '/fapi/v1/klines': { weight: perLimit, call: ofTrades(klines) },
  '/fapi/v2/ticker/price': { weight: perSymbol(2), call: prices },
  '/fapi/v1/premiumIndex': { weight: perSymbol(10), call: premiumIndex },
  '/fapi/v1/fundingInfo': { weight: 0, call: (context) => ok(spoken(context).map(fundingInfoRow)) },
  '/fapi/v1/fundingRate': { weight: 0, call: fundingRates },
  '/fapi/v1/markPriceKlines': { weight: perLimit, call: ofRows(priceCandles('mark')) },
  '/fapi/v1/indexPriceKlines': { weight: perLimit, call: indexCandles },
  '/fapi/v1/premiumIndexKlines': { weight: perLimit, call: ofRows(priceCandles('premium')) },
  '/fapi/v1/openInterest': {
    call: ofPerp(({ economy }, market) => ok(openInterestRow(market, economy.perp(market)))),
  },
  '/futures/data/openInterestHist': { weight: 0, call: statistics(openInterests) },
  '/futures/data/topLongShortPositionRatio': { weight: 0, call: statistics(ratios) },
}

/** Of which anything is said beside trades; on a tape there is nothing. */
function spoken({ economy }: Context): readonly PerpMarket[] {
  return economy instanceof TapeEconomy ? [] : economy.perps('binance')
}

type OfPerp = (context: Context, market: PerpMarket, query: URLSearchParams) => RestReply

function ofPerp(found: OfPerp): Call {
  return (context, query) => {
    const wanted = query.get('symbol')
    if (wanted === null) return noSymbol
    const market = spoken(context).find(({ symbol }) => symbol === wanted)
    return market === undefined ? unknownSymbol : found(context, market, query)
  }
}

/** As `ofPerp`, for rows: what is listed without anything ever being said of it has none. */
function ofRows(found: OfPerp): Call {
  return (context, query) => {
    const reply = ofPerp(found)(context, query)
    return reply === unknownSymbol && isListed(spoken(context), query.get('symbol') ?? '') ? ok([]) : reply
  }
}

/** A call of one market's trades. What is listed without ever having traded has no rows. */
function ofTrades(found: (context: Context, history: History, query: URLSearchParams) => RestReply): Call {
  return (context, query) => {
    const symbol = query.get('symbol')
    if (symbol === null) return noSymbol
    if (!isListed(context.economy.perps('binance'), symbol)) return unknownSymbol
    const history = context.world.find('binance', symbol)
    return history === undefined ? ok([]) : found(context, history, query)
  }
}

/** One object with a symbol, an array without. */
function premiumIndex(context: Context, query: URLSearchParams): RestReply {
  const rowOf = (market: PerpMarket): object => premiumIndexRow(market, context.economy.perp(market))
  if (query.has('symbol')) return ofPerp((_context, market) => ok(rowOf(market)))(context, query)
  return ok(spoken(context).map(rowOf))
}

function prices({ economy }: Context, query: URLSearchParams): RestReply {
  const wanted = query.get('symbol')
  const found = economy.perps('binance').filter(({ symbol }) => wanted === null || symbol === wanted)
  const rows = found.map((market) => {
    const { last, time } = economy.perp(market)
    return { symbol: market.symbol, price: priceText(market, last), time: msOf(time) }
  })
  if (wanted === null) return ok(rows)
  return rows[0] === undefined ? unknownSymbol : ok(rows[0])
}

function aggTrades({ world }: Context, { rows, market }: History, query: URLSearchParams): RestReply {
  const limit = whole(query, 'limit') ?? 500
  const [fromId, start, end] = [whole(query, 'fromId'), whole(query, 'startTime'), whole(query, 'endTime')]
  if ([limit, fromId, start, end].some(Number.isNaN)) return bad(-1100, 'Illegal characters found in a parameter.')
  if (limit < 1 || limit > 1000) return badLimit
  if (fromId !== undefined && (start !== undefined || end !== undefined)) {
    return bad(-1128, 'Combination of optional parameters invalid.')
  }
  if (start !== undefined && end !== undefined && (end < start || end - start >= HOUR_MS)) {
    return bad(-1127, 'More than 1 hours between startTime and endTime.')
  }
  const oldest = rows.firstAt((world.nowMs - TRADES_MS) * 1000)
  const until = end === undefined ? rows.end : rows.firstAt((end + 1) * 1000)
  const byId = fromId === undefined ? until - limit : rows.firstWithId(fromId)
  const from = Math.max(oldest, start === undefined ? byId : rows.firstAt(start * 1000))
  const page: Trade[] = rows.read(from, Math.min(until, from + limit))
  return ok(page.map((trade) => aggTradeRow(market, trade)))
}

function klines(context: Context, history: History, query: URLSearchParams): RestReply {
  return candles(query, { nowMs: context.world.nowMs, most: CANDLES_MAX }, (span) =>
    candlesOf(context, history, span).map((candle) => klineRow(history.market, candle, span.intervalMs)),
  )
}

/** As `klines`, of the mark or the index price or the premium. */
function priceCandles(what: Priced): OfPerp {
  return (context, market, query) =>
    candles(query, { nowMs: context.world.nowMs, most: CANDLES_MAX }, (span) =>
      priceCandlesOf(context, [what, market], span).map((candle) => priceRow(what, market, candle, span.intervalMs)),
    )
}

/** By `pair`, which is the symbol of its perpetual. */
function indexCandles(context: Context, query: URLSearchParams): RestReply {
  const pair = query.get('pair')
  if (pair === null) return bad(-1102, "Mandatory parameter 'pair' was not sent, was empty/null, or malformed.")
  return ofRows(priceCandles('index'))(context, new URLSearchParams([...query, ['symbol', pair]]))
}

/** Ascending; "if startTime and endTime are not sent, the most recent 200 are returned". */
function fundingRates(context: Context, query: URLSearchParams): RestReply {
  const span = spanOf(query, { usual: 100, most: 1000 })
  if ('status' in span) return span
  const usual = span.start === undefined && span.end === undefined && !query.has('limit')
  const page = (markets: readonly PerpMarket[]): RestReply =>
    ok(pageOf(settled(context, markets, span, usual ? 200 : span.limit), span))
  return query.has('symbol') ? ofRows((_context, market) => page([market]))(context, query) : page(spoken(context))
}

/** Settlements of the markets in the span, ascending; at each full hour those whose interval ends. */
function settled(
  { world, economy }: Context,
  markets: readonly PerpMarket[],
  span: Span,
  wanted: number,
): ReturnType<typeof fundingRateRow>[] {
  if (markets.length === 0) return []
  const { now } = world
  const end = Math.min(now, span.end === undefined ? now : span.end * 1000)
  const longest = Math.max(1, ...markets.map(({ intervalHours }) => intervalHours))
  const hours = Math.ceil((wanted * longest) / markets.length) + 8
  const start = Math.max(now - SETTLEMENTS, span.start === undefined ? end - hours * HOUR : span.start * 1000)
  const rows: ReturnType<typeof fundingRateRow>[] = []
  // A settlement that was some milliseconds late is found from its own time on.
  for (let time = Math.floor(start / HOUR) * HOUR; time <= end; time += HOUR) {
    const due = markets
      .filter(({ intervalHours }) => time % (intervalHours * HOUR) === 0)
      .filter(({ symbol }) => {
        const late = settlementMs(symbol, time) * 1000
        return late >= start && late <= end
      })
      .flatMap((market) => economy.settlements(market, 1, time + 1).map((row) => fundingRateRow(market, row)))
    rows.push(...due.sort((left, right) => left.fundingTime - right.fundingTime))
    if (span.start !== undefined && rows.length >= wanted) break
  }
  return rows
}

/** Rows of the periods in [from, to], both in ms. */
type Periods = (
  context: Context,
  market: PerpMarket,
  span: { from: number; to: number; everyMs: number },
) => readonly object[]

function statistics(rows: Periods): Call {
  return ofRows((context, market, query) => {
    const { nowMs } = context.world
    const period = query.get('period')
    const everyMs = periods.has(period ?? '') ? intervalMsOf(period) : undefined
    if (everyMs === undefined) return bad(-1130, "Data sent for parameter 'period' is not valid.")
    const span = spanOf(query, { usual: 30, most: 500 })
    if ('status' in span) return span
    const to = Math.min(span.end ?? nowMs, nowMs)
    const oldest = nowMs - STATISTICS_MS
    if (span.start !== undefined && span.start < oldest) return bad(-1130, "parameter 'startTime' is invalid.")
    const from = Math.max(oldest, span.start ?? to - span.limit * everyMs)
    const aligned = { from: Math.ceil(from / everyMs) * everyMs, to, everyMs }
    return ok(pageOf(rows(context, market, aligned), span))
  })
}

/** The value is at the mark price of that time. */
function openInterests(...[context, market, { from, to, everyMs }]: Parameters<Periods>): readonly object[] {
  const { economy } = context
  return interestsOf(context, market, { stepMs: everyMs, fromMs: from, toMs: to }).map((row) =>
    openInterestHistRow(market, row, economy.markAt(market, row.time)),
  )
}

function ratios(...[{ economy }, market, { from, to, everyMs }]: Parameters<Periods>): readonly object[] {
  const rows: object[] = []
  for (let time = from; time <= to; time += everyMs) {
    const ratio = economy.topTraders(market, time * 1000)
    if (ratio !== undefined) rows.push(ratioRow(market, ratio.positions, time * 1000))
  }
  return rows
}
