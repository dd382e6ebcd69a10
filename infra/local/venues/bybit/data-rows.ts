import { fixedNumber, priceText, shortNumber, sizeText } from '../amounts.ts'
import type { PerpMarket, PerpMinute, SettledRate, SpotMarket, SpotMinute } from '../economy.ts'
import type { Micros } from '../trade.ts'
import { RATE_DECIMALS } from './tickers.ts'

/** Open, high, low, close. */
export interface Ohlc {
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/** Which of a minute's series a price candle shows, and how its numbers are written. */
export const minuteSeries = {
  '/v5/market/premium-index-price-kline': {
    of: (minute: PerpMinute): Ohlc => minute.premium,
    text: (_market: PerpMarket, value: number) => fixedNumber(value, RATE_DECIMALS),
  },
  '/v5/market/mark-price-kline': { of: (minute: PerpMinute): Ohlc => minute.mark, text: priceText },
  '/v5/market/index-price-kline': { of: indexOf, text: priceText },
} as const

export type MinutePath = keyof typeof minuteSeries

export function isMinutePath(path: string): path is MinutePath {
  return Object.hasOwn(minuteSeries, path)
}

/** The index is the mark without its premium, near enough for a candle. */
function indexOf({ mark, premium }: PerpMinute): Ohlc {
  const [open, close] = [mark.open / (1 + premium.open), mark.close / (1 + premium.close)]
  return { open, close, high: Math.max(open, close), low: Math.min(open, close) }
}

/** A price candle: `[start, open, high, low, close]`, text. */
export function minuteRow(
  startMs: number,
  { open, high, low, close }: Ohlc,
  text: (value: number) => string,
): string[] {
  return [String(startMs), ...[open, high, low, close].map(text)]
}

/** `[start, open, high, low, close, volume, turnover]`, text. */
export function spotCandleRow(market: SpotMarket, minute: SpotMinute): string[] {
  const { start, open, high, low, close, volume } = minute
  const prices = [open, high, low, close].map((price) => priceText(market, price))
  return [
    String(Math.floor(start / 1000)),
    ...prices,
    shortNumber(volume, market.sizeDecimals),
    shortNumber(volume * close, 6),
  ]
}

export function settledRow(market: PerpMarket, { time, rate }: SettledRate): object {
  return {
    symbol: market.symbol,
    fundingRate: shortNumber(rate, RATE_DECIMALS),
    fundingRateTimestamp: String(Math.floor(time / 1000)),
  }
}

/** `openInterest` counts both sides. */
export function openInterestRow(market: PerpMarket, { time, size }: { time: Micros; size: number }): object {
  const eight = { ...market, sizeDecimals: 8 }
  return {
    openInterest: sizeText(eight, 2 * size),
    singleOpenInterest: sizeText(eight, size),
    timestamp: String(Math.floor(time / 1000)),
  }
}

/** The tiers of one symbol; `mmDeduction` keeps the margin continuous from tier to tier. */
export function riskLimitRows(market: PerpMarket, firstId: number): object[] {
  let deduction = 0
  return market.tiers.map(({ upTo, rate }, index) => {
    const below = market.tiers[index - 1]
    if (below !== undefined) deduction += below.upTo * (rate - below.rate)
    const initial = Math.max(1 / market.maxLeverage, 2 * rate)
    return {
      id: firstId + index,
      symbol: market.symbol,
      riskLimitValue: shortNumber(Number.isFinite(upTo) ? upTo : 10 * (below?.upTo ?? 1_000_000), 0),
      maintenanceMargin: shortNumber(rate, RATE_DECIMALS),
      initialMargin: shortNumber(initial, RATE_DECIMALS),
      isLowestRisk: index === 0 ? 1 : 0,
      maxLeverage: fixedNumber(1 / initial, 2),
      mmDeduction: index === 0 ? '' : shortNumber(deduction, 4),
    }
  })
}

/** Shares of all holders, long and short. No top traders: this venue does not single them out. */
export function accountRatioRow(market: PerpMarket, startMs: number): object {
  const buy = 0.5 + 0.18 * Math.sin(startMs / 7_200_000 + market.symbol.length)
  const shown = Math.round(buy * 10_000)
  return {
    symbol: market.symbol,
    buyRatio: fixedNumber(shown / 10_000, 4),
    sellRatio: fixedNumber((10_000 - shown) / 10_000, 4),
    timestamp: String(startMs),
  }
}
