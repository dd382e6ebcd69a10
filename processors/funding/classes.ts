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

/** Classes of the long/short ratio, as answers show them. */
export const sentiments = [
  'Extremely bullish',
  'Bullish',
  'Slightly bullish',
  'Neutral',
  'Slightly bearish',
  'Bearish',
  'Extremely bearish',
] as const

export type Sentiment = (typeof sentiments)[number]

/** Lower bounds of the classes above neutral, upper bounds of those below: each belongs to the milder class. */
const above = [
  [2, 'Extremely bullish'],
  [1.5, 'Bullish'],
  [1.02, 'Slightly bullish'],
] as const
const below = [
  [0.5, 'Extremely bearish'],
  [0.67, 'Bearish'],
  [0.98, 'Slightly bearish'],
] as const

/** The class of a ratio of long to short, above zero. */
export function classifySentiment(ratio: number): Sentiment {
  const bullish = above.find(([bound]) => ratio > bound)
  const bearish = below.find(([bound]) => ratio < bound)
  return bullish?.[1] ?? bearish?.[1] ?? 'Neutral'
}
