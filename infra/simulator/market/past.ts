import type { Candle } from '../ledger/candles.ts'
import type { PastStretch } from './economy.ts'
import { ECHO_SHARE, isFurther, priceFactorOf } from './further.ts'
import { type Market, simulatedMarkets } from './markets.ts'
import { type Bar, MINUTE } from './premium.ts'
import { streamOf, unitOf } from './random.ts'
import type { ReferencePrices } from './reference-prices.ts'
import type { Micros } from './trade.ts'

const MINUTE_MS = 60_000
/** Venues have listed the markets for so long. */
const LISTED_MS = 400 * 86_400_000
/** How much of a minute takers buy: half of it, more the more the price rises, and by chance. */
const LEAN = 0.12
const RISE = 0.0007
const CHANCE = 0.16
/** How far a minute goes beyond its open and close at most. */
const WICK = 0.0003
const WICKS = streamOf('wicks')
/** Worth of an order, dollars. */
const ORDER_USD = 3_900

/**
 * What a market traded in the time of which no trades are kept: made of the asset's course, which ends at the market's
 * first price, minute by minute and when it is asked for. The same seed gives the same past.
 */
export class PastTrades {
  private readonly reference: ReferencePrices
  private readonly basis: (market: Market, time: Micros) => number

  constructor(reference: ReferencePrices, basis: (market: Market, time: Micros) => number) {
    this.reference = reference
    this.basis = basis
  }

  /** Oldest first; a candle that `untilMs` cuts has the minutes before it. `nowMs`: how far back is counted from it. */
  candles(market: Market, { intervalMs, fromMs, toMs, untilMs }: PastStretch, nowMs: number): Candle[] {
    const candles: Candle[] = []
    const first = Math.max(fromMs, nowMs - LISTED_MS)
    const end = Math.min(toMs, untilMs)
    for (let startMs = Math.ceil(first / intervalMs) * intervalMs; startMs < end; startMs += intervalMs) {
      candles.push(this.candle(market, startMs, Math.min(startMs + intervalMs, untilMs)))
    }
    return candles
  }

  private candle(market: Market, startMs: number, endMs: number): Candle {
    const whole = { open: 0, high: 0, low: Infinity, close: 0, buy: 0, sell: 0, buyQuote: 0, sellQuote: 0, count: 0 }
    const taker = streamOf(`taker ${market.venue} ${market.symbol}`)
    let before: number | undefined
    for (let time = startMs; time < endMs; time += MINUTE_MS) {
      const bar = this.bar(market.asset, time * 1000, before)
      before = bar.close
      const { open, high, low, close, buy, sell, count } = this.minute(market, time * 1000, bar, taker)
      if (time === startMs) whole.open = open
      whole.high = Math.max(whole.high, high)
      whole.low = Math.min(whole.low, low)
      whole.close = close
      whole.buy += buy
      whole.sell += sell
      whole.buyQuote += (buy * (open + close)) / 2
      whole.sellQuote += (sell * (open + close)) / 2
      whole.count += count
    }
    const [buyQuote, sellQuote] = [BigInt(Math.round(whole.buyQuote)), BigInt(Math.round(whole.sellQuote))]
    return { startMs, ...whole, buyQuote, sellQuote }
  }

  /** In tether dollars. `before`: the close of the minute before, where it is known. Wicks are made by chance. */
  private bar(asset: string, start: Micros, before: number | undefined): Bar {
    const { reference } = this
    if (start >= reference.origin.time) return reference.bar(asset, start)
    const open = before ?? reference.past(asset, start)
    const close = reference.past(asset, start + MINUTE)
    const wick = WICK * unitOf(reference.seed, WICKS, start / MINUTE)
    return { open, high: Math.max(open, close) * (1 + wick), low: Math.min(open, close) * (1 - wick), close }
  }

  /** In the market's whole units. */
  private minute(
    market: Market,
    start: Micros,
    bar: Bar,
    taker: number,
  ): Omit<Candle, 'startMs' | 'buyQuote' | 'sellQuote'> {
    const { minutes, seed } = this.reference
    const traded = tradedLike(market)
    const volume = minutes.volume(traded, start) * (traded === market ? 1 : ECHO_SHARE)
    const chance = unitOf(seed, taker, start / MINUTE) - 0.5
    const share = 0.5 + LEAN * Math.tanh((bar.close / bar.open - 1) / RISE) + CHANCE * chance
    const unit = 10 ** (market.priceDecimals + priceFactorOf(market)) * this.basis(traded, start)
    const size = Math.round(volume * 10 ** (market.sizeDecimals - market.factor))
    const buy = Math.round(size * share)
    return {
      open: Math.round(bar.open * unit),
      high: Math.round(bar.high * unit),
      low: Math.round(bar.low * unit),
      close: Math.round(bar.close * unit),
      buy,
      sell: size - buy,
      count: size === 0 ? 0 : 1 + Math.round((volume * bar.close) / ORDER_USD),
    }
  }
}

/** The market whose trades a further one follows: Binance's of the same asset. */
function tradedLike(market: Market): Market {
  if (!isFurther(market)) return market
  return simulatedMarkets.find(({ venue, asset }) => venue === 'binance' && asset === market.asset) ?? market
}
