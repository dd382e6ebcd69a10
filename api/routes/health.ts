import { jsonOutput, type Call, opsRoute } from '../request/route.ts'
import { within } from '../log/log-connection.ts'
import type { Hit } from '../request/cache.ts'
import { ApiError } from '../request/errors.ts'
import { paymentState } from '../payments/discovery.ts'
import type { Present } from '../present/present.ts'
import { askPeer } from '../peers.ts'
import { jsonReply, type Reply } from '../request/reply.ts'
import { dataClock, type Peer, type Services } from '../services.ts'
import {
  areVenuesWell,
  readAudits,
  type AuditRow,
  channelHealth,
  logHealth,
  markAges,
  openGaps,
  readFreeBytes,
  venueHealth,
  readLetters,
  type Letters,
} from '../views/health.ts'
import { readLogGaps, type LogGaps } from '../views/log-gaps.ts'
import { readPartitionTimes } from '../views/partition-times.ts'
import { readPromises } from '../views/promises.ts'
import { iso, isoOrNull } from '../views/time.ts'
import { newestTime, openSockets } from '../views/world.ts'
import {
  instant,
  integer,
  nullableInstant,
  nullableInteger,
  nullableNumber,
  nullableText,
  object,
  oneOf,
  type Schema,
  text,
} from '../request/schema.ts'
import { stamped } from './answers.ts'
import { byTradeVenue } from '../views/venues.ts'

const byName = (value: Schema, description: string): Schema => ({
  type: 'object',
  description,
  additionalProperties: value,
})

const venueState = object('One venue', {
  state: text('live, connecting, down, unavailable, off or unknown'),
  sockets: integer('Open WebSocket connections'),
  feeds: integer('Feed processes that report it'),
  since: nullableInstant('Since when it is in that state'),
})

const markAge = object('How far it is', {
  as_of: instant('The newest mark of its partition that is furthest behind'),
  age_ms: integer('How old that is, milliseconds', { minimum: 0 }),
})

const partStates = { type: 'object', additionalProperties: { type: 'string' }, description: 'Parts by name' }

