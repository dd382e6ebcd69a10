import type { Candle } from '../../ledger/candles.ts'
import {
  fixedNumber,
  powerText,
  type Scale,
  shortNumber,
  shortPrice,
  shortSize,
  trimmedText,
  msOf,
} from '../../market/text.ts'
import type { PerpMarket, PerpState, SettledRate, SimLiquidation, SpotMarket, SpotState } from '../../market/economy.ts'
import type { Market } from '../../market/markets.ts'
import type { Micros, Trade } from '../../market/trade.ts'
import type { PriceCandle } from '../candles.ts'
import { listedRows } from '../rest.ts'

/** `trades-all`: one message for each single trade. `sz` counts contracts, `side` is the taker's. */
export function tradesAllFrame(market: Market, trade: Trade): string {
  return `{"arg":{"channel":"trades-all","instId":"${market.symbol}"},"data":[{${fieldsOf(market, trade, trade.size)},"source":"${trade.rpi ? 1 : 0}"}]}`
}

/** `trades`: one message for what one taker order filled at one price; `tradeId` is the last of the merged ids. */
export function tradesFrame(market: Market, merged: readonly Trade[]): string {
  const last = merged.at(-1)
  if (last === undefined) return ''
  const size = merged.reduce((sum, trade) => sum + trade.size, 0)
  return `{"arg":{"channel":"trades","instId":"${market.symbol}"},"data":[{${fieldsOf(market, last, size)},"count":"${merged.length}","source":"${last.rpi ? 1 : 0}","seqId":${last.sequence}}]}`
}

/** Neighbours that one taker order filled at one price. */
export function mergeable(left: Trade, right: Trade): boolean {
  return left.time === right.time && left.price === right.price && left.buy === right.buy && left.rpi === right.rpi
}

/** A row of the REST pages. */
export function tradeRow(market: Market, trade: Trade): object {
  return {
    instId: market.symbol,
    side: trade.buy ? 'buy' : 'sell',
    sz: trimmedText(trade.size, market.sizeDecimals),
    source: trade.rpi ? '1' : '0',
    px: trimmedText(trade.price, market.priceDecimals),
    tradeId: String(trade.id),
    ts: msText(trade.time),
  }
}

function fieldsOf(market: Market, trade: Trade, size: number): string {
  const price = trimmedText(trade.price, market.priceDecimals)
  return `"instId":"${market.symbol}","tradeId":"${trade.id}","px":"${price}","sz":"${trimmedText(size, market.sizeDecimals)}","side":"${trade.buy ? 'buy' : 'sell'}","ts":"${msText(trade.time)}"`
}

/** Rates are shown with so many decimals. */
const RATE_DECIMALS = 16
/** For so long after a settlement it is not yet paid out. */
const PROCESSING: Micros = 5_000_000

export type Row = Readonly<Record<string, string>>

/** `vol24h` counts the base currency, `volCcy24h` the quote currency. */
export function spotTickerRow(market: SpotMarket, state: SpotState): Row {
  const size = (value: number): string => shortNumber(value, market.sizeDecimals)
  return {
    instType: 'SPOT',
    instId: market.symbol,
    last: shortPrice(market, state.last),
    lastSz: size(100 / state.last),
    askPx: shortPrice(market, state.ask),
    askSz: size(2000 / state.ask),
    bidPx: shortPrice(market, state.bid),
    bidSz: size(1000 / state.bid),
    ...dayRow(market, state),
    volCcy24h: shortNumber(state.quoteVolume24h, 6),
    vol24h: size(state.volume24h),
    ts: msText(state.time),
  }
}

/** `vol24h` counts contracts, `volCcy24h` the base currency. */
export function swapTickerRow(market: PerpMarket, state: PerpState): Row {
  const tick = Number(`1e${-market.priceDecimals - market.priceFactor}`)
  return {
    instType: 'SWAP',
    instId: market.symbol,
    last: shortPrice(market, state.last),
    lastSz: shortSize(market, 100 / state.last),
    askPx: shortPrice(market, state.last),
    askSz: shortSize(market, 2000 / state.last),
    bidPx: shortPrice(market, state.last - tick),
    bidSz: shortSize(market, 1000 / state.last),
    ...dayRow(market, state),
    volCcy24h: shortNumber(state.volume24h, 4),
    vol24h: shortSize(market, state.volume24h),
    ts: msText(state.time),
  }
}

function dayRow(market: SpotMarket | PerpMarket, state: SpotState | PerpState): Row {
  const open = shortPrice(market, state.open24h)
  return {
    open24h: open,
    high24h: shortPrice(market, state.high24h),
    low24h: shortPrice(market, state.low24h),
    sodUtc0: open,
    sodUtc8: open,
  }
}

export function markRow(market: PerpMarket, state: PerpState): Row {
  return { instId: market.symbol, instType: 'SWAP', markPx: shortPrice(market, state.mark), ts: msText(state.time) }
}

