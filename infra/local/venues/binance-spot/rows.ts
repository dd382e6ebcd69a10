import { fixedNumber } from '../amounts.ts'
import type { SpotMarket, SpotMinute, SpotState } from '../economy.ts'

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

/** `<symbol>@ticker`. */
export function tickerFrame(market: SpotMarket, state: SpotState, sentMs: number): string {
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

/** One of `!miniTicker@arr`. */
export function miniTicker(market: SpotMarket, state: SpotState, sentMs: number): object {
  return {
    e: '24hrMiniTicker',
    E: sentMs,
    s: market.symbol,
    c: price(market, state.last),
    o: price(market, state.open24h),
    h: price(market, state.high24h),
    l: price(market, state.low24h),
    v: size(market, state.volume24h),
    q: text(state.quoteVolume24h),
  }
}

export function priceRow(market: SpotMarket, state: SpotState): object {
  return { symbol: market.symbol, price: price(market, state.last) }
}

/** `/api/v3/ticker/24hr`. */
export function dayRow(market: SpotMarket, state: SpotState): object {
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

/** A candle of the minutes in it; takers bought half. */
export function klineRow(
  market: SpotMarket,
  minutes: readonly SpotMinute[],
  startMs: number,
  intervalMs: number,
): unknown[] {
  const volume = minutes.reduce((sum, minute) => sum + minute.volume, 0)
  const quote = minutes.reduce((sum, minute) => sum + (minute.volume * (minute.open + minute.close)) / 2, 0)
  return [
    startMs,
    price(market, minutes[0]?.open ?? 0),
    price(market, Math.max(...minutes.map(({ high }) => high))),
    price(market, Math.min(...minutes.map(({ low }) => low))),
    price(market, minutes.at(-1)?.close ?? 0),
    size(market, volume),
    startMs + intervalMs - 1,
    text(quote),
    Math.max(1, Math.round(quote / TRADE_USD)),
    size(market, volume / 2),
    text(quote / 2),
    '0',
  ]
}
