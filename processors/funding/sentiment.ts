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
