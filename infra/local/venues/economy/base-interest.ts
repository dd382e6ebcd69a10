import type { PerpMarket } from '../economy.ts'
import type { Micros } from '../trade.ts'
import { dollarsPerSecond } from './flow.ts'
import type { Ground } from './ground.ts'
import { Layers, streamOf } from './noise.ts'
import { likeOf, quietDollars, tradedOf } from './perp-side.ts'

/** Open interest is this many times what a day trades at the demo's rate. */
const DAYS = 0.8
const DEMO_RATE = 150
const GATE_SHARE = 0.15
const swings = [
  [259_200, 0.08],
  [43_200, 0.04],
  [3_600, 0.01],
  [600, 0.003],
] as const

/** The open interest that a market had before it was first opened, and around which it moves later. */
export class BaseInterest {
  private readonly ground: Ground
  private readonly courses = new Map<PerpMarket, { course: Layers; size: number }>()

  constructor(ground: Ground) {
    this.ground = ground
  }

  /** Base units, one-sided. */
  at(market: PerpMarket, time: Micros): number {
    let known = this.courses.get(market)
    if (known === undefined) {
      const course = new Layers(this.ground.seed, streamOf(`interest ${market.venue} ${market.symbol}`), swings)
      known = { course, size: this.size(market) }
      this.courses.set(market, known)
    }
    return known.size * Math.exp(known.course.at(time))
  }

  private size(market: PerpMarket): number {
    const own = tradedOf(market)
    const like = likeOf(market)
    const price = this.ground.origin.prices[market.asset] ?? this.ground.price(market.asset, this.ground.origin.time)
    const dollars = (daily: number, share: number): number => (daily * DAYS * share) / price
    if (own !== undefined) return dollars(dollarsPerSecond(own, DEMO_RATE) * 86_400, 1)
    if (like !== undefined) return dollars(dollarsPerSecond(like, DEMO_RATE) * 86_400, GATE_SHARE)
    return dollars(quietDollars(market), 2)
  }
}
