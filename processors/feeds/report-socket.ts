import type { Logger } from '../../infra/log.ts'
import type { SubscriptionChange } from '../../schemas/records.ts'
import { hostNow } from './clock-socket.ts'
import type { FramesWriter } from './frames-writer.ts'
import type { FeedMetrics } from './metrics.ts'
import type { RepairReport } from './repair.ts'
import type { FeedReport } from './venue-feed-socket.ts'

/** A refused frame of one kind is shown this often; all are counted, and the tapes have them. */
const showEveryMs = 10_000
const shownLength = 300

export interface ReportParts {
  readonly log: Logger
  readonly metrics: FeedMetrics
  readonly frames: FramesWriter | undefined
  readonly onChange: (change: SubscriptionChange) => void
}

/** Counts, logs and keeps what the live half of the feeds tells. */
export function feedReport({ log, metrics, frames, onChange }: ReportParts): FeedReport {
  const shownAt = new Map<string, number>()
  return {
    frame: (venue, text, received, json) => {
      metrics.frames.inc({ venue })
      frames?.write(venue, text, received, json)
    },
    trade: (venue, lag) => {
      metrics.trades.inc({ venue, origin: 'stream' })
      metrics.lag.observe({ venue }, lag / 1e6)
    },
    duplicate: (venue) => metrics.duplicates.inc({ venue }),
    clamped: (venue) => metrics.clamped.inc({ venue }),
    refused: (venue, reason, text) => {
      metrics.refusals.inc({ venue, reason })
      const now = hostNow()
      if (now - (shownAt.get(venue + reason) ?? 0) < showEveryMs) return
      shownAt.set(venue + reason, now)
      // Off-book trades are the venue's own business and no fault.
      const level = reason === 'off-book' ? 'debug' : 'warn'
      log[level]({ venue, reason, frame: text.slice(0, shownLength) }, 'a frame is no trade')
    },
    change: (change) => {
      const { instrument, state } = change
      log.debug({ instrument, state }, 'subscription')
      onChange(change)
    },
    note: (venue, what, details) => log.info({ venue, ...details }, what),
  }
}

/** The same for the repair of one venue. */
export function repairReport(venue: string, log: Logger, metrics: FeedMetrics): RepairReport {
  return {
    gap: (state, reason, missing, instrument) => {
      metrics.gaps.inc({ venue, state })
      const level = state === 'unfillable' ? 'warn' : 'debug'
      log[level]({ instrument, reason, missing }, `gap ${state}`)
    },
    backfilled: (count) => metrics.trades.inc({ venue, origin: 'backfill' }, count),
    refused: (reason) => metrics.refusals.inc({ venue, reason: `rest-${reason}` }),
    trouble: (what) => log.warn({ venue, what }, 'REST did not answer a repair'),
  }
}