/** Indices have names of their own: BTC-USDT. */
export function indexRow(market: PerpMarket, state: PerpState): Row {
  const { open24h, high24h, low24h, sodUtc0 = '', sodUtc8 = '' } = dayRow(market, state)
  return {
    instId: familyOf(market),
    idxPx: shortPrice(market, state.index),
    high24h: high24h ?? '',
    sodUtc0,
    open24h: open24h ?? '',
    low24h: low24h ?? '',
    sodUtc8,
    ts: msText(state.time),
  }
}

/** `oi` counts contracts, `oiCcy` the base currency; one side. */
export function openInterestRow(market: PerpMarket, state: PerpState): Row {
  return {
    instId: market.symbol,
    instType: 'SWAP',
    oi: shortSize(market, state.openInterest),
    oiCcy: shortNumber(state.openInterest, 8),
    oiUsd: shortNumber(state.openInterest * state.mark, 6),
    ts: msText(state.time),
  }
}

/** `fundingTime` is the coming settlement and `fundingRate` the running rate for it; `premium` is of this moment. */
export function fundingRow(market: PerpMarket, state: PerpState): Row {
  const interval = market.intervalHours * 3_600_000_000
  return {
    formulaType: 'withRate',
    fundingRate: rateText(state.rate),
    fundingTime: msText(state.nextSettlement),
    impactValue: '20000.0000000000000000',
    instId: market.symbol,
    instType: 'SWAP',
    interestRate: rateText((0.0003 * market.intervalHours) / 24),
    maxFundingRate: shortNumber(market.cap, RATE_DECIMALS),
    method: 'current_period',
    minFundingRate: shortNumber(market.floor, RATE_DECIMALS),
    nextFundingRate: '',
    nextFundingTime: msText(state.nextSettlement + interval),
    premium: rateText(state.premium),
    prevFundingTime: msText(state.settledAt),
    settFundingRate: rateText(state.settledRate),
    settState: state.time - state.settledAt < PROCESSING ? 'processing' : 'settled',
    ts: msText(state.time),
  }
}

export function settledRow(market: PerpMarket, { time, rate }: SettledRate): Row {
  return {
    fundingRate: rateText(rate),
    fundingTime: msText(time),
    realizedRate: rateText(rate),
    method: 'current_period',
    formulaType: 'withRate',
    instId: market.symbol,
    instType: 'SWAP',
  }
}

/** `[ts, open, high, low, close, confirm]` of the mark price. */
export function markCandleRow(market: PerpMarket, candle: PriceCandle, closed: boolean): string[] {
  const prices = [candle.open, candle.high, candle.low, candle.close].map((price) => shortPrice(market, price))
  return [String(candle.startMs), ...prices, closed ? '1' : '0']
}

/** `[ts, sold, bought]`, contracts. */
export function takerRow({ sizeDecimals }: Market, { startMs, sell, buy }: Candle): string[] {
  return [String(startMs), trimmedText(sell, sizeDecimals), trimmedText(buy, sizeDecimals)]
}

/** `[ts, contracts, coins, dollars]`. */
export function interestRow(market: PerpMarket, row: { time: Micros; size: number }, mark: number): string[] {
  const { time, size } = row
  return [msText(time), shortSize(market, size), shortNumber(size, 8), shortNumber(size * mark, 6)]
}

export function premiumRow(market: PerpMarket, time: Micros, premium: number): Row {
  return { instId: market.symbol, premium: rateText(premium), ts: msText(time) }
}

/** `side` is that of the order that closes the position; `bkPx` the bankruptcy price, `sz` counts contracts. */
export function liquidationRow(market: PerpMarket, liquidations: readonly SimLiquidation[]): object {
  const details = liquidations.map(({ time, side, size, bankruptcyPrice }) => ({
    bkLoss: '0',
    bkPx: shortPrice(market, bankruptcyPrice),
    ccy: '',
    posSide: side,
    side: side === 'long' ? 'sell' : 'buy',
    sz: shortSize(market, size),
    ts: msText(time),
  }))
  const instFamily = familyOf(market)
  return { details, instFamily, instId: market.symbol, instType: 'SWAP', uly: instFamily }
}

/** `[ts, open, high, low, close, contracts, base, quote, confirm]`. */
export function candleRow(market: Scale, candle: Candle, closed: boolean): string[] {
  const { priceDecimals, sizeDecimals, factor = 0 } = market
  const prices = [candle.open, candle.high, candle.low, candle.close].map((price) => trimmedText(price, priceDecimals))
  const contracts = candle.buy + candle.sell
  const quote = trimmedText(candle.buyQuote + candle.sellQuote, priceDecimals + sizeDecimals - factor)
  const volumes = [trimmedText(contracts, sizeDecimals), trimmedText(contracts, sizeDecimals - factor), quote]
  return [String(candle.startMs), ...prices, ...volumes, closed ? '1' : '0']
}

