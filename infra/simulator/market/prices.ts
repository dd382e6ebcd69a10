import { join } from 'node:path'
import { StepFile } from './files.ts'
import { assets, type Market, simulatedMarkets } from './markets.ts'
import { type Bar, MINUTE } from './premium.ts'
import { Layers, streamOf, unitOf } from './random.ts'
import type { Micros } from './trade.ts'

const YEAR_SECONDS = 31_557_600
/** Periods of the made-up past in seconds; each moves the price as a random walk of half that length would. */
const periods = [2_592_000, 604_800, 172_800, 43_200, 10_800, 2_700, 600, 120] as const

/** An asset's course in dollars before the market was first opened; of a made-up asset also after it. */
export class PricePath {
  private readonly own: Layers
  private readonly market: Layers
  private readonly beta: number
  private readonly start: number
  private readonly price: number

  /** The course goes through `price` at `time`. */
  constructor(
    seed: number,
    { asset, volatility, beta }: { asset: string; volatility: number; beta: number },
    { time, price }: { time: Micros; price: number },
  ) {
    const size = (share: number): (readonly [number, number])[] =>
      periods.map((period) => [period, share * Math.sqrt((0.35 * period) / YEAR_SECONDS)])
    this.own = new Layers(
      seed,
      streamOf(`price ${asset}`),
      size(Math.sqrt(Math.max(0.05, volatility ** 2 - (0.4 * beta) ** 2))),
    )
    this.market = new Layers(seed, streamOf('price of the market'), size(0.4))
    this.beta = beta
    this.price = price
    this.start = this.level(time)
  }

  at(time: Micros): number {
    return this.price * Math.exp(this.level(time) - this.start)
  }

  bar(start: Micros): Bar {
    const samples = [0, 0.25, 0.5, 0.75, 1].map((part) => this.at(start + part * MINUTE))
    const [open = 0, , , , close = 0] = samples
    return { open, high: Math.max(...samples), low: Math.min(...samples), close }
  }

  private level(time: Micros): number {
    return this.own.at(time) + this.beta * this.market.at(time)
  }
}

/** What a dollar coin costs in dollars, at any time. */
export class StablecoinRates {
  private readonly tether: Layers
  private readonly circle: Layers

  constructor(seed: number) {
    this.tether = new Layers(seed, streamOf('USDT'), [
      [86_400, 0.0002],
      [600, 0.000_15],
    ])
    this.circle = new Layers(seed, streamOf('USDC'), [[600, 0.000_04]])
  }

  usdt(time: Micros): number {
    return 1.0004 + this.tether.at(time)
  }

  usdc(time: Micros): number {
    return 1 + this.circle.at(time)
  }
}

const KEPT_MINUTES = 31 * 1440
const DAY_MINUTES = 1440
const BAR = ['open', 'high', 'low', 'close'] as const

/** Figures of the 24 hours before a minute. */
export interface Day {
  readonly open: number
  readonly high: number
  readonly low: number
}

interface MinutesOptions {
  readonly folder: string
  readonly seed: number
  readonly now: Micros
  /** The made-up past of each traded asset, through its price when the market was first opened. */
  readonly courses: ReadonlyMap<string, PricePath>
  /** Base units a minute that a market trades in the long run, for the made-up past. */
  readonly flow: (market: Market) => number
}

/**
 * Prices of the traded assets in tether dollars and what their markets traded, minute by minute: made of trades since
 * the market was first opened, made up before that.
 */
export class Minutes {
  private readonly file: StepFile
  private readonly options: MinutesOptions
  private readonly open = new Map<string, { open: number; high: number; low: number; close: number }>()
  private readonly volumes: number[] = simulatedMarkets.map(() => 0)
  /** Of the two minutes that were asked for last: a market that is paused is asked about its own time and about now. */
  private readonly days = new Map<string, readonly { readonly minute: number; readonly day: Day }[]>()
  private readonly sums = new Map<Market, { minute: number; sum: number }>()

  constructor(options: MinutesOptions) {
    this.options = options
    this.file = new StepFile(join(options.folder, 'minutes'), {
      width: assets.length * BAR.length + simulatedMarkets.length,
      from: Math.floor(options.now / MINUTE),
      kept: KEPT_MINUTES,
    })
    for (const [index, { asset }] of assets.entries()) {
      const last = this.file.at(this.file.end - 1, index * 4 + 3) ?? this.course(asset).at(this.file.first * MINUTE)
      this.open.set(asset, flat(last))
    }
    // The time that the process was not there has no trades.
    this.roll(options.now)
  }

