/** The middle value; of an even count the mean of the middle two; null of none. */
export function median(values: readonly number[]): number | null {
  const sorted = ascending(values)
  const low = sorted[(sorted.length - 1) >> 1]
  const high = sorted[sorted.length >> 1]
  if (low === undefined || high === undefined) return null
  return low + (high - low) / 2
}

/** By insertion: there are five values at the most, several thousand times a second. */
function ascending(values: readonly number[]): number[] {
  const sorted = values.slice()
  for (const [index, value] of values.entries()) {
    let at = index
    for (let before = sorted[at - 1]; before !== undefined && before > value; before = sorted[at - 1]) {
      sorted[at] = before
      at -= 1
    }
    sorted[at] = value
  }
  return sorted
}
