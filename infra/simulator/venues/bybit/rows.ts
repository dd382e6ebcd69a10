import type { Candle } from '../../ledger/candles.ts'
import {
  fixedNumber,
  fixedText,
  powerText,
  priceText,
  type Scale,
  trimmedText,
  shortNumber,
  shortPrice,
  sizeText,
  msOf,
  uuidText,
} from '../../market/text.ts'
import type { PerpMarket, PerpState, SettledRate, SimLiquidation, SpotMarket, SpotState } from '../../market/economy.ts'
import type { Market } from '../../market/markets.ts'
import type { Trade } from '../../market/trade.ts'
import type { Priced, PriceCandle } from '../candles.ts'
import { listedRows } from '../rest.ts'

/** Rates are shown with so many decimals. */
const RATE_DECIMALS = 8

const directions: Readonly<Record<number, string>> = {
  2: 'PlusTick',
  1: 'ZeroPlusTick',
  [-1]: 'ZeroMinusTick',
  [-2]: 'MinusTick',
}

/** One publicTrade message; `S` is the taker's side, `v` base units (of a multiplied symbol, of 1000). */
export function publicTradeFrame(market: Market, trades: readonly Trade[], sentMs: number): string {
  const rows = trades.map((trade) => tradeText(market, trade)).join(',')
  return `{"topic":"publicTrade.${market.symbol}","type":"snapshot","ts":${sentMs},"data":[${rows}]}`
}

function tradeText(market: Market, trade: Trade): string {
  const { priceDecimals, sizeDecimals, symbol } = market
  return `{"T":${msOf(trade.time)},"s":"${symbol}","S":"${sideOf(trade)}","v":"${fixedText(trade.size, sizeDecimals)}","p":"${fixedText(trade.price, priceDecimals)}","L":"${directions[trade.direction] ?? 'PlusTick'}","i":"${idOf(trade)}","BT":${trade.block},"RPI":${trade.rpi},"seq":${trade.id}}`
}

/** The same trade in REST: other names, and numbers as text. */
export function recentTradeRow(market: Market, trade: Trade): object {
  return {
    execId: idOf(trade),
    symbol: market.symbol,
    price: fixedText(trade.price, market.priceDecimals),
    size: fixedText(trade.size, market.sizeDecimals),
    side: sideOf(trade),
    time: String(msOf(trade.time)),
    isBlockTrade: trade.block,
    isRPITrade: trade.rpi,
    seq: String(trade.id),
  }
}

function sideOf(trade: Trade): string {
  return trade.buy ? 'Buy' : 'Sell'
}

function idOf(trade: Trade): string {
  return uuidText(trade.uuid ?? [0, 0, 0, 0])
}

/** `S` is the side of the position, not of the order: Buy where a long was closed. `p` is the bankruptcy price. */
export function liquidationFrame(market: PerpMarket, liquidations: readonly SimLiquidation[], sentMs: number): string {
  const data = liquidations.map(({ time, side, size, bankruptcyPrice }) => ({
    T: msOf(time),
    s: market.symbol,
    S: side === 'long' ? 'Buy' : 'Sell',
    v: sizeText(market, size),
    p: priceText(market, bankruptcyPrice),
  }))
  return JSON.stringify({ topic: `allLiquidation.${market.symbol}`, type: 'snapshot', ts: sentMs, data })
}

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
    nextFundingTime: String(msOf(state.nextSettlement)),
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

/** `[start, open, high, low, close, volume, turnover]`, text. */
export function candleRow({ priceDecimals, sizeDecimals }: Scale, candle: Candle): string[] {
  const prices = [candle.open, candle.high, candle.low, candle.close].map((price) => fixedText(price, priceDecimals))
  const volume = trimmedText(candle.buy + candle.sell, sizeDecimals)
  const turnover = trimmedText(candle.buyQuote + candle.sellQuote, priceDecimals + sizeDecimals)
  return [String(candle.startMs), ...prices, volume, turnover]
}

export function settledRow(market: PerpMarket, { time, rate }: SettledRate): object {
  return {
    symbol: market.symbol,
    fundingRate: shortNumber(rate, RATE_DECIMALS),
    fundingRateTimestamp: String(msOf(time)),
  }
}

/** `[start, open, high, low, close]` of the mark or index price or the premium, text. */
export function priceRow(what: Priced, market: PerpMarket, { startMs, ...candle }: PriceCandle): string[] {
  const text = (value: number): string =>
    what === 'premium' ? fixedNumber(value, RATE_DECIMALS) : priceText(market, value)
  return [String(startMs), ...[candle.open, candle.high, candle.low, candle.close].map(text)]
}

/** "openInterest" counts both sides, "singleOpenInterest" one. */
export function openInterestRow(market: PerpMarket, { time, size }: { time: number; size: number }): object {
  const one = Number(sizeText(market, size))
  const text = (value: number): string => fixedNumber(value, OPEN_INTEREST_DECIMALS)
  return { openInterest: text(2 * one), singleOpenInterest: text(one), timestamp: String(msOf(time)) }
}

const OPEN_INTEREST_DECIMALS = 8

