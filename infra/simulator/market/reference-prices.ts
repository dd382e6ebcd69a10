import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fillerOf } from './catalogue.ts'
import type { PerpMarket } from './economy.ts'
import { assets, type Market, simulatedMarkets } from './markets.ts'
import { RECORDS_PER_ORDER } from './model.ts'
import { type Bar, Premium } from './premium.ts'
import { StablecoinRates, PricePath, type Day, Minutes } from './prices.ts'
import type { Micros, Trade } from './trade.ts'

export interface ReferencePricesOptions {
  /** What must go on after a restart lives below it. */
  readonly folder: string
  readonly seed: number
  /** Trades a second of the simulated market. */
  readonly rate: number
  readonly now: Micros
  /** Newest trades, where the market has some already. */
  readonly newest: readonly { readonly market: Market; readonly trade: Trade }[]
}

const QUIET_VOLATILITY = 1
const HOUR: Micros = 3_600_000_000

/** What everything else is made of: each asset's price in tether dollars and each perpetual's premium, at any time. */
export class ReferencePrices {
  readonly origin: Origin
  readonly coins: StablecoinRates
  readonly minutes: Minutes
  private readonly rate: number
  private readonly courses = new Map<string, PricePath>()
  private readonly premiums = new Map<string, Premium>()
  private readonly lasts = new Map<string, number>()
  private readonly days = new Map<string, { hour: number; day: Day }>()

  constructor({ folder, seed, rate, now, newest }: ReferencePricesOptions) {
    mkdirSync(folder, { recursive: true })
    const prices = new Map(newest.map(({ market, trade }) => [market.asset, basePrice(market, trade)]))
    const first = assets.map(({ asset, price }) => [asset, prices.get(asset) ?? price] as const)
    this.origin = originOf(folder, { seed, time: now, prices: Object.fromEntries(first) })
    this.rate = rate
    this.coins = new StablecoinRates(this.origin.seed)
    const courses = new Map(assets.map(({ asset }) => [asset, this.course(asset)]))
    this.minutes = new Minutes({
      folder,
      seed: this.origin.seed,
      now,
      courses,
      flow: (market) => (60 * this.dollarsPerSecond(market)) / (this.origin.prices[market.asset] ?? 1),
    })
  }

  get seed(): number {
    return this.origin.seed
  }

  /** A market's price says what its asset is worth in tether dollars. `basis`: of the market at that time. */
  see(market: Market, trade: Trade, { basis, size }: { basis: number; size: number }): void {
    const price = basePrice(market, trade)
    this.lasts.set(`${market.venue} ${market.symbol}`, price)
    this.minutes.add(market, price / basis, size)
  }

  /** The price of a market's newest trade, for one base unit, if it has traded. */
  last({ venue, symbol }: { venue: string; symbol: string }): number | undefined {
    return this.lasts.get(`${venue} ${symbol}`)
  }

  /** Of one base unit: the newest of a traded asset whatever `time` is, the course of another. */
  price(asset: string, time: Micros): number {
    return traded.has(asset) ? this.minutes.price(asset) : this.course(asset).at(time)
  }

  /** The course alone, also of a traded asset: its price before the market was first opened. */
  past(asset: string, time: Micros): number {
    return this.course(asset).at(time)
  }

  /** The minute that begins at `start`. */
  bar(asset: string, start: Micros): Bar {
    return traded.has(asset) ? this.minutes.bar(asset, start) : this.course(asset).bar(start)
  }

  /** The last 24 hours; of an asset that does not trade, hour by hour. */
  day(asset: string, now: Micros): Day {
    if (traded.has(asset)) return this.minutes.day(asset, now)
    const hour = Math.floor(now / HOUR)
    const known = this.days.get(asset)
    if (known?.hour === hour) return known.day
    const course = this.course(asset)
    const prices = Array.from({ length: 25 }, (_, index) => course.at((hour - 24 + index) * HOUR))
    const day = { open: prices[0] ?? 0, high: Math.max(...prices), low: Math.min(...prices) }
    this.days.set(asset, { hour, day })
    return day
  }

  premium(market: PerpMarket): Premium {
    const key = `${market.venue} ${market.symbol} ${market.intervalHours}`
    const known = this.premiums.get(key)
    if (known !== undefined) return known
    const volatility = rows.get(market.asset)?.volatility ?? QUIET_VOLATILITY
    const premium = new Premium(market, this.seed, { volatility, wild: !traded.has(market.asset) })
    this.premiums.set(key, premium)
    return premium
  }

  /** Dollars a second that a market trades in the long run. */
  dollarsPerSecond(market: Market): number {
    return dollarsPerSecond(market, this.rate)
  }

  close(): void {
    this.minutes.close()
  }

  private course(asset: string): PricePath {
    const known = this.courses.get(asset)
    if (known !== undefined) return known
    const row = rows.get(asset)
    const about = row ?? { asset, volatility: QUIET_VOLATILITY, beta: 1 }
    const price = this.origin.prices[asset] ?? row?.price ?? fillerOf(asset).price
    const course = new PricePath(this.seed, about, { time: this.origin.time, price })
    this.courses.set(asset, course)
    return course
  }
}

/** Price of one base unit: a contract's price is that of one on OKX, a multiplied symbol's that of 1000 units. */
function basePrice(market: Market, { price }: Trade): number {
  return Number(`${price}e${-market.priceDecimals - (market.venue === 'okx' ? 0 : market.factor)}`)
}

const rows = new Map(assets.map((row) => [row.asset, row]))
const traded: ReadonlySet<string> = new Set(rows.keys())

/** When a data folder's market was first opened, and the prices then: where its made-up past ends. */
interface Origin {
  readonly seed: number
  readonly time: Micros
  readonly prices: Readonly<Record<string, number>>
}

/** The folder's own origin; `fresh` becomes it where there is none. A past keeps the seed it was made with. */
function originOf(folder: string, fresh: Origin): Origin {
  const file = join(folder, 'origin.json')
  // Written by this function alone.
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Origin
  writeFileSync(file, JSON.stringify(fresh))
  return fresh
}

/** Mean worth of a taker order in a book of depth 10, dollars: the sizes that `order.ts` draws. */
const MEAN_ORDER_USD = 3_900
const STREAMED = new Set(['BTC', 'ETH', 'SOL', 'XRP', 'BNB', 'DOGE', 'LINK', 'ARB'])

const depths = new Map(assets.map(({ asset, weight }) => [asset, weight]))
const weights = simulatedMarkets.reduce((sum, { asset, weight }) => sum + (STREAMED.has(asset) ? weight : 0), 0)

/** Dollars a second that a market trades in the long run at `rate` trades a second of the whole market. */
export function dollarsPerSecond(market: Market, rate: number): number {
  const orders = ((market.weight / weights) * rate) / RECORDS_PER_ORDER
  return orders * MEAN_ORDER_USD * Math.sqrt(Math.max(0.05, (depths.get(market.asset) ?? 1) / 10))
}