/** BTC-USDT of BTC-USDT-SWAP. */
export function familyOf({ symbol }: PerpMarket): string {
  return symbol.replace(/-SWAP$/, '')
}

function msText(time: Micros): string {
  return String(msOf(time))
}

function rateText(rate: number): string {
  return fixedNumber(rate, RATE_DECIMALS)
}

/** `public/instruments`: the swaps that trade, and what a reader of crypto swaps in USDT has to leave out. */
export function instruments(
  markets: readonly PerpMarket[],
  type: string,
): { instId: string; instFamily: string; state: string }[] {
  const [btc] = markets
  if (btc === undefined) return []
  const swap = instrumentRow(btc)
  const like = (instFamily: string, more: object): ReturnType<typeof instrumentRow> => {
    const [ctValCcy = '', settleCcy = ''] = instFamily.split('-')
    return { ...swap, instId: `${instFamily}-SWAP`, instFamily, uly: instFamily, ctValCcy, settleCcy, ...more }
  }
  if (type === 'FUTURES') {
    const dated = { instType: 'FUTURES', expTime: '1798185600000', alias: 'quarter' }
    return [like('BTC-USDT', { instId: 'BTC-USDT-261225', ...dated })]
  }
  if (type !== 'SWAP') return []
  return listedRows(
    markets.map(instrumentRow),
    ({ instId }) => instId,
    () => [
      like('1INCH-USDT', { ctVal: '1' }),
      like('BTC-USD', { ctVal: '100', ctType: 'inverse', ctValCcy: 'USD', settleCcy: 'BTC' }),
      like('BTC-USDC', { ctVal: '0.0001' }),
      like('TSLA-USDT', { ctVal: '0.1', instCategory: '3' }),
      like('TON-USDT', { ctVal: '1', state: 'suspend' }),
      like('FRESH-USDT', { ctVal: '1', state: 'preopen' }),
    ],
  )
}

/** A contract is worth `ctVal` of `ctValCcy`; `baseCcy` is empty for swaps, as the venue has it. */
function instrumentRow(market: PerpMarket) {
  const family = familyOf(market)
  const lot = powerText(-market.sizeDecimals)
  return {
    alias: '',
    auctionEndTime: '',
    baseCcy: '',
    category: '1',
    contTdSwTime: '',
    ctMult: '1',
    ctType: 'linear',
    ctVal: powerText(market.factor),
    ctValCcy: market.base,
    expTime: '',
    futureSettlement: false,
    groupId: '1',
    instCategory: '1',
    instFamily: family,
    instId: market.symbol,
    instType: 'SWAP',
    lever: shortNumber(market.maxLeverage, 2),
    listTime: '1573557408000',
    lotSz: lot,
    maxIcebergSz: '100000000.0000000000000000',
    maxLmtAmt: '20000000',
    maxLmtSz: '100000000',
    maxMktAmt: '',
    maxMktSz: '35000',
    maxStopSz: '35000',
    maxTriggerSz: '100000000.0000000000000000',
    maxTwapSz: '100000000.0000000000000000',
    minSz: lot,
    openType: '',
    optType: '',
    posLmtAmt: '250000000',
    posLmtPct: '30',
    quoteCcy: '',
    ruleType: 'normal',
    settleCcy: 'USDT',
    state: 'live',
    stk: '',
    tickSz: powerText(-market.priceDecimals),
    tradeQuoteCcyList: [],
    uly: family,
  }
}

/** `public/instruments` of the type SPOT. */
export function spotInstruments(markets: readonly SpotMarket[], like: PerpMarket): { instId: string; state: string }[] {
  const pair = (baseCcy: string, quoteCcy: string, more: object = {}): ReturnType<typeof instrumentRow> => {
    const none = { ctMult: '', ctType: '', ctVal: '', ctValCcy: '', instFamily: '', settleCcy: '', uly: '' }
    return {
      ...instrumentRow(like),
      ...none,
      instType: 'SPOT',
      instId: `${baseCcy}-${quoteCcy}`,
      baseCcy,
      quoteCcy,
      ...more,
    }
  }
  const listed = markets.map(({ base, quote, priceDecimals, sizeDecimals }) => {
    const lot = powerText(-sizeDecimals)
    return pair(base, quote, { tickSz: powerText(-priceDecimals), lotSz: lot, minSz: lot })
  })
  return listedRows(
    listed,
    ({ instId }) => instId,
    () => [
      pair('ETH', 'BTC'),
      pair('BTC', 'EUR'),
      pair('TON', 'USDT', { state: 'suspend' }),
      pair('FRESH', 'USDT', { state: 'preopen' }),
    ],
  )
}

/** A swap of which anything may be asked, whether anything is ever said of it or not. */
export function isLive(markets: readonly PerpMarket[], instId: string): boolean {
  return instruments(markets, 'SWAP').some((row) => row.instId === instId && row.state === 'live')
}