  /** The newest price of a traded asset. */
  price(asset: string): number {
    return this.open.get(asset)?.close ?? 0
  }

  /** A trade at `price`, or a better idea of the price where `size` is 0. Base units. */
  add(market: Market, price: number, size: number): void {
    const bar = this.open.get(market.asset)
    if (bar === undefined) return
    bar.close = price
    bar.high = Math.max(bar.high, price)
    bar.low = Math.min(bar.low, price)
    const index = marketIndex.get(marketKey(market))
    if (index !== undefined) this.volumes[index] = (this.volumes[index] ?? 0) + size
  }

  /** Closes the minutes that ended by `now`. */
  roll(now: Micros): void {
    const minute = Math.floor(now / MINUTE)
    while (this.file.end < minute) {
      const bars = assets.flatMap(({ asset }) => {
        const bar = this.open.get(asset) ?? flat(0)
        this.open.set(asset, flat(bar.close))
        return BAR.map((name) => bar[name])
      })
      this.file.append([...bars, ...this.volumes])
      this.volumes.fill(0)
    }
  }

  /** The asset's minute that begins at `start`. */
  bar(asset: string, start: Micros): Bar {
    const step = Math.floor(start / MINUTE)
    if (step >= this.file.end) return this.open.get(asset) ?? flat(0)
    const index = assetIndex.get(asset)
    if (step < this.file.first || index === undefined) return this.course(asset).bar(start)
    const value = (column: number): number => this.file.at(step, index * 4 + column) ?? 0
    return { open: value(0), high: value(1), low: value(2), close: value(3) }
  }

  /** What the market traded in the minute that begins at `start`, base units. */
  volume(market: Market, start: Micros): number {
    const step = Math.floor(start / MINUTE)
    const index = marketIndex.get(marketKey(market)) ?? -1
    if (step >= this.file.end) return this.volumes[index] ?? 0
    if (step >= this.file.first) return this.file.at(step, assets.length * 4 + index) ?? 0
    const activity = unitOf(this.options.seed, streamOf(market.symbol), step)
    return this.options.flow(market) * (0.6 + 0.8 * activity)
  }

  /** Open, high and low of the asset's last 24 hours. */
  day(asset: string, now: Micros): Day {
    const minute = Math.floor(now / MINUTE)
    const known = this.days.get(asset) ?? []
    const day = known.find((one) => one.minute === minute)?.day ?? this.madeDay(asset, minute)
    this.days.set(asset, [{ minute, day }, ...known.filter((one) => one.minute !== minute).slice(0, 1)])
    const bar = this.open.get(asset) ?? flat(day.open)
    return { open: day.open, high: Math.max(day.high, bar.high), low: Math.min(day.low, bar.low) }
  }

  /** What the market traded in its last 24 hours, base units. */
  dayVolume(market: Market, now: Micros): number {
    const minute = Math.floor(now / MINUTE)
    let known = this.sums.get(market)
    if (known?.minute !== minute) {
      let sum = 0
      for (let step = minute - DAY_MINUTES; step < minute; step += 1) sum += this.volume(market, step * MINUTE)
      known = { minute, sum }
      this.sums.set(market, known)
    }
    return known.sum + this.volume(market, now)
  }

  close(): void {
    this.file.close()
  }

  private madeDay(asset: string, minute: number): Day {
    const first = this.bar(asset, (minute - DAY_MINUTES) * MINUTE)
    let { high, low } = first
    for (let step = minute - DAY_MINUTES + 1; step < minute; step += 1) {
      const bar = this.bar(asset, step * MINUTE)
      high = Math.max(high, bar.high)
      low = Math.min(low, bar.low)
    }
    return { open: first.open, high, low }
  }

  private course(asset: string): PricePath {
    const course = this.options.courses.get(asset)
    if (course === undefined) throw new Error(`no course of ${asset}`)
    return course
  }
}

const assetIndex = new Map(assets.map(({ asset }, index) => [asset, index]))
const marketIndex = new Map(simulatedMarkets.map((market, index) => [marketKey(market), index]))

function marketKey({ venue, symbol }: Market): string {
  return `${venue} ${symbol}`
}

function flat(price: number): { open: number; high: number; low: number; close: number } {
  return { open: price, high: price, low: price, close: price }
}
