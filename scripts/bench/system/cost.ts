import { quantile } from '../../../api/testing/http-load.ts'
import type { Figure } from '../../figure.ts'

/** What a piece of work took, seconds: by the clock, and of this process's CPU time, which a busy machine disturbs less. */
export interface Cost {
  readonly seconds: number
  readonly cpu: number
}

/** Measures from the call of this to that of what it gives. */
export function startCost(): () => Cost {
  const began = performance.now()
  const used = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(used)
    return { seconds: (performance.now() - began) / 1_000, cpu: (user + system) / 1e6 }
  }
}

export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const ended = startCost()
  await work()
  return ended()
}

/** p50 and p99 of times, milliseconds. */
export function percentiles(metric: string, times: readonly number[]): Figure[] {
  return [0.5, 0.99].map((q) => {
    return { metric: `${metric}, p${q * 100}`, value: quantile(times, q), unit: 'ms', n: times.length }
  })
}
