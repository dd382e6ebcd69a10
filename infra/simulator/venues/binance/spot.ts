import { fixedNumber, fixedText, powerText, msOf } from '../../market/text.ts'
import type { SpotMarket, SpotState } from '../../market/economy.ts'
import type { Market } from '../../market/markets.ts'
import type { Trade } from '../../market/trade.ts'
import type { Context, RestReply, VenueApi } from '../venue-api.ts'
import { type Call, listedRows, ok, whole } from '../rest.ts'
import { spotCandlesOf } from '../candles.ts'
import { aggTradeRow, klineRow } from './rows.ts'
import {
  bad,
  badLimit,
  candles,
  noSymbol,
  notFound,
  unknownSymbol,
  type Weighed,
  tooMany,
  WeightLimit,
  weightOf,
} from './calls.ts'
import { BinanceSession, Listeners, openingOf } from './socket.ts'

/** "5 incoming messages per second", pongs too; "a ping frame every 20 seconds", no pong within a minute ends it. */
const limits = { messagesPerSecond: 5, pingMs: 20_000, pongWithinMs: 60_000 }
/** "6000 request weight per minute per IP." */
const WEIGHT_PER_MINUTE = 6000
const CANDLES_MAX = 1000

/** Binance spot: prices and trades. Faults of Binance hit it too. */
export function binanceSpotApi(context: Context): VenueApi {
  const { world, economy } = context
  const listeners = new Listeners()
  const weight = new WeightLimit(WEIGHT_PER_MINUTE)
  let second = 0
  return {
    name: 'binance',
    prefix: 'binance-spot',
    trades: 'binance_spot',
    tooMany: (leftMs) => tooMany(leftMs, `${WEIGHT_PER_MINUTE} requests per minute`),
    sockets: { most: 300, windowMs: 300_000 },
    connect(path, query) {
      const opening = openingOf(path, query)
      return opening === undefined
        ? 404
        : (link) =>
            new BinanceSession(link, { context, listeners, limits, carries, trades: 'binance_spot', ...opening })
    },
    rest({ path, query, nowMs }) {
      const known = Object.hasOwn(calls, path) ? calls[path] : undefined
      const refused = weight.refuse(weightOf(known, query), nowMs)
      return refused ?? weight.marked(known?.call(context, query) ?? notFound, nowMs)
    },
    publish(market, trades) {
      listeners.trade(`${market.symbol.toLowerCase()}@aggTrade`, market, () =>
        trades.map((trade) => tradeFrame(market, trade, Math.max(world.nowMs, msOf(trade.time)))),
      )
    },
    /** Once a second, for each pair that somebody listens to. */
    beat() {
      const { nowMs } = world
      if (Math.floor(nowMs / 1000) === second) return
      second = Math.floor(nowMs / 1000)
      for (const market of economy.spots('binance')) {
        const stream = `${market.symbol.toLowerCase()}@ticker`
        listeners.tell(stream, market, () => tickerFrame(market, economy.spot(market), nowMs))
      }
    },
  }
}

/** Books and candles of spot are accepted and never push anything. */
function carries(stream: string): boolean {
  return stream.endsWith('@ticker') || stream.endsWith('@aggTrade')
}

const calls: Readonly<Record<string, Weighed>> = {
  '/api/v3/ping': { call: () => ok({}) },
  '/api/v3/time': { call: ({ world }) => ok({ serverTime: world.nowMs }) },
  '/api/v3/exchangeInfo': { weight: 20, call: listed },
  '/api/v3/ticker/price': { weight: (query) => (query.has('symbol') ? 2 : 4), call: each(priceRow) },
  '/api/v3/ticker/24hr': {
    weight: (query) => {
      const named = namesOf(query.get('symbols') ?? '')?.length ?? Number.POSITIVE_INFINITY
      const count = query.has('symbol') ? 1 : named
      return count <= 20 ? 2 : count <= 100 ? 40 : 80
    },
    call: each(dayRow),
  },
  '/api/v3/klines': { weight: 2, call: klines },
  '/api/v3/aggTrades': { weight: 4, call: aggTrades },
}

