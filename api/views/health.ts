import { ALERTS } from '../../processors/alerts/alerts.ts'
import { CVD } from '../../processors/cvd/cvd.ts'
import { FUNDING } from '../../processors/funding/funding.ts'
import { RARE } from '../../processors/kernel/partition-clock.ts'
import { LIQUIDATED } from '../../processors/liquidated/liquidated.ts'
import { LIQUIDATIONS } from '../../processors/liquidations/liquidations.ts'
import { PRICES } from '../../processors/prices/prices.ts'
import type { TradeVenueRow } from '../../schemas/venues.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Present } from '../present/present.ts'
import { iso, microsSql } from './time.ts'
import { freshReports, MARK_FRESH, newestTime, type VenueReport, type World } from './world.ts'
import { Row, type Database } from './database.ts'

/** Of whom it is told how far they are: the topic that each follows, and the time between two of its marks, microseconds. */
const derivers = [
  { processor: CVD, follows: 'market.trades', every: 0 },
  { processor: PRICES, follows: 'market.tickers', every: 0 },
  { processor: FUNDING, follows: 'market.funding', every: 0 },
  { processor: LIQUIDATIONS, follows: 'market.funding', every: 0 },
  { processor: LIQUIDATED, follows: 'market.liquidations', every: RARE },
  { processor: ALERTS, follows: 'alerts.inputs', every: RARE },
] as const
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
  /** How far the derived data are behind the log, of the processor and partition that are furthest behind. */
  readonly lag_ms: number | null
  readonly as_of: string | null
}

/** How old the log is and how far what follows from it is behind. */
export function logHealth(world: World, clock: Micros): LogHealth {
  const fed = newestTime(world, 'market.trades')
  if (fed === undefined) return { status: 'empty', age_ms: null, lag_ms: null, as_of: null }
  const age = Math.max(0, clock - fed)
  const lags = [...processorLags(world).values()]
  const lag = lags.length === 0 ? null : Math.max(...lags)
  const late = lag === null || lag > LAG_LATE
  return {
    status: age > FED ? 'quiet' : late ? 'late' : 'ok',
    age_ms: Math.round(age / 1000),
    lag_ms: lag === null ? null : Math.round(lag / 1000),
    as_of: iso(fed),
  }
}

/**
 * How far each processor is behind the marks of what it follows, microseconds, in its partition that is furthest behind; those
 * that have written none are not in it.
 */
export function processorLags({ times, derived }: World): Map<string, Micros> {
  const lags = new Map<string, Micros>()
  for (const [key, time] of derived) {
    const [name = '', partition] = key.split('/')
    const deriver = derivers.find(({ processor }) => processor === name)
    if (deriver === undefined) continue
    const lag = (times.get(`${deriver.follows}/${partition}`) ?? 0) - time - deriver.every
    lags.set(name, Math.max(0, lag, lags.get(name) ?? 0))
  }
  return lags
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

/** Whether a venue's trades come, and of each topic that is told of something: where it is off, nobody waits for it. */
export function areVenuesWell(
  trades: Readonly<Record<string, VenueHealth>>,
  channels: Readonly<Record<string, Readonly<Record<string, VenueHealth>>>>,
): boolean {
  const has = (venues: Readonly<Record<string, VenueHealth>>, ...states: string[]): boolean =>
    Object.values(venues).some(({ state }) => states.includes(state))
  return has(trades, 'live') && Object.values(channels).every((venues) => has(venues, 'live', 'off'))
}

/** How far each topic or processor with marks (`name/partition`) is, in the partition that is furthest behind. */
export function markAges(
  marks: ReadonlyMap<string, Micros>,
  clock: Micros,
): Record<string, { as_of: string; age_ms: number }> {
  const oldest = new Map<string, Micros>()
  for (const [key, time] of marks) {
    const name = key.slice(0, key.lastIndexOf('/'))
    oldest.set(name, Math.min(oldest.get(name) ?? time, time))
  }
  const sorted = [...oldest].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    sorted.map(([name, time]) => [name, { as_of: iso(time), age_ms: Math.round(Math.max(0, clock - time) / 1000) }]),
  )
}

