import { fixedNumber, shortNumber, shortPrice, shortSize } from '../amounts.ts'
import type { PerpMarket, PerpState, SettledRate, SpotMarket, SpotMinute, SpotState } from '../economy.ts'
import type { Micros } from '../trade.ts'

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

export function premiumRow(market: PerpMarket, time: Micros, premium: number): Row {
  return { instId: market.symbol, premium: rateText(premium), ts: msText(time) }
}

/** `[ts, contracts, base, dollars]`. */
export function openInterestHistoryRow(market: PerpMarket, time: Micros, size: number, price: number): string[] {
  return [msText(time), shortSize(market, size), shortNumber(size, 8), shortNumber(size * price, 6)]
}

/** Tiers in contracts, so in round ones: what a contract is worth changes all the time. */
export function tierRows(market: PerpMarket, price: number): Row[] {
  const contracts = (notional: number): number => {
    if (!Number.isFinite(notional)) return 10 * contracts(market.tiers.at(-2)?.upTo ?? 1_000_000)
    return Number((notional / price / Number(`1e${market.factor}`)).toPrecision(1))
  }
  return market.tiers.map(({ upTo, rate }, index) => {
    const initial = Math.max(1 / market.maxLeverage, 2 * rate)
    const below = market.tiers[index - 1]
    return {
      baseMaxLoan: '',
      imr: shortNumber(initial, 8),
      instFamily: familyOf(market),
      instId: '',
      maxLever: shortNumber(1 / initial, 2),
      maxSz: shortNumber(contracts(upTo), 2),
      minSz: below === undefined ? '0' : shortNumber(contracts(below.upTo) + 1, 2),
      mmr: shortNumber(rate, 8),
      optMgnFactor: '0',
      quoteMaxLoan: '',
      tier: String(index + 1),
      uly: familyOf(market),
    }
  })
}

/** `[ts, open, high, low, close, base, base, quote, confirm]` of a spot pair. */
export function spotCandleRow(market: SpotMarket, minute: SpotMinute, closed: boolean): string[] {
  const { start, open, high, low, close, volume } = minute
  const prices = [open, high, low, close].map((price) => shortPrice(market, price))
  const base = shortNumber(volume, market.sizeDecimals)
  return [msText(start), ...prices, base, base, shortNumber(volume * close, 6), closed ? '1' : '0']
}

/** BTC-USDT of BTC-USDT-SWAP. */
export function familyOf({ symbol }: PerpMarket): string {
  return symbol.replace(/-SWAP$/, '')
}

export function msText(time: Micros): string {
  return String(Math.floor(time / 1000))
}

function rateText(rate: number): string {
  return fixedNumber(rate, RATE_DECIMALS)
}
