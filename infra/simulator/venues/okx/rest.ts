import type { Candle } from '../../ledger/candles.ts'
import type { History } from '../../ledger/history.ts'
import type { PerpMarket, PerpState } from '../../market/economy.ts'
import type { Scale } from '../../market/text.ts'
import type { Micros, Trade } from '../../market/trade.ts'
import { candlesOf, tradedCandlesOf, interestsOf, priceCandlesOf, settledBetween, spotCandlesOf } from '../candles.ts'
import type { Context, RestReply } from '../venue-api.ts'
import { type Call, ok, whole } from '../rest.ts'
import {
  candleRow,
  familyOf,
  fundingRow,
  indexRow,
  instruments,
  interestRow,
  isLive,
  markCandleRow,
  markRow,
  openInterestRow,
  premiumRow,
  type Row,
  settledRow,
  spotInstruments,
  spotTickerRow,
  swapTickerRow,
  takerRow,
  tradeRow,
} from './rows.ts'

const MINUTE_MS = 60_000
/** A premium is taken at the end of its minute. */
const PREMIUM_AT: Micros = 59_000_000

const periods: Readonly<Record<string, number>> = { '5m': 5, '15m': 15, '30m': 30, '1H': 60, '2H': 120, '4H': 240 }
const bars: Readonly<Record<string, number>> = {
  ...periods,
  '1m': 1,
  '3m': 3,
  '6Hutc': 360,
  '12Hutc': 720,
  '1Dutc': 1_440,
}

interface Limited {
  /** Requests per two seconds and address. */
  readonly limit: number
  /** Counted "per address and instrument". */
  readonly perInstrument?: true
  readonly call: Call
}

/** OKX v5 REST: everything is text, newest first. */
export const calls: Readonly<Record<string, Limited>> = {
  '/api/v5/public/time': { limit: 10, call: ({ world }) => say([{ ts: String(world.nowMs) }]) },
  '/api/v5/public/instruments': { limit: 20, call: listing },
  '/api/v5/market/history-trades': { limit: 20, call: ofTrades(page) },
  '/api/v5/market/candles': { limit: 40, call: candles },
  '/api/v5/market/history-candles': { limit: 20, call: candles },
  '/api/v5/market/tickers': { limit: 20, call: tickers },
  '/api/v5/market/index-tickers': { limit: 20, call: indexTickers },
  '/api/v5/public/mark-price': { limit: 10, call: swaps(markRow) },
  '/api/v5/public/open-interest': { limit: 20, call: swaps(openInterestRow) },
  '/api/v5/public/funding-rate': { limit: 10, perInstrument: true, call: fundingRates },
  '/api/v5/public/funding-rate-history': { limit: 10, perInstrument: true, call: ofSwap(settlements) },
  '/api/v5/public/premium-history': { limit: 20, call: ofSwap(premiums) },
  '/api/v5/market/history-mark-price-candles': { limit: 10, call: ofSwap(priceCandles('mark')) },
  '/api/v5/market/history-index-candles': { limit: 10, call: indexCandles },
  '/api/v5/rubik/stat/taker-volume-contract': { limit: 5, perInstrument: true, call: ofSwap(takerVolumes) },
  '/api/v5/rubik/stat/contracts/open-interest-history': { limit: 10, perInstrument: true, call: ofSwap(openInterests) },
  '/api/v5/rubik/stat/contracts/long-short-position-ratio-contract-top-trader': {
    limit: 5,
    perInstrument: true,
    call: ofSwap(topTraders),
  },
}

function say(data: readonly unknown[]): RestReply {
  return ok({ code: '0', msg: '', data })
}

export function refuse(status: number, code: string, msg: string): RestReply {
  return { status, body: { code, msg, data: [] } }
}

function wrong(parameter: string): RestReply {
  return refuse(400, '51000', `Parameter ${parameter} error`)
}

function empty(parameter: string): RestReply {
  return refuse(400, '50014', `Parameter ${parameter} cannot be empty.`)
}

const unknownInstrument = refuse(200, '51001', "Instrument ID, Instrument ID code, or Spread ID doesn't exist.")

type OfSwap = (context: Context, market: PerpMarket, query: URLSearchParams) => RestReply

/** A call of one swap. What is listed without anything ever being said of it has no rows. */
function ofSwap(found: OfSwap): Call {
  return (context, query) => {
    const instId = query.get('instId')
    if (instId === null) return empty('instId')
    const market = context.economy.perps('okx').find(({ symbol }) => symbol === instId)
    if (market !== undefined) return found(context, market, query)
    return isLive(context.economy.perps('okx'), instId) ? say([]) : unknownInstrument
  }
}

/** A call of one swap's trades. */
function ofTrades(found: (history: History, query: URLSearchParams) => RestReply): Call {
  return ofSwap(({ world }, { symbol }, query) => {
    const history = world.find('okx', symbol)
    return history === undefined ? say([]) : found(history, query)
  })
}