const healthOutput = jsonOutput(
  'How the system is',
  object(
    'How the system is',
    {
      status: oneOf(
        ['ok', 'degraded', 'unavailable'],
        'degraded: a part or the log is not ok, or no venue is live, for trades or for another topic; unavailable: the log has not been read yet',
      ),
      mode: oneOf(['demo', 'live', 'tape'], 'Where the market comes from'),
      version: text('Version of the service'),
      payments: oneOf(['off', 'play-money', 'on'], 'off: every route is free for everyone'),
      parts: partStates,
      ranges: oneOf(
        ['available', 'unavailable'],
        'unavailable: ClickHouse cannot be read; answers about now do not need it',
      ),
      log: object('How far the log is', {
        status: oneOf(['ok', 'late', 'quiet', 'empty'], 'late: derived data lag; quiet: no feed writes'),
        age_ms: nullableInteger('Age of the newest mark, milliseconds'),
        lag_ms: nullableInteger(
          'How far derived data are behind, milliseconds, of the processor and partition that are furthest behind',
        ),
        as_of: nullableInstant('The newest mark'),
      }),
      active_ws_connections: integer('Open WebSocket connections of the venues’ trade streams'),
      venues: byTradeVenue(venueState, 'Trade streams by venue'),
      channels: byName(byName(venueState, 'By venue'), 'Channels and polls, by the topic that they feed'),
      topics: byName(markAge, 'Topics by name'),
      processors: byName(
        markAge,
        'Processors by name, by the marks that they write; alerts, audit and liquidated write one in ten seconds',
      ),
      open_gaps: integer('Gaps that are being repaired'),
      dead_letters: object('Records that a processor, the dispatcher or the payments have set aside', {
        count: integer('How many there are; SELECT * FROM dead_letters has them all', { minimum: 0 }),
        newest: {
          ...object('The newest by its record time', {
            processor: text('Who set it aside'),
            topic: text('Its topic'),
            partition: integer('Its partition', { minimum: 0 }),
            offset: integer('Its offset', { minimum: 0 }),
            time: instant('Its record time'),
            reason: text('undecodable, unknown_schema, failed or held'),
            code: text('What was wrong, as a code'),
            at: nullableText('Line of code that threw; null: it is not known'),
          }),
          type: ['object', 'null'],
        },
      }),
      log_gaps: object('What readers of the log could not read, or found to be lost of what they wrote', {
        count: integer('How many gaps there are; SELECT * FROM log_gaps has them all', { minimum: 0 }),
        newest: {
          ...object('The one that was found last', {
            reader: text('Processor or service'),
            topic: text('Its topic'),
            partition: integer('Its partition', { minimum: 0 }),
            reason: text('retention, cut, replaced or output_cut'),
            from: instant('Kafka time of the last record before it, of retention a minute earlier'),
            to: instant(
              'Kafka time of the first record after it, or when it was found; of the last that was read of it, where that is later',
            ),
            missing: nullableInteger('Records that were never read; null: not known'),
            time: instant('When it was found'),
          }),
          type: ['object', 'null'],
        },
      }),
      unread: object('Records of followed topics that this instance of the API passed over since its start', {
        count: integer('How many', { minimum: 0 }),
        newest: {
          ...object('The newest', {
            topic: text('Its topic'),
            partition: integer('Its partition', { minimum: 0 }),
            offset: integer('Its offset', { minimum: 0 }),
          }),
          type: ['object', 'null'],
        },
      }),
      oldest_undelivered_ms: integer(
        'Age of the oldest undelivered trigger, no receiver excluded; 0: all are delivered',
        {
          minimum: 0,
        },
      ),
      backfill: object('How far the venues’ past is read back', {
        state: oneOf(
          ['off', 'starting', 'running', 'paused', 'done'],
          'starting: it is not known yet what the log has; paused: the disk has too little room for it',
        ),
        wanted: integer('Rows that are wanted: candles, rates, open interest, marks, ratios', { minimum: 0 }),
        missing: integer('Those that are not in the log yet', { minimum: 0 }),
        bytes_left: integer('Disk that those will take, log and ClickHouse; estimated', { minimum: 0 }),
        seconds_left: nullableInteger('Until the slowest venue has all; null: one has no pace yet'),
      }),
      audit: byName(
        object('Our minutes of the last 24 h beside the venue’s own candles', {
          compared: integer('Minutes of an instrument that were compared, since it was first streamed'),
          different: integer('Those that differ by more than a billionth'),
          unexplained: integer('Those that no recorded gap or subscription explains'),
          worst_volume_difference: nullableNumber(
            'Worst of the unexplained ones, fraction of their volume; null: there is none',
          ),
          worst_delta_difference: nullableNumber(
            'The same of buys minus sells; null: there is none, or the venue says nothing',
          ),
          worst_instrument: nullableText('venue:market:symbol of the worst'),
          worst_minute: nullableInstant('Its minute'),
        }),
        'Self-audit by venue',
      ),
      ...stamped,
    },
    [
      'log',
      'active_ws_connections',
      'venues',
      'channels',
      'topics',
      'processors',
      'open_gaps',
      'dead_letters',
      'log_gaps',
      'unread',
      'oldest_undelivered_ms',
      'backfill',
      'audit',
    ],
  ),
)

const readyOutput = jsonOutput(
  'Whether this instance can answer',
  object(
    'Readiness',
    { status: oneOf(['ready', 'unavailable'], 'Whether it can'), reason: text('Why not'), ...stamped },
    ['reason'],
  ),
)

export const healthz = opsRoute({
  path: '/healthz',
  name: 'healthz',
  description: 'How the system is: parts, venues, gaps, lag',
  limit: 'none',
  ttlMs: 1_000,
  outputs: { 200: healthOutput, 503: healthOutput },
  prepare: healthAnswer,
})

export const readyz = opsRoute({
  path: '/readyz',
  name: 'readyz',
  description: 'Whether this instance can answer',
  limit: 'none',
  ttlMs: 1_000,
  outputs: { 200: readyOutput, 503: readyOutput },
  prepare: readyAnswer,
})

/** How the whole system is, as seen from here. 503 only before the log was read: then nothing can be answered. */
async function healthAnswer({ services, route }: Call): Promise<Reply> {
  const { value, ...hit } = await services.cache.get('healthz', route.ttlMs, () => health(services))
  return replyOf(value, services, hit)
}

/** Whether this instance can answer: the log has been read and there are derived data. */
async function readyAnswer({ services, route }: Call): Promise<Reply> {
  return replyOf(ready(services), services, { cached: false, freshForMs: route.ttlMs })
}

interface State {
  readonly status: string
  readonly [detail: string]: unknown
}

function replyOf(state: State, services: Services, { cached, freshForMs }: Omit<Hit<State>, 'value'>): Reply {
  const status = state.status === 'unavailable' ? 503 : 200
  return jsonReply(status, { ...state, timestamp: services.timestamp(), cached }, { freshForMs })
}

