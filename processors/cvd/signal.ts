import { asRatio } from '../prices/decimal.ts'
import { COVERED_MIN } from './covered-time.ts'

/** Classes of the CVD signal, as answers show them. */
export const signalClasses = [
  'strong_bullish_pressure',
  'bullish_pressure',
  'neutral',
  'bearish_pressure',
  'strong_bearish_pressure',
  'insufficient_data',
] as const

export type SignalClass = (typeof signalClasses)[number]

/** Share of the period's volume beyond which pressure is strong. */
const STRONG = 0.15
/** Share of the period's volume up to which flow is balanced. */
const NEUTRAL = 0.05

/**
 * The class of a period: its delta as a share of its volume, both in base units. A bound belongs to the milder class;
 * without a trade, or where the log holds less than a quarter of the period, there is nothing to say. `covered`: how much
 * of it the log holds, 0 to 1.
 */
export function classify(periodCvd: number, volume: number, covered: number): SignalClass {
  if (covered < COVERED_MIN || !(volume > 0)) return 'insufficient_data'
  const ratio = asRatio(periodCvd / volume)
  const size = Math.abs(ratio)
  if (size <= NEUTRAL) return 'neutral'
  if (size <= STRONG) return ratio > 0 ? 'bullish_pressure' : 'bearish_pressure'
  return ratio > 0 ? 'strong_bullish_pressure' : 'strong_bearish_pressure'
}