/** Shares of those who hold. */
export function accountRatioRow({ symbol }: PerpMarket, ratio: number, timeMs: number): object {
  const buyRatio = fixedNumber(ratio / (1 + ratio), 4)
  return { symbol, buyRatio, sellRatio: fixedNumber(1 - Number(buyRatio), 4), timestamp: String(timeMs) }
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

/** `instruments-info` of the linear category: what trades, and what a reader of crypto perpetuals has to leave out. */
export function instruments(markets: readonly PerpMarket[]): { symbol: string; status: string }[] {
  const dated = { contractType: 'LinearFutures', deliveryTime: '1798185600000', fundingInterval: 0 }
  return listedRows(
    markets.map(instrumentRow),
    ({ symbol }) => symbol,
    (first) => [
      { ...first, symbol: '1INCHUSDT', baseCoin: '1INCH' },
      { ...first, symbol: 'TSLAUSDT', baseCoin: 'TSLA', symbolType: 'stock' },
      { ...first, symbol: 'XAUUSDT', baseCoin: 'XAU', symbolType: 'commodity' },
      { ...first, symbol: 'BTCPERP', baseCoin: 'BTC', quoteCoin: 'USDC', settleCoin: 'USDC' },
      { ...first, symbol: 'BTCUSDT-25DEC26', baseCoin: 'BTC', ...dated },
      { ...first, symbol: 'TONUSDT', baseCoin: 'TON', status: 'Closed' },
    ],
  )
}

function instrumentRow(market: PerpMarket) {
  const lot = powerText(-market.sizeDecimals)
  // BTC is written with two decimals although its tick is 0.1.
  const tick = market.priceDecimals === 2 && market.asset === 'BTC' ? '0.10' : powerText(-market.priceDecimals)
  return {
    symbol: market.symbol,
    contractType: 'LinearPerpetual',
    status: 'Trading',
    baseCoin: market.symbol.replace(/USDT$/, ''),
    quoteCoin: 'USDT',
    launchTime: '1584230400000',
    deliveryTime: '0',
    deliveryFeeRate: '',
    priceScale: String(market.priceDecimals),
    leverageFilter: { minLeverage: '1', maxLeverage: fixedNumber(market.maxLeverage, 2), leverageStep: '0.01' },
    priceFilter: { minPrice: tick, maxPrice: '1999999.80', tickSize: tick },
    lotSizeFilter: {
      maxOrderQty: '1500.000',
      minOrderQty: lot,
      qtyStep: lot,
      postOnlyMaxOrderQty: '1500.000',
      maxMktOrderQty: '150.000',
      minNotionalValue: '5',
    },
    unifiedMarginTrade: true,
    fundingInterval: market.intervalHours * 60,
    settleCoin: 'USDT',
    copyTrading: 'both',
    upperFundingRate: shortNumber(market.cap, RATE_DECIMALS),
    lowerFundingRate: shortNumber(market.floor, RATE_DECIMALS),
    isPreListing: false,
    preListingInfo: null,
    riskParameters: { priceLimitRatioX: '0.01', priceLimitRatioY: '0.02' },
    displayName: '',
    symbolType: '',
    forbidUplWithdrawal: false,
    symbolId: 5,
  }
}

/** `instruments-info` of the spot category; it has no pages. */
export function spotInstruments(markets: readonly SpotMarket[]): { symbol: string; status: string }[] {
  return listedRows(
    markets.map(pairRow),
    ({ symbol }) => symbol,
    (first) => [
      { ...first, symbol: 'ETHBTC', baseCoin: 'ETH', quoteCoin: 'BTC' },
      { ...first, symbol: 'BTCEUR', baseCoin: 'BTC', quoteCoin: 'EUR' },
      { ...first, symbol: 'TSLAXUSDT', baseCoin: 'TSLAX', quoteCoin: 'USDT', symbolType: 'xstocks' },
      { ...first, symbol: 'BTC3LUSDT', baseCoin: 'BTC3L', quoteCoin: 'USDT', innovation: '1' },
    ],
  )
}

function pairRow(market: SpotMarket) {
  const lot = powerText(-market.sizeDecimals)
  return {
    symbolId: 9,
    symbol: market.symbol,
    baseCoin: market.base,
    quoteCoin: market.quote as string,
    innovation: '0',
    status: 'Trading',
    marginTrading: 'utaOnly',
    stTag: '0',
    lotSizeFilter: {
      basePrecision: lot,
      quotePrecision: '0.0000001',
      minOrderQty: lot,
      maxOrderQty: '230',
      minOrderAmt: '5',
      maxOrderAmt: '8000000',
      maxLimitOrderQty: '230',
      maxMarketOrderQty: '120',
      postOnlyMaxLimitOrderSize: '1150',
    },
    priceFilter: { tickSize: powerText(-market.priceDecimals) },
    riskParameters: { priceLimitRatioX: '0.005', priceLimitRatioY: '0.01' },
    symbolType: '',
    xstockMultiplier: '1',
  }
}

/** Whether a symbol trades by its venue's word, whether anything is ever said of it or not. */
export function isTrading(rows: readonly { symbol: string; status: string }[], wanted: string | null): boolean {
  return rows.some(({ symbol, status }) => symbol === wanted && status === 'Trading')
}
