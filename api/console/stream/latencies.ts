/** Times of a hop over the last minutes: every one that was seen, none left out. Milliseconds. */
export interface Percentiles {
  readonly count: number
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
  readonly max: number | null
}

/** A window is told of until the next one is full. */
const WINDOW_MS = 300_000

/** Upper bounds of the buckets: 1 ms apart up to 100 ms, then 10 ms, 100 ms and 1 s; what is slower has its exact maximum. */
const bounds = [
  ...steps(1, 100, 1),
  ...steps(110, 1_000, 10),
  ...steps(1_100, 10_000, 100),
  ...steps(11_000, 600_000, 1_000),
]

interface Window {
  since: number
  readonly counts: Uint32Array
  count: number
  max: number
}

/** How long each hop takes, in two windows that take turns. */
export class Latencies {
  readonly #hops = new Map<string, Window[]>()

  /** A record of `hop` came `ms` late; `now`: milliseconds. */
  seen(hop: string, ms: number, now: number): void {
    const late = Math.max(0, ms)
    const current = this.#windows(hop, now)[0]
    if (current === undefined) return
    const bucket = bucketOf(late)
    current.counts[bucket] = (current.counts[bucket] ?? 0) + 1
    current.count += 1
    current.max = Math.max(current.max, late)
  }

  /** Of the last five to ten minutes, by hop. */
  percentiles(now: number): Record<string, Percentiles> {
    return Object.fromEntries([...this.#hops.keys()].toSorted().map((hop) => [hop, told(this.#windows(hop, now))]))
  }

  #windows(hop: string, now: number): Window[] {
    const windows = this.#hops.get(hop) ?? []
    this.#hops.set(hop, windows)
    const newest = windows[0]
    if (newest === undefined || now - newest.since >= WINDOW_MS) {
      windows.unshift({ since: now, counts: new Uint32Array(bounds.length + 1), count: 0, max: 0 })
      windows.splice(2)
    }
    return windows
  }
}

function told(windows: readonly Window[]): Percentiles {
  const count = windows.reduce((sum, window) => sum + window.count, 0)
  if (count === 0) return { count, p50: null, p95: null, p99: null, max: null }
  const max = Math.max(...windows.map((window) => window.max))
  const at = (share: number): number => {
    let left = Math.ceil(count * share)
    for (const [bucket, bound] of bounds.entries()) {
      left -= windows.reduce((sum, { counts }) => sum + (counts[bucket] ?? 0), 0)
      if (left <= 0) return Math.min(bound, max)
    }
    return max
  }
  return { count, p50: at(0.5), p95: at(0.95), p99: at(0.99), max }
}

function bucketOf(ms: number): number {
  let low = 0
  let high = bounds.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((bounds[middle] ?? Infinity) < ms) low = middle + 1
    else high = middle
  }
  return low
}

function steps(from: number, to: number, by: number): number[] {
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, at) => from + at * by)
}
