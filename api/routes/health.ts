import { paymentState } from '../payments/discovery.ts'
import { askPeer } from '../peers.ts'
import type { Answer, Call } from '../route.ts'
import { dataClock, type Peer, type Services } from '../services.ts'
import { readAudits, type AuditRow } from '../views/audits.ts'
import { channelHealth, logHealth, readOpenGaps, topicAges, venueHealth } from '../views/health.ts'
import { readLetters, type Letters } from '../views/letters.ts'
import { iso, isoOrNull } from '../views/time.ts'
import { newestTime, openSockets } from '../views/world.ts'

/** How the whole system is, as seen from here. 503 only where ClickHouse cannot be read: then nothing can be answered. */
export async function healthAnswer({ services }: Call, ttlMs: number): Promise<Answer> {
  const hit = await services.texts.get('healthz', ttlMs, async () => JSON.stringify(await health(services)))
  return answerOf(JSON.parse(hit.value) as State, hit)
}

/** Whether this instance can answer: ClickHouse can be read and there are derived data. */
export async function readyAnswer({ services }: Call, ttlMs: number): Promise<Answer> {
  const hit = await services.texts.get('readyz', ttlMs, async () => JSON.stringify(await ready(services)))
  return answerOf(JSON.parse(hit.value) as State, hit)
}

interface State {
  readonly status: string
  readonly [detail: string]: unknown
}

function answerOf(body: State, hit: { cached: boolean; freshForMs: number }): Answer {
  const status = body.status === 'unavailable' ? 503 : 200
  return { kind: 'data', status, body, cached: hit.cached, freshForMs: hit.freshForMs }
}

async function health(services: Services): Promise<State> {
  const { mode, version } = services
  const payments = paymentState(services.payments)
  const peers = await Promise.all(services.peers.map(reportOf))
  const parts = Object.fromEntries(peers.map(({ name, state }) => [name, state]))
  const undelivered = peers.flatMap(({ undeliveredMs }) => undeliveredMs ?? [])
  try {
    const [world, gaps, audits, letters] = await Promise.all([
      services.world(),
      readOpenGaps(services.database),
      auditsOf(services),
      lettersOf(services),
    ])
    const clock = dataClock(services, world)
    const log = logHealth(world, clock)
    const fine = log.status === 'ok' && Object.values(parts).every((state) => state === 'ok')
    return {
      status: fine ? 'ok' : 'degraded',
      mode,
      version,
      payments,
      parts: { clickhouse: 'ok', ...parts },
      log,
      active_ws_connections: openSockets(world, clock),
      venues: venueHealth(world, clock),
      channels: channelHealth(world, clock),
      topics: topicAges(world, clock),
      open_gaps: gaps,
      ...(letters === undefined ? {} : { dead_letters: letterHealth(letters) }),
      unread: services.unread.said,
      ...(undelivered.length === 0 ? {} : { oldest_undelivered_ms: Math.max(...undelivered) }),
      ...(audits === undefined ? {} : { audit: auditHealth(audits) }),
    }
  } catch (error) {
    services.log.warn({ err: error }, 'ClickHouse cannot be read')
    return { status: 'unavailable', mode, version, payments, parts: { clickhouse: 'unreachable', ...parts } }
  }
}

/** How long the audit is kept: it compares a day, and a minute changes little, milliseconds. */
const AUDIT_TTL_MS = 30_000

/** The audit of the last day. What it looks through is large: that it cannot be read now does not make us unwell. */
export async function auditsOf(services: Services): Promise<readonly AuditRow[] | undefined> {
  try {
    return (await services.boards.audits.get('all', AUDIT_TTL_MS, () => readAudits(services.database))).value
  } catch (error) {
    services.log.warn({ err: error }, 'the audit cannot be read')
    return undefined
  }
}

/** How long what was set aside is kept, milliseconds. */
const LETTERS_TTL_MS = 5_000

/** What was set aside; undefined: it cannot be read now, as with the audit. */
async function lettersOf(services: Services): Promise<Letters | undefined> {
  try {
    return (await services.boards.letters.get('all', LETTERS_TTL_MS, () => readLetters(services.database))).value
  } catch (error) {
    services.log.warn({ err: error }, 'what was set aside cannot be read')
    return undefined
  }
}

function letterHealth({ count, newest: [newest] }: Letters): object {
  return { count, newest: newest === undefined ? null : { ...newest, time: iso(newest.time) } }
}

function auditHealth(audits: readonly AuditRow[]): Record<string, object> {
  return Object.fromEntries(
    audits.map((row) => [
      row.venue,
      {
        compared: row.compared,
        different: row.different,
        unexplained: row.unexplained,
        worst_volume_difference: row.worstVolumeDifference,
        worst_delta_difference: row.worstDeltaDifference,
        worst_instrument: row.worstInstrument,
        worst_minute: isoOrNull(row.worstMinute),
      },
    ]),
  )
}

interface PeerReport {
  readonly name: string
  readonly state: 'ok' | 'not ok' | 'unreachable'
  /** Age of the oldest trigger that the dispatcher has not delivered; undefined: it is no dispatcher. */
  readonly undeliveredMs: number | undefined
}

async function reportOf(peer: Peer): Promise<PeerReport> {
  const { name } = peer
  try {
    const { status, text } = await askPeer(peer, '/healthz')
    return { name, state: status === 200 ? 'ok' : 'not ok', undeliveredMs: undeliveredIn(text) }
  } catch {
    // Why is in the peer's own log; here it only counts that it did not answer.
    return { name, state: 'unreachable', undeliveredMs: undefined }
  }
}

function undeliveredIn(text: string): number | undefined {
  const age = /"oldest_undelivered_ms":(\d{1,15})\b/.exec(text)?.[1]
  return age === undefined ? undefined : Number(age)
}

async function ready(services: Services): Promise<State> {
  try {
    const world = await services.world()
    const there = newestTime(world, 'derived.flow') !== undefined
    return there
      ? { status: 'ready' }
      : { status: 'unavailable', reason: 'there are no derived data yet: are the feeds and the processors up?' }
  } catch (error) {
    services.log.warn({ err: error }, 'ClickHouse cannot be read')
    return { status: 'unavailable', reason: 'ClickHouse cannot be read' }
  }
}
