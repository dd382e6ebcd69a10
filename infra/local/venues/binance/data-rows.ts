import { fixedNumber, priceText, sizeText } from '../amounts.ts'
import type { PerpMarket, PerpMinute, PerpState, SettledRate, SimLiquidation } from '../economy.ts'
import type { Trade } from '../trade.ts'

const PRICE_DECIMALS = 8
const RATE_DECIMALS = 8
/** Interest of 8 hours, whatever the interval. */
const INTEREST = '0.00010000'
/** Order books' samples of a minute. */
const SAMPLES = 12

/** A price of one base unit as this symbol counts it, with as many decimals as index and mark prices have. */
function longPrice(market: PerpMarket, price: number): string {
  return fixedNumber(Number(`${price.toPrecision(15)}e${market.priceFactor}`), PRICE_DECIMALS)
}

function ms(micros: number): number {
  return Math.floor(micros / 1000)
}

/** `/fapi/v1/premiumIndex`: `lastFundingRate` is the running rate. */
export function premiumIndexRow(market: PerpMarket, state: PerpState): object {
  return {
    symbol: market.symbol,
    markPrice: longPrice(market, state.mark),
    indexPrice: longPrice(market, state.index),
    estimatedSettlePrice: longPrice(market, (state.index + state.mark) / 2),
    lastFundingRate: fixedNumber(state.rate, RATE_DECIMALS),
    interestRate: INTEREST,
    nextFundingTime: ms(state.nextSettlement),
    time: ms(state.time),
  }
}

/** `markPriceUpdate`, with the fields of October 2026. */
export function markPriceFrame(market: PerpMarket, state: PerpState, sentMs: number): string {
  const [mark, index] = [longPrice(market, state.mark), longPrice(market, state.index)]
  const settle = longPrice(market, (state.index + state.mark) / 2)
  const rate = fixedNumber(state.rate, RATE_DECIMALS)
  return `{"e":"markPriceUpdate","E":${sentMs},"s":"${market.symbol}","p":"${mark}","ap":"${mark}","P":"${settle}","i":"${index}","r":"${rate}","T":${ms(state.nextSettlement)},"st":1}`
}

/** The order that closed a position: `p` is its limit, the bankruptcy price, `ap` what it was filled at. */
export function forceOrderFrame(market: PerpMarket, liquidation: SimLiquidation, sentMs: number): string {
  const size = sizeText(market, liquidation.size)
  const side = liquidation.side === 'long' ? 'SELL' : 'BUY'
  const [limit, filled] = [priceText(market, liquidation.bankruptcyPrice), priceText(market, liquidation.fillPrice)]
  return `{"e":"forceOrder","E":${sentMs},"o":{"s":"${market.symbol}","S":"${side}","o":"LIMIT","f":"IOC","q":"${size}","p":"${limit}","ap":"${filled}","X":"FILLED","l":"${size}","z":"${size}","T":${ms(liquidation.time)},"ps":"${market.symbol}","st":1}}`
}

/** `/fapi/v1/fundingRate`. Settlements are some milliseconds late. */
export function fundingRateRow(market: PerpMarket, settled: SettledRate) {
  return {
    symbol: market.symbol,
    fundingTime: settlementMs(market.symbol, settled.time),
    fundingRate: fixedNumber(settled.rate, RATE_DECIMALS),
    markPrice: longPrice(market, settled.mark),
    rateType: 'Regular',
  }
}

/** When a symbol's settlement is done: up to 6 ms after its time. */
export function settlementMs(symbol: string, time: number): number {
  let sum = Math.floor(time / 3_600_000_000)
  for (let index = 0; index < symbol.length; index += 1) sum = (sum * 31 + symbol.charCodeAt(index)) % 9973
  return ms(time) + (sum % 7)
}