/** How far behind the log ClickHouse is with each topic, seconds, in the partition that is furthest behind. */
export function secondsBehind(
  { times }: Pick<World, 'times'>,
  has: ReadonlyMap<string, Micros>,
): ReadonlyMap<string, number> {
  const behind = new Map<string, number>()
  for (const [key, time] of has) {
    const topic = key.slice(0, key.lastIndexOf('/'))
    const own = Math.max(0, (times.get(key) ?? time) - time) / 1_000_000
    behind.set(topic, Math.max(behind.get(topic) ?? 0, own))
  }
  return behind
}

function healthOf(reports: readonly VenueReport[]): VenueHealth {
  const best = reports.toSorted((a, b) => rank(a.state) - rank(b.state))[0]
  const sockets = reports.reduce((sum, report) => sum + report.sockets, 0)
  const since = best === undefined ? null : iso(best.since)
  return { state: best?.state ?? 'unknown', sockets, feeds: reports.length, since }
}

function rank(state: string): number {
  const index = ranks.indexOf(state)
  return index < 0 ? ranks.length : index
}

/** Gaps that are being repaired now, over all assets. */
export function openGaps(present: Present): number {
  return present.made('openGaps', ['gap'], () =>
    present.states.reduce(
      (sum, { gap }) => sum + [...gap.values()].filter(({ state }) => state === 'opened').length,
      0,
    ),
  )
}

/** How far our one-minute figures of the last day are from a venue's own candles, at the worst. Fractions. */
export interface AuditRow {
  readonly venue: string
  readonly compared: number
  readonly different: number
  /** Different, and no recorded gap explains it. */
  readonly unexplained: number
  readonly worst_volume_difference: number | null
  /** Null: the venue publishes no taker volume. */
  readonly worst_delta_difference: number | null
  readonly worst_instrument: string | null
  readonly worst_minute: Micros | null
}

const auditSql = `SELECT venue, compared, different, unexplained, worst_volume_difference, worst_delta_difference,
  worst_instrument, ${microsSql('worst_minute')} AS minute_us FROM audit_worst`

export async function readAudits(database: Database): Promise<AuditRow[]> {
  const rows = await database.query(auditSql, {})
  return rows.map((raw) => {
    const row = new Row(raw)
    return {
      venue: row.text('venue'),
      compared: row.number('compared'),
      different: row.number('different'),
      unexplained: row.number('unexplained'),
      worst_volume_difference: row.nullableNumber('worst_volume_difference'),
      worst_delta_difference: row.nullableNumber('worst_delta_difference'),
      worst_instrument: row.nullableText('worst_instrument'),
      worst_minute: row.nullableNumber('minute_us'),
    }
  })
}

/** Free space of ClickHouse's fullest disk, bytes; undefined: it does not say. */
export async function readFreeBytes(database: Database): Promise<number | undefined> {
  const [raw] = await database.query('SELECT toFloat64(min(free_space)) AS free FROM system.disks', {})
  return raw === undefined ? undefined : new Row(raw).number('free')
}

/** A record that a processor, the dispatcher or the payments have set aside. */
export interface LetterRow {
  readonly processor: string
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly time: Micros
  readonly reason: string
  readonly code: string
  /** Line of code that threw; null: it is not known. */
  readonly at: string | null
}

export interface Letters {
  readonly count: number
  /** The newest by record time, newest first. */
  readonly newest: readonly LetterRow[]
}

const lettersSql = `SELECT processor, topic, partition, offset, ${microsSql('time')} AS time_us, reason, code, at,
  (SELECT count() FROM dead_letters) AS letters FROM dead_letters ORDER BY time DESC, offset DESC LIMIT 20`

export async function readLetters(database: Database): Promise<Letters> {
  const rows = (await database.query(lettersSql, {})).map((raw) => new Row(raw))
  const newest = rows.map((row) => ({
    processor: row.text('processor'),
    topic: row.text('topic'),
    partition: row.number('partition'),
    offset: row.number('offset'),
    time: row.number('time_us'),
    reason: row.text('reason'),
    code: row.text('code'),
    at: row.nullableText('at'),
  }))
  return { count: rows[0]?.number('letters') ?? 0, newest }
}
