import type { Micros } from '../trade.ts'
import { Layers, streamOf } from './noise.ts'
import { MINUTE, type Bar } from './premium.ts'

const YEAR_SECONDS = 31_557_600
/** Periods of the made-up past in seconds; each moves the price as a random walk of half that length would. */
const periods = [2_592_000, 604_800, 172_800, 43_200, 10_800, 2_700, 600, 120] as const

/** An asset's course in dollars before the market was first opened; of a made-up asset also after it. */
export class Course {
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
export class Coins {
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
