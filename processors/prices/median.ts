import { asDecimal } from './decimal.ts'

/** The middle value; of an even count the mean of the middle two, as a decimal; null of none. */
export function median(values: readonly number[]): number | null {
  const { length } = values
  if (length === 0) return null
  sort(values)
  const low = sorted[(length - 1) >> 1] ?? NaN
  const high = sorted[length >> 1] ?? NaN
  if (low === high) return low
  return Math.min(high, Math.max(low, asDecimal(low + (high - low) / 2)))
}

/** Made again by each call, so that several thousand medians a second leave nothing behind. */
const sorted: number[] = []

/** By insertion: there are five values at the most. */
function sort(values: readonly number[]): void {
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? NaN
    let at = index
    for (; at > 0 && (sorted[at - 1] ?? NaN) > value; at--) sorted[at] = sorted[at - 1] ?? NaN // reading at -1 is slow
    sorted[at] = value
  }
}