function find({ economy }: Context, wanted: string): SpotMarket | undefined {
  return economy.spots('binance').find(({ symbol }) => symbol === wanted)
}

/** One row with `symbol`, an array with `symbols` and without either. */
function each(row: (market: SpotMarket, state: SpotState) => object): Call {
  return (context, query) => {
    const rowOf = (market: SpotMarket): object => row(market, context.economy.spot(market))
    const [symbol, symbols] = [query.get('symbol'), query.get('symbols')]
    if (symbol !== null && symbols !== null) return bad(-1128, 'Combination of optional parameters invalid.')
    if (symbol !== null) {
      const market = find(context, symbol)
      return market === undefined ? unknownSymbol : ok(rowOf(market))
    }
    if (symbols === null) return ok(context.economy.spots('binance').map(rowOf))
    const named = namesOf(symbols)
    if (named === undefined) return bad(-1100, "Illegal characters found in parameter 'symbols'.")
    const markets = named.map((name) => find(context, name)).filter((market) => market !== undefined)
    return markets.length < named.length ? unknownSymbol : ok(markets.map(rowOf))
  }
}

function listed({ world, economy }: Context, query: URLSearchParams): RestReply {
  const info = exchangeInfo(economy.spots('binance'), world.nowMs)
  const wanted = query.has('symbol') ? [query.get('symbol') ?? ''] : namesOf(query.get('symbols') ?? '')
  const symbols = info.symbols.filter(({ symbol }) => wanted?.includes(symbol) ?? true)
  if (wanted !== undefined && symbols.length < wanted.length) return unknownSymbol
  const short = query.get('showPermissionSets') === 'false'
  return ok({ ...info, symbols: short ? symbols.map((row) => ({ ...row, permissionSets: [] })) : symbols })
}

/** From an id on, oldest first; without one the newest. */
function aggTrades({ world, economy }: Context, query: URLSearchParams): RestReply {
  const symbol = query.get('symbol')
  if (symbol === null) return noSymbol
  if (!economy.spots('binance').some((market) => market.symbol === symbol)) return unknownSymbol
  const [limit, fromId] = [whole(query, 'limit') ?? 500, whole(query, 'fromId')]
  if (!(limit >= 1) || Number.isNaN(fromId)) return badLimit
  const history = world.find('binance_spot', symbol)
  if (history === undefined) return ok([])
  const { rows, market } = history
  const count = Math.min(limit, TRADES_MAX)
  const from = fromId === undefined ? rows.end - count : rows.firstWithId(fromId)
  return ok(rows.read(from, from + count).map((trade) => tradeRow(market, trade)))
}

const TRADES_MAX = 1000

function klines(context: Context, query: URLSearchParams): RestReply {
  const { world } = context
  const symbol = query.get('symbol')
  if (symbol === null) return noSymbol
  const market = find(context, symbol)
  if (market === undefined) return unknownSymbol
  return candles(query, { nowMs: world.nowMs, most: CANDLES_MAX }, (span) =>
    spotCandlesOf(context, market, world.find('binance_spot', symbol), span).map((candle) =>
      klineRow(market, candle, span.intervalMs, eight),
    ),
  )
}

/** `["BTCUSDT","ETHUSDT"]`. */
function namesOf(text: string): string[] | undefined {
  return /^\["[^"\s]+"(?:,"[^"\s]+")*\]$/.test(text) ? text.slice(2, -2).split('","') : undefined
}

/** Spot writes all prices and sizes with 8 decimals. */
const DECIMALS = 8
/** Mean worth of a trade, for the counts that no trade stands behind. */
const TRADE_USD = 1_500
const FIRST_ID = 5_000_000_000