function listing({ economy }: Context, query: URLSearchParams): RestReply {
  const type = query.get('instType')
  if (type === null) return empty('instType')
  const swaps = economy.perps('okx')
  const [like] = swaps
  const wanted = query.get('instId')
  const rows =
    type === 'SPOT' && like !== undefined ? spotInstruments(economy.spots('okx'), like) : instruments(swaps, type)
  return say(rows.filter(({ instId }) => wanted === null || instId === wanted))
}

/**
 * `market/history-trades`, at most 100. `after`: older than that id (`type=1`) or time (`type=2`). `before`: newer than
 * it, but the newest of them, not the next.
 */
function page({ rows, market }: History, query: URLSearchParams): RestReply {
  const limit = Math.min(100, whole(query, 'limit') ?? 100)
  const [after, before] = [whole(query, 'after'), whole(query, 'before')]
  if (Number.isNaN(after ?? 0)) return wrong('after')
  if (Number.isNaN(before ?? 0)) return wrong('before')
  const rowOf = (bound: number): number =>
    query.get('type') === '2' ? rows.firstAt(bound * 1000) : rows.firstWithId(bound)
  const end = after === undefined ? rows.end : rowOf(after)
  const begin = before === undefined ? rows.begin : rowOf(before + 1)
  return say(tradeRows(market, rows.read(Math.max(begin, end - limit), end)))
}

function tradeRows(market: History['market'], trades: readonly Trade[]): object[] {
  return trades.map((trade) => tradeRow(market, trade)).reverse()
}

/** `after`: older than that time; `before`: newer than it. */
function candles(context: Context, query: URLSearchParams): RestReply {
  const { world, economy } = context
  const minutes = bars[query.get('bar') ?? '1m']
  if (minutes === undefined) return wrong('bar')
  const intervalMs = minutes * MINUTE_MS
  const { from, to, limit } = bounds(world.nowMs, query, { most: 300, stepMs: intervalMs })
  const span = { intervalMs, fromMs: from / 1000, toMs: to / 1000 }
  const rows = (market: Scale, found: readonly Candle[]): RestReply =>
    say(
      found
        .slice(-limit)
        .reverse()
        .map((candle) => candleRow(market, candle, world.nowMs >= candle.startMs + intervalMs)),
    )
  const pair = economy.spots('okx').find(({ symbol }) => symbol === query.get('instId'))
  if (pair !== undefined) return rows(pair, spotCandlesOf(context, pair, undefined, span))
  return ofTrades((history) => rows(history.market, candlesOf(context, history, span)))(context, query)
}

function tickers({ economy }: Context, query: URLSearchParams): RestReply {
  const type = query.get('instType')
  if (type === null) return empty('instType')
  if (type === 'SPOT') return say(economy.spots('okx').map((market) => spotTickerRow(market, economy.spot(market))))
  if (type !== 'SWAP') return say([])
  return say(economy.perps('okx').map((market) => swapTickerRow(market, economy.perp(market))))
}

/** All indices that are quoted in a currency. */
function indexTickers({ economy }: Context, query: URLSearchParams): RestReply {
  const quote = query.get('quoteCcy')
  if (quote === null) return empty('quoteCcy')
  const wanted = economy.perps('okx').filter((market) => familyOf(market).endsWith(`-${quote}`))
  return say(wanted.map((market) => indexRow(market, economy.perp(market))))
}

/** All swaps or one. */
function swaps(row: (market: PerpMarket, state: PerpState) => Row): Call {
  return ({ economy }, query) => {
    const [type, instId] = [query.get('instType'), query.get('instId')]
    if (type === null) return empty('instType')
    const listed = type === 'SWAP' ? economy.perps('okx') : []
    const wanted = listed.filter(({ symbol }) => instId === null || symbol === instId)
    if (instId !== null && wanted.length === 0) return unknownInstrument
    return say(wanted.map((market) => row(market, economy.perp(market))))
  }
}

/** `ANY` means all swaps, and dated futures that have funding too. */
function fundingRates(context: Context, query: URLSearchParams): RestReply {
  const row = (market: PerpMarket): Row => fundingRow(market, context.economy.perp(market))
  if (query.get('instId') !== 'ANY') return ofSwap((_context, market) => say([row(market)]))(context, query)
  const all = context.economy.perps('okx').map(row)
  const [first] = all
  return say(first === undefined ? [] : [...all, { ...first, instId: 'BTC-USDT-310404', instType: 'FUTURES' }])
}

/** By the time of the settlement. */
function settlements({ economy }: Context, market: PerpMarket, query: URLSearchParams): RestReply {
  const limit = Math.min(400, whole(query, 'limit') ?? 400)
  const [after, before] = [whole(query, 'after'), whole(query, 'before') ?? -1]
  const between = settledBetween(market, Math.max(0, before), after)
  const list = economy.settlements(market, Math.min(limit, between), after === undefined ? undefined : after * 1000)
  return say(list.filter(({ time }) => time > before * 1000).map((settled) => settledRow(market, settled)))
}