async function health(services: Services): Promise<State> {
  const { mode, version } = services
  const payments = paymentState(services.payments)
  const [ranges, ...peers] = await Promise.all([rangesOf(services), ...services.peers.map(reportOf)])
  const parts = Object.fromEntries(peers.map(({ name, state }) => [name, state]))
  const undelivered = peers.flatMap(({ undeliveredMs }) => undeliveredMs ?? [])
  const backfill = joinedBackfill(peers.flatMap((peer) => peer.backfill ?? []))
  const [audits, letters, logGaps] =
    ranges === 'ok' ? await Promise.all([auditsOf(services), lettersOf(services), logGapsOf(services)]) : []
  const present = presentOf(services)
  const summary = { mode, version, payments, parts: { clickhouse: ranges, ...parts } }
  const has = ranges === 'ok' ? 'available' : 'unavailable'
  if (present === undefined) return { status: 'unavailable', ...summary, ranges: has }
  const world = present.world()
  const clock = dataClock(services, world)
  const log = logHealth(world, clock)
  const venues = venueHealth(world, clock, services.counted)
  const channels = channelHealth(world, clock)
  const arePartsWell = Object.values(summary.parts).every((state) => state === 'ok')
  const fine = log.status === 'ok' && arePartsWell && areVenuesWell(venues, channels)
  return {
    status: fine ? 'ok' : 'degraded',
    ...summary,
    ranges: has,
    log,
    active_ws_connections: openSockets(world, clock),
    venues,
    channels,
    topics: markAges(world.times, clock),
    processors: markAges(world.derived, clock),
    open_gaps: openGaps(present),
    ...(letters === undefined ? {} : { dead_letters: letterHealth(letters) }),
    ...(logGaps === undefined ? {} : { log_gaps: logGapHealth(logGaps) }),
    unread: services.unread.report,
    ...(undelivered.length === 0 ? {} : { oldest_undelivered_ms: Math.max(...undelivered) }),
    ...(backfill === undefined ? {} : { backfill }),
    ...(audits === undefined ? {} : { audit: auditHealth(audits) }),
  }
}