function text(value: number): string {
  return fixedNumber(value, DECIMALS)
}

/** On the pair's grid. */
function price({ priceDecimals }: SpotMarket, value: number): string {
  return text(Number(fixedNumber(value, priceDecimals)))
}

/** In whole lots. */
function size({ sizeDecimals }: SpotMarket, value: number): string {
  return text(Number(fixedNumber(value, sizeDecimals)))
}

interface Day {
  readonly change: number
  readonly changePct: string
  readonly average: string
  readonly count: number
  readonly firstId: number
  readonly lastId: number
  readonly lastSize: string
  readonly bidSize: string
  readonly askSize: string
}

/** Figures that follow from a pair's state; its trades are not simulated, so ids count with the time. */
function dayOf(market: SpotMarket, state: SpotState): Day {
  const change = state.last - state.open24h
  const count = Math.max(1, Math.round(state.quoteVolume24h / TRADE_USD))
  const lastId = FIRST_ID + Math.floor((state.time / 86_400_000_000) * count)
  const part = (share: number): string =>
    size(market, Math.max(10 ** -market.sizeDecimals, (share * state.volume24h) / count))
  return {
    change,
    changePct: fixedNumber((100 * change) / state.open24h, 3),
    average: price(market, state.quoteVolume24h / state.volume24h),
    count,
    firstId: lastId - count + 1,
    lastId,
    lastSize: part(0.7),
    bidSize: part(9),
    askSize: part(8),
  }
}

/** `<symbol>@aggTrade`: spot writes the symbol before the id. */
function tradeFrame(market: Market, trade: Trade, sentMs: number): string {
  const price = eight(trade.price, market.priceDecimals)
  const amount = eight(trade.size, market.sizeDecimals)
  return `{"e":"aggTrade","E":${sentMs},"s":"${market.symbol}","a":${trade.id},"p":"${price}","q":"${amount}","f":${trade.first},"l":${trade.last},"T":${msOf(trade.time)},"m":${!trade.buy},"M":true}`
}

/** The same in REST. */
function tradeRow(market: Market, trade: Trade): object {
  const [p, q] = [eight(trade.price, market.priceDecimals), eight(trade.size, market.sizeDecimals)]
  return { ...aggTradeRow(market, trade), p, q, M: true }
}

function eight(units: number | bigint, decimals: number): string {
  return fixedText(BigInt(units) * 10n ** BigInt(DECIMALS - decimals), DECIMALS)
}

/** `<symbol>@ticker`. */
function tickerFrame(market: SpotMarket, state: SpotState, sentMs: number): string {
  const day = dayOf(market, state)
  const open = price(market, state.open24h)
  return JSON.stringify({
    e: '24hrTicker',
    E: sentMs,
    s: market.symbol,
    p: price(market, day.change),
    P: day.changePct,
    w: day.average,
    x: open,
    c: price(market, state.last),
    Q: day.lastSize,
    b: price(market, state.bid),
    B: day.bidSize,
    a: price(market, state.ask),
    A: day.askSize,
    o: open,
    h: price(market, state.high24h),
    l: price(market, state.low24h),
    v: size(market, state.volume24h),
    q: text(state.quoteVolume24h),
    O: sentMs - 86_400_000,
    C: sentMs,
    F: day.firstId,
    L: day.lastId,
    n: day.count,
  })
}

function priceRow(market: SpotMarket, state: SpotState): object {
  return { symbol: market.symbol, price: price(market, state.last) }
}

