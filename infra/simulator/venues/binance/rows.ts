import type { Candle } from '../../ledger/candles.ts'
import { fixedNumber, fixedText, powerText, priceText, type Scale, sizeText, msOf } from '../../market/text.ts'
import type { PerpMarket, PerpState, SettledRate, SimLiquidation } from '../../market/economy.ts'
import type { Market } from '../../market/markets.ts'
import type { Trade } from '../../market/trade.ts'
import type { Priced, PriceCandle } from '../candles.ts'
import { listedRows } from '../rest.ts'

const PRICE_DECIMALS = 8
const RATE_DECIMALS = 8
/** Interest of 8 hours, whatever the interval. */
const INTEREST = '0.00010000'

/**
 * One aggregate trade of the USD-M stream: field order and types as recorded in October 2026. `m`: the buyer was the
 * maker, so the taker sold. `nq` leaves out retail price improvement fills, `q` does not.
 */
export function aggTradeFrame(market: Market, trade: Trade, sentMs: number): string {
  const price = fixedText(trade.price, market.priceDecimals)
  const size = fixedText(trade.size, market.sizeDecimals)
  const normal = trade.rpi ? fixedText(0, market.sizeDecimals) : size
  const time = msOf(trade.time)
  return `{"e":"aggTrade","E":${sentMs},"a":${trade.id},"s":"${market.symbol}","p":"${price}","q":"${size}","nq":"${normal}","f":${trade.first},"l":${trade.last},"T":${time},"m":${!trade.buy},"st":1}`
}

/** The same trade in REST, where it has no `nq`. */
export function aggTradeRow(market: Market, trade: Trade): object {
  return {
    a: trade.id,
    p: fixedText(trade.price, market.priceDecimals),
    q: fixedText(trade.size, market.sizeDecimals),
    f: trade.first,
    l: trade.last,
    T: msOf(trade.time),
    m: !trade.buy,
  }
}

/**
 * The raw trades that an aggregate merges, as the undocumented `@trade` stream of `/public` has them: equal parts, the
 * last one takes the rest.
 */
export function rawTradeFrames(market: Market, trade: Trade, sentMs: number): string[] {
  const fills = Math.min(trade.last - trade.first + 1, trade.size)
  const part = Math.floor(trade.size / fills)
  return Array.from({ length: fills }, (_, index) => {
    const size = index === fills - 1 ? trade.size - part * (fills - 1) : part
    const price = fixedText(trade.price, market.priceDecimals)
    return `{"e":"trade","E":${sentMs},"T":${msOf(trade.time)},"s":"${market.symbol}","t":${trade.first + index},"p":"${price}","q":"${fixedText(size, market.sizeDecimals)}","X":"${trade.rpi ? 'RPI' : 'MARKET'}","m":${!trade.buy}}`
  })
}

/** Open time, prices, volume, close time, quote volume, trades, what takers bought of both, and a field without use. */
export function klineRow(
  { priceDecimals, sizeDecimals }: Scale,
  candle: Candle,
  intervalMs: number,
  text: (units: number | bigint, decimals: number) => string = fixedText,
): unknown[] {
  const quoteDecimals = priceDecimals + sizeDecimals
  return [
    candle.startMs,
    ...[candle.open, candle.high, candle.low, candle.close].map((price) => text(price, priceDecimals)),
    text(candle.buy + candle.sell, sizeDecimals),
    candle.startMs + intervalMs - 1,
    text(candle.buyQuote + candle.sellQuote, quoteDecimals),
    candle.count,
    text(candle.buy, sizeDecimals),
    text(candle.buyQuote, quoteDecimals),
    '0',
  ]
}

/** A price of one base unit as this symbol counts it, with as many decimals as index and mark prices have. */
function longPrice(market: PerpMarket, price: number): string {
  return fixedNumber(Number(`${price.toPrecision(15)}e${market.priceFactor}`), PRICE_DECIMALS)
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
    nextFundingTime: msOf(state.nextSettlement),
    time: msOf(state.time),
  }
}

