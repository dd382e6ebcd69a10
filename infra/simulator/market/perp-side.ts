import type { PerpMarket, PerpState, SettledRate } from './economy.ts'
import type { ReferencePrices } from './reference-prices.ts'
import { type Market, simulatedMarkets } from './markets.ts'
import { intervalOf, settlementBefore } from './premium.ts'
import { Layers, streamOf, unitOf } from './random.ts'
import type { Micros } from './trade.ts'

const DAY: Micros = 86_400_000_000

/** Perpetuals: mark, index and last price, premium, running and settled rates. */
export class PerpSide {
  private readonly reference: ReferencePrices
  private readonly openInterest: (market: PerpMarket) => number

  constructor(reference: ReferencePrices, openInterest: (market: PerpMarket) => number) {
    this.reference = reference
    this.openInterest = openInterest
  }

  /** `prices`: as of when, where prices stand still while time goes on. */
  state(market: PerpMarket, now: Micros, prices = now): PerpState {
    const series = this.reference.premium(market)
    const index = this.reference.price(market.asset, prices)
    const premium = series.at(prices)
    const mark = index * (1 + premium)
    const settledAt = settlementBefore(now, market.intervalHours)
    const day = this.reference.day(market.asset, now)
    const open24h = day.open * (1 + series.at(now - DAY))
    const last = this.reference.last(market) ?? this.near(market, mark, prices)
    const volume24h = this.dayVolume(market, now)
    return {
      last,
      mark,
      index,
      premium,
      rate: series.rate(now),
      nextSettlement: settledAt + intervalOf(market.intervalHours),
      settledRate: series.settledAt(settledAt),
      settledAt,
      openInterest: this.openInterest(market),
      volume24h,
      quoteVolume24h: (volume24h * (open24h + last)) / 2,
      open24h,
      high24h: Math.max(day.high * (1 + premium), last, open24h),
      low24h: Math.min(day.low * (1 + premium), last, open24h),
      time: now,
    }
  }

  premiumAt(market: PerpMarket, time: Micros): number {
    return this.reference.premium(market).at(time)
  }

  markAt(market: PerpMarket, time: Micros): number {
    return this.indexAt(market, time) * (1 + this.premiumAt(market, time))
  }

  indexAt({ asset }: PerpMarket, time: Micros): number {
    return this.reference.bar(asset, time).open
  }

  /** Newest first, from before `before` on; the last one that has happened by `now`. */
  settlements(
    market: PerpMarket,
    { limit, before, now }: { limit: number; before: Micros | undefined; now: Micros },
  ): SettledRate[] {
    const series = this.reference.premium(market)
    const interval = intervalOf(market.intervalHours)
    const latest = settlementBefore(Math.min(now, (before ?? Number.POSITIVE_INFINITY) - 1), market.intervalHours)
    return Array.from({ length: Math.max(0, limit) }, (_, index) => {
      const time = latest - index * interval
      return { time, rate: series.settledAt(time), mark: this.markAt(market, time) }
    })
  }

  /** What does not trade has its last price on the grid. */
  private near(market: PerpMarket, mark: number, now: Micros): number {
    const places = market.priceDecimals + market.priceFactor
    const side = unitOf(this.reference.seed, streamOf(market.symbol), Math.floor(now / 1_000_000)) < 0.5 ? 0 : 1
    const ticks = Math.floor(Number(`${mark}e${places}`)) + side
    return Number(`${ticks}e${-places}`)
  }

  private dayVolume(market: PerpMarket, now: Micros): number {
    const own = tradedOf(market)
    if (own !== undefined) return this.reference.minutes.dayVolume(own, now)
    const like = likeOf(market)
    const dollars = like === undefined ? quietDollars(market) : 0.2 * this.reference.dollarsPerSecond(like) * 86_400
    return dollars / this.reference.price(market.asset, now)
  }
}

/** Dollars a day that a market of a made-up asset would trade. */
export function quietDollars({ asset, venue }: PerpMarket): number {
  return 10 ** (6 + 1.7 * unitOf(streamOf(asset), streamOf(venue), 9))
}

const tradedMarkets = new Map(simulatedMarkets.map((market) => [`${market.venue} ${market.symbol}`, market]))
const binance = new Map(
  simulatedMarkets.filter(({ venue }) => venue === 'binance').map((market) => [market.asset, market]),
)

/** The market whose trades are simulated, if there is one. */
export function tradedOf({ venue, symbol }: PerpMarket): Market | undefined {
  return tradedMarkets.get(`${venue} ${symbol}`)
}

/** The market of the same asset on Binance, whose size others are made like. */
export function likeOf({ asset }: PerpMarket): Market | undefined {
  return binance.get(asset)
}

const FIVE_MINUTES: Micros = 300_000_000

/** Long over short of top traders, by positions and by heads, for each five minutes; Bybit publishes none. */
export function topTradersOf(
  market: PerpMarket,
  seed: number,
): ((time: Micros) => { positions: number; accounts: number }) | undefined {
  if (market.venue === 'bybit') return undefined
  const swing = (kind: string): Layers =>
    new Layers(seed, streamOf(`${kind} ${market.venue} ${market.symbol}`), [
      [172_800, 0.15],
      [14_400, 0.06],
      [1_200, 0.01],
    ])
  const [positions, accounts] = [swing('positions'), swing('accounts')]
  const lean = unitOf(seed, streamOf(market.symbol), 5) - 0.3
  return (time) => {
    const start = Math.floor(time / FIVE_MINUTES) * FIVE_MINUTES
    return {
      positions: Math.exp(0.5 * lean + positions.at(start)),
      accounts: Math.exp(0.2 + 0.7 * lean + accounts.at(start)),
    }
  }
}
