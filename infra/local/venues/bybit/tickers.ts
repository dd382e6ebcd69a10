import { fixedNumber, priceText, shortNumber, shortPrice, sizeText } from '../amounts.ts'
import type { PerpMarket, PerpState, SpotMarket, SpotState } from '../economy.ts'

/** Rates are shown with so many decimals. */
export const RATE_DECIMALS = 8

/** The fields of a perpetual's ticker that stream and REST share; all are text. */
export type LinearTicker = Readonly<Record<string, string>>

/**
 * `fundingRate` is the running rate for `nextFundingTime`; `openInterest` and its value count both sides, the `single`
 * ones one side.
 */
export function linearTicker(market: PerpMarket, state: PerpState): LinearTicker {
  const tick = Number(`1e${-market.priceDecimals - market.priceFactor}`)
  const up = state.last >= state.open24h
  return {
    symbol: market.symbol,
    tickDirection: up ? 'ZeroPlusTick' : 'ZeroMinusTick',
    price24hPcnt: fixedNumber(state.last / state.open24h - 1, 6),
    lastPrice: priceText(market, state.last),
    prevPrice24h: priceText(market, state.open24h),
    highPrice24h: priceText(market, state.high24h),
    lowPrice24h: priceText(market, state.low24h),
    prevPrice1h: priceText(market, state.last),
    markPrice: priceText(market, state.mark),
    indexPrice: priceText(market, state.index),
    openInterest: sizeText(market, 2 * state.openInterest),
    openInterestValue: fixedNumber(2 * state.openInterest * state.mark, 2),
    turnover24h: fixedNumber(state.quoteVolume24h, 4),
    volume24h: sizeText({ ...market, sizeDecimals: market.sizeDecimals + 1 }, state.volume24h),
    fundingIntervalHour: String(market.intervalHours),
    fundingCap: shortNumber(market.cap, RATE_DECIMALS),
    singleOpenInterest: sizeText(market, state.openInterest),
    singleOpenInterestValue: fixedNumber(state.openInterest * state.mark, 2),
    nextFundingTime: String(Math.floor(state.nextSettlement / 1000)),
    fundingRate: shortNumber(state.rate, RATE_DECIMALS),
    bid1Price: priceText(market, state.last - tick),
    bid1Size: sizeText(market, 1000 / state.last),
    ask1Price: priceText(market, state.last),
    ask1Size: sizeText(market, 2000 / state.last),
    preOpenPrice: '',
    preQty: '',
    curPreListingPhase: '',
  }
}

/** A row of REST: the same, and what only dated futures fill. */
export function linearRow(market: PerpMarket, state: PerpState): object {
  const { tickDirection: _tick, ...fields } = linearTicker(market, state)
  return {
    ...fields,
    predictedDeliveryPrice: '',
    basisRate: '',
    basisRateYear: '',
    basis: '',
    deliveryFeeRate: '',
    deliveryTime: '0',
  }
}

/** What has changed since, and whose it is; undefined where nothing has. */
export function changedFields(before: LinearTicker, now: LinearTicker): LinearTicker | undefined {
  const changed = Object.entries(now).filter(([name, value]) => before[name] !== value)
  return changed.length === 0 ? undefined : { symbol: now['symbol'] ?? '', ...Object.fromEntries(changed) }
}

/** Of the stream: without bid and ask, which only REST shows. `price24hPcnt` is a fraction. */
export function spotTicker(market: SpotMarket, state: SpotState): object {
  return {
    symbol: market.symbol,
    lastPrice: shortPrice(market, state.last),
    highPrice24h: shortPrice(market, state.high24h),
    lowPrice24h: shortPrice(market, state.low24h),
    prevPrice24h: shortPrice(market, state.open24h),
    volume24h: shortNumber(state.volume24h, market.sizeDecimals),
    turnover24h: shortNumber(state.quoteVolume24h, 6),
    price24hPcnt: shortNumber(state.last / state.open24h - 1, 4),
    usdIndexPrice: shortPrice({ ...market, priceDecimals: market.priceDecimals + 2 }, (state.bid + state.ask) / 2),
  }
}

/** A row of REST. */
export function spotRow(market: SpotMarket, state: SpotState): object {
  return {
    ...spotTicker(market, state),
    bid1Price: shortPrice(market, state.bid),
    bid1Size: shortNumber(1000 / state.bid, market.sizeDecimals),
    ask1Price: shortPrice(market, state.ask),
    ask1Size: shortNumber(2000 / state.ask, market.sizeDecimals),
  }
}
