import type { TradeVenueRow } from '../../schemas/venues.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Present } from '../present.ts'
import { iso } from './time.ts'
import { freshReports, MARK_FRESH, newestTime, type VenueReport, type World } from './world.ts'

/** Derived data that are further behind the log than this are late, microseconds. */
const LAG_LATE: Micros = 10_000_000
/** A log whose newest mark is older than this is not fed. */
const FED: Micros = 30_000_000

export interface VenueHealth {
  readonly state: string
  readonly sockets: number
  readonly feeds: number
  readonly since: string | null
}

export interface LogHealth {
  /** `quiet`: no feed writes; `late`: the derived data lag behind. */
  readonly status: 'ok' | 'late' | 'quiet' | 'empty'
  /** Age of the newest mark in the log. */
  readonly age_ms: number | null
  /** How far the derived data are behind the log. */
  readonly lag_ms: number | null
  readonly as_of: string | null
}

/** How old the log is and how far what follows from it is behind. */
export function logHealth(world: World, clock: Micros): LogHealth {
  const fed = newestTime(world, 'market.trades')
  const derived = newestTime(world, 'derived.flow')
  if (fed === undefined) return { status: 'empty', age_ms: null, lag_ms: null, as_of: null }
  const age = Math.max(0, clock - fed)
  const lag = derived === undefined ? null : Math.max(0, fed - derived)
  const late = lag === null || lag > LAG_LATE
  return {
    status: age > FED ? 'quiet' : late ? 'late' : 'ok',
    age_ms: Math.round(age / 1000),
    lag_ms: lag === null ? null : Math.round(lag / 1000),
    as_of: iso(fed),
  }
}

/** Best first: one feed process that has a venue live is enough. */
const ranks = ['live', 'connecting', 'down', 'unavailable', 'off']

/** Each venue over all feed processes that are alive; `unknown` where none tells. */
export function venueHealth(
  world: World,
  clock: Micros,
  counted: readonly TradeVenueRow[],
): Record<string, VenueHealth> {
  const fresh = freshReports(world, clock)
  return Object.fromEntries(
    counted.map(({ venue }) => [venue, healthOf(fresh.filter((report) => report.venue === venue))]),
  )
}

/** Each venue's channels and polls by the topic that they feed, over all feed processes that are alive. */
export function channelHealth(world: World, clock: Micros): Record<string, Record<string, VenueHealth>> {
  const fresh = world.channels.filter((row) => clock - row.time <= MARK_FRESH)
  const byTopic = [...Map.groupBy(fresh, ({ topic }) => topic)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    byTopic.map(([topic, rows]) => {
      const byVenue = [...Map.groupBy(rows, ({ venue }) => venue)]
      return [topic, Object.fromEntries(byVenue.map(([venue, reports]) => [venue, healthOf(reports)]))]
    }),
  )
}

/** How far each topic with marks is. */
export function topicAges(world: World, clock: Micros): Record<string, { as_of: string; age_ms: number }> {
  const newest = new Map<string, Micros>()
  for (const [key, time] of world.times) {
    const topic = key.slice(0, key.lastIndexOf('/'))
    newest.set(topic, Math.max(newest.get(topic) ?? 0, time))
  }
  const sorted = [...newest].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    sorted.map(([topic, time]) => [topic, { as_of: iso(time), age_ms: Math.round(Math.max(0, clock - time) / 1000) }]),
  )
}

function healthOf(reports: readonly VenueReport[]): VenueHealth {
  const best = reports.toSorted((a, b) => rank(a.state) - rank(b.state))[0]
  const sockets = reports.reduce((sum, report) => sum + report.sockets, 0)
  const since = best === undefined ? null : iso(best.since)
  return { state: best?.state ?? 'unknown', sockets, feeds: reports.length, since }
}

function rank(state: string): number {
  const place = ranks.indexOf(state)
  return place < 0 ? ranks.length : place
}

/** Gaps that are being repaired now, over all assets. */
export function openGaps(present: Present): number {
  return present.states.reduce(
    (sum, { gap }) => sum + [...gap.values()].filter(({ state }) => state === 'opened').length,
    0,
  )
}
