/** The middle value; of an even count the mean of the middle two; null of none. */
export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  const low = sorted[(sorted.length - 1) >> 1]
  const high = sorted[sorted.length >> 1]
  if (low === undefined || high === undefined) return null
  return low + (high - low) / 2
}
