import type { PerpVenueName } from '../economy.ts'
import type { Micros } from '../trade.ts'

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
