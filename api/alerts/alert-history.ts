import type { Logger } from '../../infra/log.ts'
import type { TtlCache } from '../request/cache.ts'
import { countAttempts } from '../views/attempts.ts'
import type { Database } from '../views/database.ts'
import { lostOf, readLogGaps, type LogGaps, type Lost } from '../views/log-gaps.ts'
import type { CachedAlert } from './alert-store.ts'
import { within } from '../log/log-connection.ts'

/** An answer about an alert does not wait longer for ClickHouse, milliseconds. */
const DEADLINE_MS = 1_000
/** After ClickHouse did not answer it is not asked again for a while, milliseconds. */
const PAUSE_MS = 5_000
/** How long gaps of the log are kept, milliseconds. */
const GAPS_TTL_MS = 1_000
/** Alerts and their parts whose attempts are counted for one answer; beyond, they are not told. */
const IDS_MAX = 2_000
/** Most gaps that are told of one alert; the newest. */
const GAPS_MAX = 50

/** What ClickHouse knows of an alert; null: not known just now. */
export interface AlertHistory {
  readonly attempts: number | null
  /** When it may have missed something. */
  readonly gaps: readonly Lost[] | null
}

export interface AlertHistoryOptions {
  readonly database: Database
  readonly log: Logger
  readonly now: () => number
  readonly partitions: number
  readonly cache: TtlCache
}

/**
 * How often deliveries of alerts were attempted, and when what they watch was lost. The alert itself is known without
 * ClickHouse, so its answer does not depend on it: where ClickHouse does not answer within a second, nothing is said, and it
 * is left alone for 5 s.
 */
export class AlertHistories {
  readonly #options: AlertHistoryOptions
  #pausedUntil = 0

  constructor(options: AlertHistoryOptions) {
    this.#options = options
  }

  async of(alerts: readonly CachedAlert[]): Promise<(alert: CachedAlert) => AlertHistory> {
    const { now, log, partitions } = this.#options
    const unknown = (): AlertHistory => ({ attempts: null, gaps: null })
    if (alerts.length === 0 || now() < this.#pausedUntil) return unknown
    try {
      const late = (): Error => new Error(`no answer in ${DEADLINE_MS} ms`)
      const [counts, gaps] = await within(DEADLINE_MS, this.#ask(alerts), late)
      return (alert) => {
        const parts = alert.parts ?? [alert]
        const lost = new Map(
          parts.flatMap((part) => lostOf(part, gaps, partitions)).map((gap) => [`${gap.from} ${gap.to}`, gap]),
        )
        return {
          attempts: counts === null ? null : idsOf(alert).reduce((sum, id) => sum + (counts.get(id) ?? 0), 0),
          gaps: [...lost.values()].toSorted((a, b) => b.from - a.from).slice(0, GAPS_MAX),
        }
      }
    } catch (error) {
      this.#pausedUntil = now() + PAUSE_MS
      log.warn({ err: error }, 'what ClickHouse knows of alerts is not known; it is null for 5 s')
      return unknown
    }
  }

  #ask(alerts: readonly CachedAlert[]): Promise<[ReadonlyMap<string, number> | null, LogGaps]> {
    const { database, cache } = this.#options
    const ids = alerts.flatMap(idsOf)
    const told = cache.get('log_gaps', GAPS_TTL_MS, () => readLogGaps(database)).then(({ value }) => value)
    return Promise.all([ids.length > IDS_MAX ? null : countAttempts(database, ids), told])
  }
}

/** The ids that its deliveries have. */
function idsOf({ alert_id: own, parts }: CachedAlert): readonly string[] {
  return parts?.map(({ alert_id: id }) => id) ?? [own]
}
