import type { PerpMarket, PerpVenueName } from './economy.ts'
import { Layers, streamOf, unitOf } from './random.ts'
import type { Micros } from './trade.ts'

export const MINUTE: Micros = 60_000_000
const SETTLED_KEPT = 4_000

/** How far premiums go from their long mean, and back: period in seconds, size as a fraction. */
const shared = [
  [259_200, 0.0003],
  [28_800, 0.0003],
  [2_400, 0.0002],
  [120, 0.000_08],
] as const
const own = [
  [28_800, 0.0001],
  [600, 0.000_05],
] as const

/** Of made-up assets, of which there may be many: only what moves slowly. */
const quiet = shared.slice(0, 3)
const quietOwn = own.slice(0, 1)

/** Prices of a minute. */
export interface Bar {
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/** The premium index of one perpetual at any time, past or present, and the rates that follow from it. */
export class Premium {
  private readonly market: PerpMarket
  private readonly asset: Layers
  private readonly venue: Layers
  private readonly mean: number
  private readonly scale: number
  private readonly settled = new Map<Micros, number>()
  private running = { since: Number.NaN, until: Number.NaN, mean: new WeightedMean() }

  /** `volatility`: of the asset, a year. `wild`: a made-up asset, some of which have extreme premiums. */
  constructor(market: PerpMarket, seed: number, { volatility, wild }: { volatility: number; wild: boolean }) {
    const stream = streamOf(market.asset)
    this.market = market
    this.asset = new Layers(seed, stream, wild ? quiet : shared)
    this.venue = new Layers(seed, streamOf(`${market.venue} ${market.symbol}`), wild ? quietOwn : own)
    this.scale = 0.5 + volatility
    const [draw, far] = [unitOf(seed, stream, 1), unitOf(seed, stream, 2)]
    const extreme = wild && far < 0.12
    this.mean = extreme ? (draw < 0.5 ? -1 : 1) * (0.002 + 0.01 * unitOf(seed, stream, 3)) : draw * 0.0006 - 0.0002
  }

  at(time: Micros): number {
    return this.mean + this.scale * (this.asset.at(time) + this.venue.at(time))
  }

  /** The venue's running rate at `now`: its formula over the closed minutes since the last settlement. */
  rate(now: Micros): number {
    const since = settlementBefore(now, this.market.intervalHours)
    const until = Math.floor(now / MINUTE) * MINUTE
    if (this.running.since !== since || this.running.until > until) {
      this.running = { since, until: since, mean: new WeightedMean() }
    }
    for (; this.running.until < until; this.running.until += MINUTE) {
      this.running.mean.add(this.at(this.running.until + MINUTE))
    }
    return rateOf(this.running.mean.value ?? this.at(now), this.market)
  }

  /** The rate that was settled at `time`, over the whole interval before it. */
  settledAt(time: Micros): number {
    const known = this.settled.get(time)
    if (known !== undefined) return known
    const mean = new WeightedMean()
    const since = time - intervalOf(this.market.intervalHours)
    for (let start = since; start < time; start += MINUTE) mean.add(this.at(start + MINUTE))
    const rate = rateOf(mean.value ?? 0, this.market)
    if (this.settled.size >= SETTLED_KEPT) this.settled.clear()
    this.settled.set(time, rate)
    return rate
  }
}

const HOUR: Micros = 3_600_000_000
/** "clamp(I - P, -0.05%, +0.05%)". */
const INTEREST_PULL = 0.0005

export interface RateTerms {
  readonly venue: PerpVenueName
  readonly intervalHours: number
  readonly cap: number
  readonly floor: number
}

/**
 * An interval's rate from its average premium, both fractions. Binance's interest is 0.01 % for 8 hours and the sum is
 * divided by 8 / N; the others take 0.03 % a day and do not divide.
 */
export function rateOf(premium: number, { venue, intervalHours, cap, floor }: RateTerms): number {
  const interest = venue === 'binance' ? 0.0001 : 0.0003 / (24 / intervalHours)
  const rate = premium + clamp(interest - premium, -INTEREST_PULL, INTEREST_PULL)
  return clamp(venue === 'binance' ? rate / (8 / intervalHours) : rate, floor, cap)
}

/** Average in which the i-th sample since the last settlement counts i times; undefined without a sample. */
export class WeightedMean {
  private count = 0
  private weights = 0
  private sum = 0

  add(premium: number): void {
    this.count += 1
    this.weights += this.count
    this.sum += this.count * premium
  }

  get value(): number | undefined {
    return this.count === 0 ? undefined : this.sum / this.weights
  }
}

/** The settlement at or before `time`: intervals begin at midnight UTC. */
export function settlementBefore(time: Micros, intervalHours: number): Micros {
  const interval = intervalHours * HOUR
  return Math.floor(time / interval) * interval
}

export function intervalOf(intervalHours: number): Micros {
  return intervalHours * HOUR
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}