function premiums(context: Context, market: PerpMarket, query: URLSearchParams): RestReply {
  const { nowMs } = context.world
  const { from, to, limit } = bounds(nowMs, query, { most: 100, stepMs: MINUTE_MS })
  const span = { fromMs: (from - PREMIUM_AT) / 1000, toMs: Math.min((to - PREMIUM_AT) / 1000, nowMs - MINUTE_MS + 1) }
  const list = priceCandlesOf(context, ['premium', market], { intervalMs: MINUTE_MS, ...span })
  const rows = list.slice(-limit).reverse()
  return say(rows.map(({ startMs, close }) => premiumRow(market, startMs * 1000 + PREMIUM_AT, close)))
}

/** At most 100 candles of the mark or index price, newest first; the one that runs is not confirmed. */
function priceCandles(what: 'mark' | 'index'): OfSwap {
  return (context, market, query) => {
    const { nowMs } = context.world
    const length = bars[query.get('bar') ?? '1m']
    if (length === undefined) return wrong('bar')
    const intervalMs = length * MINUTE_MS
    const { from, to, limit } = bounds(nowMs, query, { most: 100, stepMs: intervalMs })
    const list = priceCandlesOf(context, [what, market], { intervalMs, fromMs: from / 1000, toMs: to / 1000 })
    const rows = list.slice(-limit).reverse()
    return say(rows.map((candle) => markCandleRow(market, candle, nowMs >= candle.startMs + intervalMs)))
  }
}

/** By the name of the index: BTC-USDT. */
function indexCandles(context: Context, query: URLSearchParams): RestReply {
  const swap = context.economy.perps('okx').find((market) => familyOf(market) === query.get('instId'))
  return swap === undefined ? unknownInstrument : priceCandles('index')(context, swap, query)
}

/** How many rows of statistics are kept. */
const STATISTICS = 1_440

/** Times of rows by period, newest first; `begin` and `end`, milliseconds, are included. */
function periodsOf({ world: { nowMs } }: Context, query: URLSearchParams): number[] | undefined {
  const minutes = periods[query.get('period') ?? '5m']
  if (minutes === undefined) return undefined
  const stepMs = minutes * MINUTE_MS
  const limit = Math.min(100, whole(query, 'limit') ?? 100)
  const newest = Math.floor(Math.min(nowMs, whole(query, 'end') ?? nowMs) / stepMs) * stepMs
  const begin = Math.max(whole(query, 'begin') ?? 0, nowMs - STATISTICS * stepMs)
  return Array.from({ length: limit }, (_, index) => newest - index * stepMs).filter((time) => time >= begin)
}

/** `[ts, sold, bought]` by takers, newest first; `unit` 1: contracts, as `period` says it in hours or parts of them. */
function takerVolumes(context: Context, market: PerpMarket, query: URLSearchParams): RestReply {
  const times = periodsOf(context, query)
  const history = context.world.find('okx', market.symbol)
  if (times === undefined) return wrong('period')
  if (query.get('unit') !== '1') return wrong('unit')
  const [newest, oldest] = [times[0], times.at(-1)]
  if (history === undefined || newest === undefined || oldest === undefined) return say([])
  const intervalMs = (periods[query.get('period') ?? '5m'] ?? 5) * MINUTE_MS
  const found = tradedCandlesOf(context, history, { intervalMs, fromMs: oldest, toMs: newest + 1 })
  return say(found.reverse().map((candle) => takerRow(history.market, candle)))
}

/** `[ts, contracts, coins, dollars]`, newest first. */
function openInterests(context: Context, market: PerpMarket, query: URLSearchParams): RestReply {
  const times = periodsOf(context, query)
  if (times === undefined) return wrong('period')
  const rows = times.flatMap((time) => interestsOf(context, market, { stepMs: MINUTE_MS, fromMs: time, toMs: time }))
  return say(rows.map((row) => interestRow(market, row, context.economy.markAt(market, row.time))))
}

/** `[ts, long over short]` of the top traders' positions, newest first. */
function topTraders(context: Context, market: PerpMarket, query: URLSearchParams): RestReply {
  const { economy } = context
  const times = periodsOf(context, query)
  if (times === undefined) return wrong('period')
  const rows = times.map((time) => [time, economy.topTraders(market, time * 1000)?.positions] as const)
  return say(rows.flatMap(([time, ratio]) => (ratio === undefined ? [] : [[String(time), String(ratio)]])))
}

/** The newest `limit` rows between `before` and `after`, both excluded, in microseconds: [from, to). */
function bounds(
  nowMs: number,
  query: URLSearchParams,
  { most, stepMs }: { most: number; stepMs: number },
): { from: Micros; to: Micros; limit: number } {
  const limit = Math.min(most, whole(query, 'limit') ?? 100)
  const to = Math.min(nowMs + 1, whole(query, 'after') ?? Number.POSITIVE_INFINITY)
  const from = Math.max(to - (limit + 2) * stepMs, (whole(query, 'before') ?? -1) + 1)
  return { from: from * 1000, to: to * 1000, limit }
}
