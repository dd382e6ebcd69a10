/** Room for offsets: 2^44 are 17 years of 32,000 records a second in one partition. */
export const OFFSETS = 2 ** 44

/**
 * Version of what follows from the entry at `offset`: a higher generation beats every offset of a lower one. Generations are
 * whole numbers from 1 to 511, so that it stays below 2^53 and is exact as a double.
 */
export function versionOf(generation: number, offset: number): number {
  return generation * OFFSETS + offset
}

/** The generation whose version it is. */
export function generationOf(v: number): number {
  return Math.floor(v / OFFSETS)
}

/** The offset that it follows from, with its shift. */
export function offsetOf(v: number): number {
  return v % OFFSETS
}