/** `markPriceUpdate`, with the fields of October 2026. */
export function markPriceFrame(market: PerpMarket, state: PerpState, sentMs: number): string {
  const [mark, index] = [longPrice(market, state.mark), longPrice(market, state.index)]
  const settle = longPrice(market, (state.index + state.mark) / 2)
  const rate = fixedNumber(state.rate, RATE_DECIMALS)
  return `{"e":"markPriceUpdate","E":${sentMs},"s":"${market.symbol}","p":"${mark}","ap":"${mark}","P":"${settle}","i":"${index}","r":"${rate}","T":${msOf(state.nextSettlement)},"st":1}`
}

/** The order that closed a position: `p` is its limit, the bankruptcy price, `ap` what it was filled at. */
export function forceOrderFrame(market: PerpMarket, liquidation: SimLiquidation, sentMs: number): string {
  const size = sizeText(market, liquidation.size)
  const side = liquidation.side === 'long' ? 'SELL' : 'BUY'
  const [limit, filled] = [priceText(market, liquidation.bankruptcyPrice), priceText(market, liquidation.fillPrice)]
  return `{"e":"forceOrder","E":${sentMs},"o":{"s":"${market.symbol}","S":"${side}","o":"LIMIT","f":"IOC","q":"${size}","p":"${limit}","ap":"${filled}","X":"FILLED","l":"${size}","z":"${size}","T":${msOf(liquidation.time)},"ps":"${market.symbol}","st":1}}`
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
  return msOf(time) + (sum % 7)
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

/** A candle of the mark or index price or the premium; a column counts its samples, those of the premium by the book's. */
export function priceRow(
  what: Priced,
  market: PerpMarket,
  { startMs, ...candle }: PriceCandle,
  intervalMs: number,
): unknown[] {
  const text = (value: number): string =>
    what === 'premium' ? fixedNumber(value, PRICE_DECIMALS) : longPrice(market, value)
  const texts = [candle.open, candle.high, candle.low, candle.close].map(text)
  const samples = intervalMs / (what === 'premium' ? 5_000 : 1_000)
  return [startMs, ...texts, '0', startMs + intervalMs - 1, '0', samples, '0', '0', '0']
}

export function openInterestRow(market: PerpMarket, state: PerpState): object {
  return { symbol: market.symbol, openInterest: sizeText(market, state.openInterest), time: msOf(state.time) }
}

/** `size`: base units; `mark`: of one. */
export function openInterestHistRow(market: PerpMarket, row: { time: number; size: number }, mark: number): object {
  return {
    symbol: market.symbol,
    sumOpenInterest: fixedNumber(Number(sizeText(market, row.size)), 8),
    sumOpenInterestValue: fixedNumber(row.size * mark, 8),
    CMCCirculatingSupply: '20070287.00000000',
    timestamp: msOf(row.time),
  }
}

/** Shares of long and short, whatever their names say. */
export function ratioRow(market: PerpMarket, ratio: number, time: number): object {
  return {
    symbol: market.symbol,
    longAccount: fixedNumber(ratio / (1 + ratio), 4),
    longShortRatio: fixedNumber(ratio, 4),
    shortAccount: fixedNumber(1 - Number(fixedNumber(ratio / (1 + ratio), 4)), 4),
    timestamp: msOf(time),
  }
}

/** `/fapi/v1/exchangeInfo`: what trades, and some that a reader has to leave out. */
export function exchangeInfo(markets: readonly PerpMarket[], nowMs: number): object {
  return {
    timezone: 'UTC',
    serverTime: nowMs,
    futuresType: 'U_MARGINED',
    rateLimits: [
      { rateLimitType: 'REQUEST_WEIGHT', interval: 'MINUTE', intervalNum: 1, limit: 2400 },
      { rateLimitType: 'ORDERS', interval: 'MINUTE', intervalNum: 1, limit: 1200 },
    ],
    exchangeFilters: [],
    assets: [{ asset: 'USDT', marginAvailable: true, autoAssetExchange: '-10000' }],
    symbols: symbols(markets),
  }
}

/** A perpetual in tether dollars that is listed as trading, whether anything is ever said of it or not. */
export function isListed(markets: readonly PerpMarket[], symbol: string): boolean {
  return symbols(markets).some((listed) => {
    return listed.symbol === symbol && listed.status === 'TRADING' && listed.contractType === 'PERPETUAL'
  })
}

function symbols(markets: readonly PerpMarket[]): Listed[] {
  return listedRows(markets.map(instrumentRow), ({ symbol }) => symbol, decoys)
}

/** Listed, but not for us: a name with digits, a stock, a delisted one, a dated future, another quote. */
function decoys(first: Listed): Listed[] {
  const like = (symbol: string, baseAsset: string): Listed => ({ ...first, symbol, pair: symbol, baseAsset })
  const dated = { pair: 'BTCUSDT', contractType: 'CURRENT_QUARTER', deliveryDate: 1_798_185_600_000 }
  return [
    like('1INCHUSDT', '1INCH'),
    { ...like('TSLAUSDT', 'TSLA'), contractType: 'TRADIFI_PERPETUAL', underlyingType: 'EQUITY' },
    { ...like('XAUUSDT', 'XAU'), contractType: 'TRADIFI_PERPETUAL', underlyingType: 'COMMODITY' },
    { ...like('TONUSDT', 'TON'), status: 'SETTLING' },
    { ...like('MATICUSDT', 'MATIC'), status: 'SETTLING' },
    { ...like('BTCUSDT_261225', 'BTC'), ...dated },
    { ...like('BTCUSDC', 'BTC'), quoteAsset: 'USDC', marginAsset: 'USDC' },
  ]
}

type Listed = ReturnType<typeof instrumentRow>

function instrumentRow(market: PerpMarket) {
  const lot = powerText(-market.sizeDecimals)
  // BTC is written with two decimals although its tick is 0.1.
  const tick = market.priceDecimals === 2 && market.asset === 'BTC' ? '0.10' : powerText(-market.priceDecimals)
  return {
    symbol: market.symbol,
    pair: market.symbol,
    contractType: 'PERPETUAL',
    deliveryDate: 4_133_404_800_000,
    onboardDate: 1_569_398_400_000,
    status: 'TRADING',
    maintMarginPercent: '2.5000',
    requiredMarginPercent: '5.0000',
    baseAsset: market.symbol.replace(/USDT$/, ''),
    quoteAsset: 'USDT',
    marginAsset: 'USDT',
    pricePrecision: market.priceDecimals,
    quantityPrecision: market.sizeDecimals,
    baseAssetPrecision: 8,
    quotePrecision: 8,
    underlyingType: 'COIN',
    underlyingSubType: ['PoW'],
    triggerProtect: '0.0500',
    liquidationFee: '0.012500',
    marketTakeBound: '0.05',
    maxMoveOrderLimit: 10_000,
    filters: [
      { filterType: 'PRICE_FILTER', minPrice: tick, maxPrice: '4529764', tickSize: tick },
      { filterType: 'LOT_SIZE', minQty: lot, maxQty: '1000', stepSize: lot },
      { filterType: 'MARKET_LOT_SIZE', minQty: lot, maxQty: '120', stepSize: lot },
      { filterType: 'MAX_NUM_ORDERS', limit: 200 },
      { filterType: 'MAX_NUM_ALGO_ORDERS', limit: 10 },
      { filterType: 'MIN_NOTIONAL', notional: '5' },
      { filterType: 'PERCENT_PRICE', multiplierUp: '1.0500', multiplierDown: '0.9500', multiplierDecimal: '4' },
    ],
    orderTypes: ['LIMIT', 'MARKET', 'STOP', 'STOP_MARKET', 'TAKE_PROFIT', 'TAKE_PROFIT_MARKET', 'TRAILING_STOP_MARKET'],
    timeInForce: ['GTC', 'IOC', 'FOK', 'GTX', 'GTD'],
    permissionSets: ['GRID', 'COPY'],
  }
}