export function fundingInfoRow(market: PerpMarket): object {
  return {
    symbol: market.symbol,
    adjustedFundingRateCap: fixedNumber(market.cap, RATE_DECIMALS),
    adjustedFundingRateFloor: fixedNumber(market.floor, RATE_DECIMALS),
    fundingIntervalHours: market.intervalHours,
    disclaimer: false,
    updateTime: 1_752_854_309_429,
  }
}

/** A candle of the premium index; a column counts its samples. */
export function premiumRow(minutes: readonly PerpMinute[], startMs: number, intervalMs: number): unknown[] {
  return candleRow(
    minutes.map(({ premium }) => premium),
    startMs,
    { intervalMs, samples: SAMPLES * minutes.length },
  )
}

/** A candle of the mark price. */
export function markRow(
  market: PerpMarket,
  minutes: readonly PerpMinute[],
  startMs: number,
  intervalMs: number,
): unknown[] {
  const scale = 10 ** market.priceFactor
  const bars = minutes.map(({ mark: { open, high, low, close } }) => ({
    open: open * scale,
    high: high * scale,
    low: low * scale,
    close: close * scale,
  }))
  return candleRow(bars, startMs, { intervalMs, samples: 60 * minutes.length })
}

function candleRow(
  bars: readonly PerpMinute['mark'][],
  startMs: number,
  { intervalMs, samples }: { intervalMs: number; samples: number },
): unknown[] {
  const prices = [
    bars[0]?.open ?? 0,
    Math.max(...bars.map(({ high }) => high)),
    Math.min(...bars.map(({ low }) => low)),
    bars.at(-1)?.close ?? 0,
  ]
  const texts = prices.map((price) => fixedNumber(price, PRICE_DECIMALS))
  return [startMs, ...texts, '0', startMs + intervalMs - 1, '0', samples, '0', '0', '0']
}

export function openInterestRow(market: PerpMarket, state: PerpState): object {
  return { symbol: market.symbol, openInterest: sizeText(market, state.openInterest), time: ms(state.time) }
}

/** `size`: base units; `mark`: of one. */
export function openInterestHistRow(market: PerpMarket, row: { time: number; size: number }, mark: number): object {
  return {
    symbol: market.symbol,
    sumOpenInterest: fixedNumber(Number(sizeText(market, row.size)), 8),
    sumOpenInterestValue: fixedNumber(row.size * mark, 8),
    CMCCirculatingSupply: '20070287.00000000',
    timestamp: ms(row.time),
  }
}

/** Shares of long and short, whatever their names say. */
export function ratioRow(market: PerpMarket, ratio: number, time: number): object {
  return {
    symbol: market.symbol,
    longAccount: fixedNumber(ratio / (1 + ratio), 4),
    longShortRatio: fixedNumber(ratio, 4),
    shortAccount: fixedNumber(1 - Number(fixedNumber(ratio / (1 + ratio), 4)), 4),
    timestamp: ms(time),
  }
}

/** `/fapi/v1/ticker/24hr`. */
export function dayRow(market: PerpMarket, state: PerpState, newest: Trade | undefined): object {
  const change = state.last - state.open24h
  const time = ms(state.time)
  const [lastId, count] = [newest?.last ?? 0, Math.round(state.quoteVolume24h / 3_000)]
  return {
    symbol: market.symbol,
    priceChange: priceText(market, change),
    priceChangePercent: fixedNumber((100 * change) / state.open24h, 3),
    weightedAvgPrice: priceText(market, state.quoteVolume24h / state.volume24h),
    lastPrice: priceText(market, state.last),
    lastQty: sizeText(market, (newest?.size ?? 1) * 10 ** (market.factor - market.sizeDecimals)),
    openPrice: priceText(market, state.open24h),
    highPrice: priceText(market, state.high24h),
    lowPrice: priceText(market, state.low24h),
    volume: sizeText(market, state.volume24h),
    quoteVolume: fixedNumber(state.quoteVolume24h, 2),
    openTime: Math.floor(time / 60_000) * 60_000 - 86_400_000,
    closeTime: time,
    firstId: Math.max(0, lastId - count + 1),
    lastId,
    count,
  }
}