/** The present; undefined: the log has not been read yet. */
export function presentOf(services: Services): Present | undefined {
  try {
    return services.present()
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/**
 * ClickHouse says that it is there by then, milliseconds: one that is only busy is not away. With the views that follow and
 * the peers a scrape ends in ten seconds.
 */
const RANGES_MS = 2_500

/** Whether ClickHouse, and with it ranges, can be read now. */
export async function rangesOf(services: Services): Promise<'ok' | 'unreachable'> {
  try {
    const asked = services.database.query('SELECT 1 AS here', {})
    await within(RANGES_MS, asked, () => new Error('ClickHouse does not answer'))
    return 'ok'
  } catch (error) {
    services.log.warn({ err: error }, 'ClickHouse cannot be read')
    return 'unreachable'
  }
}

/**
 * What a view of ClickHouse says; undefined: it cannot be read now. That does not make us unwell: what some views look
 * through is large. That it cannot be read is kept as long as an answer, so that it is not asked for the more often.
 */
function seen<Value>(
  read: (database: Services['database']) => Promise<Value>,
  failure: string,
  kept?: { readonly as: string; readonly ttlMs: number },
): (services: Services) => Promise<Value | undefined> {
  const ask = async ({ database, log }: Services): Promise<Value | undefined> => {
    try {
      return await read(database)
    } catch (error) {
      log.warn({ err: error }, failure)
      return undefined
    }
  }
  if (kept === undefined) return ask
  return async (services) => (await services.cache.get(kept.as, kept.ttlMs, () => ask(services))).value
}

/** How long the audit is kept: it compares a day, and a minute changes little, milliseconds. */
const AUDIT_TTL_MS = 30_000

/** How long what was set aside, and what the log lost, is kept, milliseconds. */
const LETTERS_TTL_MS = 5_000

/** The audit of the last day. */
export const auditsOf = seen(readAudits, 'the audit cannot be read', { as: 'audits', ttlMs: AUDIT_TTL_MS })

/** How promises are kept. */
export const promisesOf = seen(readPromises, 'how promises are kept cannot be read', {
  as: 'promises',
  ttlMs: AUDIT_TTL_MS,
})

/** Free space of ClickHouse, bytes; undefined also: its user may not read it. */
export const freeBytesOf = seen(readFreeBytes, 'ClickHouse does not say how much space it has')

/** Up to where ClickHouse has each partition. */
export const partitionTimesOf = seen(readPartitionTimes, 'ClickHouse does not say how far behind the log it is')

/** What was set aside. */
const lettersOf = seen(readLetters, 'what was set aside cannot be read', { as: 'dead_letters', ttlMs: LETTERS_TTL_MS })

/** What the log lost. */
const logGapsOf = seen(readLogGaps, 'gaps of the log cannot be read', { as: 'log_gaps', ttlMs: LETTERS_TTL_MS })

function logGapHealth({ count, newest: [newest] }: LogGaps): object {
  if (newest === undefined) return { count, newest: null }
  const { from, to, time, ...what } = newest
  return { count, newest: { ...what, from: iso(from), to: iso(to), time: iso(time) } }
}

function letterHealth({ count, newest: [newest] }: Letters): object {
  return { count, newest: newest === undefined ? null : { ...newest, time: iso(newest.time) } }
}

function auditHealth(audits: readonly AuditRow[]): Record<string, object> {
  return Object.fromEntries(
    audits.map(({ venue, worst_minute, ...figures }) => [venue, { ...figures, worst_minute: isoOrNull(worst_minute) }]),
  )
}

interface PeerReport {
  readonly name: string
  readonly state: 'ok' | 'not ok' | 'unreachable'
  /** Age of the oldest trigger that the dispatcher has not delivered; undefined: it is no dispatcher. */
  readonly undeliveredMs: number | undefined
  /** How far the past is read back; undefined: it reads none. */
  readonly backfill: Backfill | undefined
}

interface Backfill {
  readonly state: string
  readonly wanted: number
  readonly missing: number
  readonly bytes_left: number
  readonly seconds_left: number | null
}

async function reportOf(peer: Peer): Promise<PeerReport> {
  const { name } = peer
  try {
    const { status, text } = await askPeer(peer, '/healthz')
    const told = { undeliveredMs: undeliveredIn(text), backfill: backfillIn(text) }
    return { name, state: status === 200 ? 'ok' : 'not ok', ...told }
  } catch {
    // Why is in the peer's own log; here it only counts that it did not answer.
    return { name, state: 'unreachable', undeliveredMs: undefined, backfill: undefined }
  }
}

function undeliveredIn(text: string): number | undefined {
  const age = /"oldest_undelivered_ms":(\d{1,15})\b/.exec(text)?.[1]
  return age === undefined ? undefined : Number(age)
}

const backfillPattern =
  /"backfill":\{"state":"(off|starting|running|paused|done)","wanted":(\d{1,12}),"missing":(\d{1,12}),"bytes_left":(\d{1,15}),"seconds_left":(\d{1,12}|null)\}/

function backfillIn(text: string): Backfill | undefined {
  const [, state, wanted, missing, bytes, left] = backfillPattern.exec(text) ?? []
  if (state === undefined) return undefined
  const seconds = left === 'null' ? null : Number(left)
  return { state, wanted: Number(wanted), missing: Number(missing), bytes_left: Number(bytes), seconds_left: seconds }
}

/** Of several feeds the first of these that one is in. */
const backfillStates = ['paused', 'running', 'starting', 'done', 'off']

/** How far all feeds together are; undefined: none says. Where one wants rows, those that want none do not count. */
function joinedBackfill(all: readonly Backfill[]): Backfill | undefined {
  const wanting = all.filter(({ wanted }) => wanted > 0)
  const counted = wanting.length === 0 ? all : wanting
  const state = backfillStates.find((one) => counted.some((backfill) => backfill.state === one))
  if (state === undefined) return undefined
  const sum = (name: 'wanted' | 'missing' | 'bytes_left'): number =>
    counted.reduce((total, backfill) => total + backfill[name], 0)
  const seconds = counted.flatMap(({ seconds_left }) => seconds_left ?? [])
  return {
    state,
    wanted: sum('wanted'),
    missing: sum('missing'),
    bytes_left: sum('bytes_left'),
    seconds_left: seconds.length < counted.length ? null : Math.max(...seconds),
  }
}

function ready(services: Services): State {
  const present = presentOf(services)
  if (present === undefined) return { status: 'unavailable', reason: 'the log has not been read yet' }
  return newestTime(present.world(), 'derived.flow') === undefined
    ? { status: 'unavailable', reason: 'there are no derived data yet: are the feeds and the processors up?' }
    : { status: 'ready' }
}
