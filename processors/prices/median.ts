import { asDecimal } from './decimal.ts'

/** The middle value; of an even count the mean of the middle two, as a decimal; null of none. */
export function median(values: readonly number[]): number | null {
  const sorted = ascending(values)
  const low = sorted[(sorted.length - 1) >> 1]
  const high = sorted[sorted.length >> 1]
  if (low === undefined || high === undefined) return null
  if (low === high) return low
  return Math.min(high, Math.max(low, asDecimal(low + (high - low) / 2)))
}

/** By insertion: there are five values at the most, several thousand times a second. */
function ascending(values: readonly number[]): number[] {
  const sorted = values.slice()
  for (let index = 1; index < sorted.length; index++) {
    const value = sorted[index] ?? NaN
    let at = index
    for (; at > 0 && (sorted[at - 1] ?? NaN) > value; at--) sorted[at] = sorted[at - 1] ?? NaN // reading at -1 is slow
    sorted[at] = value
  }
  return sorted
}
