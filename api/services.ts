import type { Logger } from 'pino'
import type { Micros } from '../schemas/records.ts'
import type { TradeVenueRow } from '../schemas/venues.ts'
import type { Alerts } from './alerts/alerts.ts'
import { AlertHistories } from './alerts/alert-history.ts'
import { TtlCache } from './request/cache.ts'
import { ApiError } from './request/errors.ts'
import type { Present } from './present/present.ts'
import type { PresentSource } from './present/present-table.ts'
import { Trials } from './alerts/what-if.ts'
import { Warming } from './alerts/warm.ts'
import type { RateLimiter } from './request/limits.ts'
import type { Metrics } from './metrics.ts'
import type { Board } from './stream/board.ts'
import { Hub } from './stream/hub.ts'
import type { Database } from './views/database.ts'
import type { Payments } from './payments/payments.ts'
import type { Unread } from './log/unread.ts'
import { newestTime, type World } from './views/world.ts'
import type { Wants } from './present/wants.ts'

/** When a caller should come back while the present is being read, seconds. */
const PRESENT_RETRY_SECONDS = 2
/** Most values that are cached, and how long all answers among them together may be, characters. */
const CACHED_MAX = 2_000
const CACHED_LENGTH_MAX = 64 * 1024 * 1024

/** Streams at once, in all and of one caller. */
const STREAMS_MAX = 500
const CALLER_STREAMS_MAX = 10

/** Another service of the system, as configured by API_SERVICES. */
export interface Peer {
  readonly name: string
  readonly url: string
}

/** What handlers work with. */
export interface Services {
  readonly mode: 'demo' | 'live' | 'tape'
  readonly version: string
  readonly partitions: number
  /** Assets that the feeds stream from the start. */
  readonly preSubscribed: ReadonlySet<string>
  /** Venues whose trades count. */
  readonly counted: readonly TradeVenueRow[]
  readonly peers: readonly Peer[]
  readonly log: Logger
  readonly metrics: Metrics
  readonly database: Database
  readonly wants: Wants
  /** What this instance could not read of the topics that it follows. */
  readonly unread: Unread
  /** Whatever is read again only after a while, by route or kind and what it depends on. */
  readonly cache: TtlCache
  readonly alerts: Alerts
  readonly beside: AlertHistories
  readonly trials: Trials
  readonly warming: Warming
  /** null: payments are off, all is free. */
  readonly payments: Payments | null
  /** Who listens to what changes. */
  readonly streams: Hub<Services>
  /** Host's clock, milliseconds since the Unix epoch. */
  now: () => number
  /** Milliseconds of a clock that nobody sets: limits and times of keeping go by it. */
  steady: () => number
  /** The same as ISO 8601; of another moment where one is given. */
  timestamp: (at?: number) => string
  /** What is so now; throws `data_unavailable` before it has been read from the log. */
  present(): Present
  /** As of the source of the present. */
  asked(): Promise<void> | undefined
}

interface OtherParts {
  readonly source: PresentSource
  readonly board: Board
  /** How often a caller may try an alert out; left out: as the API sells it. */
  readonly tries?: RateLimiter | undefined
  /** Left out: this process's. */
  readonly steady?: (() => number) | undefined
}

export type ServiceParts = OtherParts &
  Pick<
    Services,
    | 'mode'
    | 'version'
    | 'partitions'
    | 'preSubscribed'
    | 'counted'
    | 'peers'
    | 'log'
    | 'metrics'
    | 'database'
    | 'wants'
    | 'unread'
    | 'now'
    | 'alerts'
    | 'payments'
  >

export function createServices({
  source,
  board,
  tries,
  steady = () => performance.now(),
  ...parts
}: ServiceParts): Services {
  const clock = parts.now
  const cache = new TtlCache({ keysMax: CACHED_MAX, clock: steady, weightMax: CACHED_LENGTH_MAX, weigh: lengthOf })
  const bounds = { clientsMax: STREAMS_MAX, callerMax: CALLER_STREAMS_MAX }
  const services: Services = {
    ...parts,
    steady,
    cache,
    streams: new Hub({ board, now: clock, context: () => services, onListening: () => void source.asked(), ...bounds }),
    beside: new AlertHistories({ ...parts, cache }),
    warming: new Warming(),
    trials: new Trials({ ...parts, now: steady, cache, tries }),
    timestamp: stampOf(clock),
    asked: () => source.asked(),
    present() {
      const { now } = source
      if (now !== undefined) return now
      throw new ApiError('data_unavailable', 'The log is being read; try again in a moment.', {
        retryAfterSeconds: PRESENT_RETRY_SECONDS,
      })
    },
  }
  return services
}

/** Of an answer its text; all else is small. */
function lengthOf(value: unknown): number {
  const body = typeof value === 'object' && value !== null && 'body' in value ? value.body : value
  return typeof body === 'string' ? body.length : 0
}

/** The clock as ISO 8601, written once a millisecond. */
function stampOf(clock: () => number): (at?: number) => string {
  let last = { time: NaN, text: '' }
  return (time = clock()) => {
    if (time !== last.time) last = { time, text: new Date(time).toISOString() }
    return last.text
  }
}

/** The clock that data's age is told by: the host's; on a tape the newest mark, since its market lies in the past. */
export function dataClock({ mode, now }: Services, world: World, at = now()): Micros {
  return mode === 'tape' ? (newestTime(world, 'market.trades') ?? 0) : at * 1000
}
