/** What a sample of returns says, as fractions. `low` and `high` bound the mean, `hitLow` and `hitHigh` the hit rate (95 %). */
export interface Summary {
  /** Returns. */
  readonly n: number
  /** Of them, those whose windows do not overlap within an asset: what the confidence rests on. */
  readonly independent: number
  readonly mean: number | null
  readonly median: number | null
  readonly deviation: number | null
  readonly low: number | null
  readonly high: number | null
  /** Share of returns over zero. */
  readonly hitRate: number | null
  readonly hitLow: number | null
  readonly hitHigh: number | null
}

/** Two-sided 95 % quantiles of Student's t by degrees of freedom, from 1. */
const T_95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
]
const Z_95 = 1.959964

/** Summary of `returns`; `independent` of them do not overlap. Bounds need two independent ones. */
export function summarise(returns: readonly number[], independent: number): Summary {
  const n = returns.length
  if (n === 0) return { ...nothing, independent: 0 }
  const mean = returns.reduce((sum, value) => sum + value, 0) / n
  const variance = returns.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1)
  const hits = returns.filter((value) => value > 0).length
  const { low: hitLow, high: hitHigh } = wilson(hits / n, independent)
  const known = { n, independent, mean, median: medianOf(returns), hitRate: hits / n, hitLow, hitHigh }
  if (n < 2 || independent < 2) return { ...known, deviation: null, low: null, high: null }
  const deviation = Math.sqrt(variance)
  const margin = (tQuantile(independent - 1) * deviation) / Math.sqrt(independent)
  return { ...known, deviation, low: mean - margin, high: mean + margin }
}

const nothing = {
  n: 0,
  mean: null,
  median: null,
  deviation: null,
  low: null,
  high: null,
  hitRate: null,
  hitLow: null,
  hitHigh: null,
}

export function tQuantile(degrees: number): number {
  return T_95[degrees - 1] ?? Z_95 + 2.5 / degrees
}

/** Bounds of a share seen in `n` trials, after Wilson: they stay within 0 and 1 and hold for few trials. */
export function wilson(share: number, n: number): { low: number; high: number } {
  if (n === 0) return { low: 0, high: 1 }
  const z = Z_95 ** 2
  const middle = (share + z / (2 * n)) / (1 + z / n)
  const margin = (Z_95 / (1 + z / n)) * Math.sqrt((share * (1 - share)) / n + z / (4 * n * n))
  return { low: Math.max(0, middle - margin), high: Math.min(1, middle + margin) }
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const high = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? high) + high) / 2
}