/** `/api/v3/ticker/24hr`. */
function dayRow(market: SpotMarket, state: SpotState): object {
  const day = dayOf(market, state)
  const closeTime = Math.floor(state.time / 1000)
  return {
    symbol: market.symbol,
    priceChange: price(market, day.change),
    priceChangePercent: day.changePct,
    weightedAvgPrice: day.average,
    prevClosePrice: price(market, state.open24h),
    lastPrice: price(market, state.last),
    lastQty: day.lastSize,
    bidPrice: price(market, state.bid),
    bidQty: day.bidSize,
    askPrice: price(market, state.ask),
    askQty: day.askSize,
    openPrice: price(market, state.open24h),
    highPrice: price(market, state.high24h),
    lowPrice: price(market, state.low24h),
    volume: size(market, state.volume24h),
    quoteVolume: text(state.quoteVolume24h),
    openTime: closeTime - 86_400_000,
    closeTime,
    firstId: day.firstId,
    lastId: day.lastId,
    count: day.count,
  }
}

/** `/api/v3/exchangeInfo`: what trades, and some that a reader has to leave out. */
function exchangeInfo(markets: readonly SpotMarket[], nowMs: number) {
  return {
    timezone: 'UTC',
    serverTime: nowMs,
    rateLimits: [
      { rateLimitType: 'REQUEST_WEIGHT', interval: 'MINUTE', intervalNum: 1, limit: 6000 },
      { rateLimitType: 'RAW_REQUESTS', interval: 'MINUTE', intervalNum: 5, limit: 61_000 },
    ],
    exchangeFilters: [],
    symbols: listedRows(markets.map(symbolRow), ({ symbol }) => symbol, decoys),
  }
}

/** Other quotes, and what no longer trades. */
function decoys(first: Listed): Listed[] {
  return [
    { ...first, symbol: 'ETHBTC', baseAsset: 'ETH', quoteAsset: 'BTC' },
    { ...first, symbol: 'BTCUSDC', baseAsset: 'BTC', quoteAsset: 'USDC' },
    { ...first, symbol: 'BTCEUR', baseAsset: 'BTC', quoteAsset: 'EUR' },
    { ...first, symbol: 'MATICUSDT', baseAsset: 'MATIC', status: 'BREAK' },
    { ...first, symbol: 'TONUSDT', baseAsset: 'TON', status: 'BREAK' },
    { ...first, symbol: 'OLDUSDT', baseAsset: 'OLD', status: 'CANCEL_ONLY' },
  ]
}

type Listed = ReturnType<typeof symbolRow>

function symbolRow(market: SpotMarket) {
  const tick = fixedNumber(Number(powerText(-market.priceDecimals)), DECIMALS)
  const lot = fixedNumber(Number(powerText(-market.sizeDecimals)), DECIMALS)
  return {
    symbol: market.symbol,
    status: 'TRADING',
    baseAsset: market.base,
    baseAssetPrecision: 8,
    quoteAsset: market.quote as string,
    quotePrecision: 8,
    quoteAssetPrecision: 8,
    baseCommissionPrecision: 8,
    quoteCommissionPrecision: 8,
    orderTypes: ['LIMIT', 'LIMIT_MAKER', 'MARKET', 'STOP_LOSS_LIMIT', 'TAKE_PROFIT_LIMIT'],
    icebergAllowed: true,
    ocoAllowed: true,
    otoAllowed: true,
    quoteOrderQtyMarketAllowed: true,
    allowTrailingStop: true,
    cancelReplaceAllowed: true,
    isSpotTradingAllowed: true,
    isMarginTradingAllowed: true,
    filters: [
      { filterType: 'PRICE_FILTER', minPrice: tick, maxPrice: '1000000.00000000', tickSize: tick },
      { filterType: 'LOT_SIZE', minQty: lot, maxQty: '9000.00000000', stepSize: lot },
      { filterType: 'NOTIONAL', minNotional: '5.00000000', applyMinToMarket: true, maxNotional: '9000000.00000000' },
    ],
    permissions: [],
    permissionSets: [['SPOT', 'MARGIN']],
    defaultSelfTradePreventionMode: 'EXPIRE_MAKER',
    allowedSelfTradePreventionModes: ['EXPIRE_TAKER', 'EXPIRE_MAKER', 'EXPIRE_BOTH'],
  }
}
