import { fixedNumber, powerText, priceText, shortNumber } from '../amounts.ts'
import type { SpotMarket, SpotMinute, SpotState } from '../economy.ts'
import type { Micros } from '../trade.ts'
import { assetCode, slashName, socketName } from './names.ts'

const LOT_DECIMALS = 8

/** Data of the `ticker` channel: JSON numbers with all of their decimals, so they are written as text here. */
export function tickerData(market: SpotMarket, state: SpotState): string {
  const price = (value: number): string => priceText(market, value)
  const size = (value: number): string => fixedNumber(value, LOT_DECIMALS)
  const mean = state.volume24h === 0 ? state.last : state.quoteVolume24h / state.volume24h
  const change = fixedNumber((state.last / state.open24h - 1) * 100, 2)
  return `{"symbol":"${socketName(market)}","bid":${price(state.bid)},"bid_qty":${size(1000 / state.bid)},"ask":${price(state.ask)},"ask_qty":${size(2000 / state.ask)},"last":${price(state.last)},"volume":${size(state.volume24h)},"vwap":${price(mean)},"low":${price(state.low24h)},"high":${price(state.high24h)},"change":${price(state.last - state.open24h)},"change_pct":${change},"timestamp":"${timeText(state.time)}"}`
}

/** A pair of `Ticker`: prices with five decimals at least; pairs of figures are of today and of 24 hours. */
export function tickerRow(market: SpotMarket, state: SpotState): object {
  const decimals = Math.max(5, market.priceDecimals)
  const price = (value: number): string => fixedNumber(value, decimals)
  const twice = (text: string): string[] => [text, text]
  const lots = (value: number): string[] => {
    const whole = Math.max(1, Math.round(value))
    return [String(whole), `${whole}.000`]
  }
  const mean = state.volume24h === 0 ? state.last : state.quoteVolume24h / state.volume24h
  const trades = Math.max(1, Math.round(state.quoteVolume24h / 4000))
  return {
    a: [price(state.ask), ...lots(2000 / state.ask)],
    b: [price(state.bid), ...lots(1000 / state.bid)],
    c: [price(state.last), fixedNumber(100 / state.last, LOT_DECIMALS)],
    v: twice(fixedNumber(state.volume24h, LOT_DECIMALS)),
    p: twice(price(mean)),
    t: [trades, trades],
    l: twice(price(state.low24h)),
    h: twice(price(state.high24h)),
    o: price(state.open24h),
  }
}

/** `[time in seconds, open, high, low, close, vwap, volume, count]`. */
export function candleRow(market: SpotMarket, minute: SpotMinute): (string | number)[] {
  const { start, open, high, low, close, volume } = minute
  const prices = [open, high, low, close].map((price) => priceText(market, price))
  const mean = volume === 0 ? '0.0' : priceText(market, (high + low + close) / 3)
  const count = volume === 0 ? 0 : Math.max(1, Math.round((volume * close) / 4000))
  return [start / 1_000_000, ...prices, mean, fixedNumber(volume, LOT_DECIMALS), count]
}

const fees = [
  [0, 0.4],
  [10_000, 0.35],
  [10_000_000, 0.1],
]

/** A pair of `AssetPairs`. */
export function pairRow(market: SpotMarket): PairRow {
  const tick = powerText(-market.priceDecimals)
  return {
    altname: market.symbol,
    wsname: slashName(market),
    aclass_base: 'currency',
    base: assetCode(market.base),
    aclass_quote: 'currency',
    quote: assetCode(market.quote),
    lot: 'unit',
    cost_decimals: 5,
    pair_decimals: market.priceDecimals,
    lot_decimals: LOT_DECIMALS,
    lot_multiplier: 1,
    leverage_buy: [2, 3, 4, 5],
    leverage_sell: [2, 3, 4, 5],
    fees,
    fees_maker: fees,
    fee_volume_currency: 'ZUSD',
    margin_call: 80,
    margin_stop: 40,
    ordermin: shortNumber(0.00005, LOT_DECIMALS),
    costmin: '0.5',
    tick_size: tick,
    status: 'online',
    long_position_limit: 80,
    short_position_limit: 80,
  }
}

export interface PairRow {
  readonly altname: string
  readonly status: string
  readonly [field: string]: unknown
}

/** RFC 3339 with microseconds. */
export function timeText(time: Micros): string {
  const date = new Date(Math.floor(time / 1000)).toISOString()
  return `${date.slice(0, -1)}${String(Math.floor(time % 1000)).padStart(3, '0')}Z`
}
