import type { Percentiles } from '../stream/latencies.ts'

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (NaN|[+-]Inf|[\d.eE+-]+)(?: |$)/
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** The samples of a Prometheus text whose name begins with `prefix`; lines that are none are left out. */
export function samplesOf(text: string, prefix: string): Sample[] {
  return text.split('\n').flatMap((row) => {
    const [, name = '', labels = '', value = ''] = row.startsWith(prefix) ? (line.exec(row) ?? []) : []
    if (name === '') return []
    const pairs = [...labels.matchAll(label)].map(([, key = '', said = '']) => [key, said] as const)
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })
}

/**
 * Percentiles of a histogram, milliseconds, since its process began: of every observation, each as the upper bound of its
 * bucket; null where it lies beyond the last bound. `by`: the label that tells hops apart.
 */
export function histogramPercentiles(samples: readonly Sample[], name: string, by: string): Map<string, Percentiles> {
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`)
  const groups = Map.groupBy(buckets, ({ labels }) => labels[by] ?? '')
  return new Map([...groups].map(([group, rows]) => [group, percentilesOf(rows)]))
}

function percentilesOf(rows: readonly Sample[]): Percentiles {
  const counts = new Map<number, number>()
  for (const { labels, value } of rows) {
    const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le'])
    counts.set(bound, (counts.get(bound) ?? 0) + value)
  }
  const sorted = [...counts].toSorted(([a], [b]) => a - b)
  const count = sorted.at(-1)?.[1] ?? 0
  const at = (share: number): number | null => {
    const bound = count === 0 ? undefined : sorted.find(([, below]) => below >= count * share)?.[0]
    return bound === undefined || bound === Infinity ? null : bound * 1000
  }
  return { count, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}
