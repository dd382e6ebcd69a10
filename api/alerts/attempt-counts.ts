import type { Logger } from '../../infra/log.ts'
import { countAttempts } from '../views/attempts.ts'
import type { Database } from '../views/database.ts'
import { within } from './deadline.ts'

/** An answer about an alert does not wait longer for ClickHouse, milliseconds. */
const DEADLINE_MS = 1_000
/** After ClickHouse did not answer it is not asked again for a while, milliseconds. */
const PAUSE_MS = 5_000

/**
 * How often deliveries of alerts were attempted. The alert itself is known without ClickHouse, so its answer does not
 * depend on it: where ClickHouse does not answer within a second, nothing is said, and it is left alone for 5 s.
 */
export class AttemptCounts {
  readonly #database: Database
  readonly #log: Logger
  readonly #now: () => number
  #pausedUntil = 0

  constructor({ database, log, now }: { database: Database; log: Logger; now: () => number }) {
    this.#database = database
    this.#log = log
    this.#now = now
  }

  /** Attempts by alert; null: not known just now. */
  async of(ids: readonly string[]): Promise<(id: string) => number | null> {
    if (ids.length === 0 || this.#now() < this.#pausedUntil) return () => null
    try {
      const late = (): Error => new Error(`no answer in ${DEADLINE_MS} ms`)
      const counts = await within(DEADLINE_MS, countAttempts(this.#database, ids), late)
      return (id) => counts.get(id) ?? 0
    } catch (error) {
      this.#pausedUntil = this.#now() + PAUSE_MS
      this.#log.warn({ err: error }, 'attempts cannot be counted; their number is null for 5 s')
      return () => null
    }
  }
}
