import type { ClickhouseAccess } from '../infra/config/clickhouse.ts'

/** One measured number: with the name of its bench one line of `npm run bench`. */
export interface Figure {
  readonly metric: string
  readonly value: number
  readonly unit: string
  /** What the value is compared with in the same run, in the same unit. */
  readonly baseline?: number
  /** Left out: value / baseline. */
  readonly ratio?: number
  /** How many things were measured. */
  readonly n: number
}

/** Addresses of real parts that benches share; each bench isolates itself by its own namespace and database. */
export interface BenchParts {
  readonly brokers: readonly string[]
  readonly registryUrl: string
  readonly clickhouse: ClickhouseAccess
}

/**
 * What each file of `scripts/bench/` exports by default. `parts` starts the broker, the registry and ClickHouse at its
 * first call; a bench that does not call it needs none of them.
 */
export type Bench = (parts: () => Promise<BenchParts>) => Promise<readonly Figure[]>
