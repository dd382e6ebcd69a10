/** Classes of a funding rate, as answers show them. */
export const fundingClasses = [
  'extreme_bullish',
  'bullish',
  'slightly_bullish',
  'neutral',
  'slightly_bearish',
  'bearish',
  'extreme_bearish',
] as const

export type FundingClass = (typeof fundingClasses)[number]

/** A class in words, for people. */
export const fundingLabels: Record<FundingClass, string> = {
  extreme_bullish: 'Extremely bullish',
  bullish: 'Bullish',
  slightly_bullish: 'Slightly bullish',
  neutral: 'Neutral',
  slightly_bearish: 'Slightly bearish',
  bearish: 'Bearish',
  extreme_bearish: 'Extremely bearish',
}

/** Bounds as fractions, so that a venue's `0.0005` is the bound itself and not a rounding away from it. */
const EXTREME = 0.0005
const PLAIN = 0.0001
const SLIGHT = 0.00003

/** The class of a rate, a fraction per interval whatever the interval's length. A bound belongs to the milder class. */
export function classifyFunding(rate: number): FundingClass {
  const size = Math.abs(rate)
  if (!(size > SLIGHT)) return 'neutral'
  if (size <= PLAIN) return rate > 0 ? 'slightly_bullish' : 'slightly_bearish'
  if (size <= EXTREME) return rate > 0 ? 'bullish' : 'bearish'
  return rate > 0 ? 'extreme_bullish' : 'extreme_bearish'
}
