import type { Logger } from 'pino'
import type { Micros } from '../schemas/records.ts'
import type { Kept } from './kept.ts'
import type { Alerts } from './alerts/alerts.ts'
import { AttemptCounts } from './alerts/attempt-counts.ts'
import { createBoards, type Boards } from './boards.ts'
import { TtlCache } from './cache.ts'
import { catalogueOf, type Catalogue } from './catalogue.ts'
import { Trials } from './alerts/what-if.ts'
import type { Metrics } from './metrics.ts'
import type { Database } from './views/database.ts'
import type { Payments } from './payments/payments.ts'
import { Recall } from './recall.ts'
import type { Unread } from './unread.ts'
import { newestTime, readInstruments, readWorld, type World } from './views/world.ts'
import type { Wants } from './wants.ts'

/** How long what the log says about itself is kept, milliseconds. */
const WORLD_TTL_MS = 1_000
const CATALOGUE_TTL_MS = 10_000
/** Most answers that are kept, and how long all of them together may be, characters. */
const ANSWERS_MAX = 2_000
const ANSWERS_LENGTH_MAX = 64 * 1024 * 1024

/** Another service of the system, as configured by API_SERVICES. */
export interface Peer {
  readonly name: string
  readonly url: string
}

export type { Kept }

/** What handlers work with. */
export interface Services {
  readonly mode: 'demo' | 'live' | 'tape'
  readonly version: string
  readonly partitions: number
  /** Assets that the feeds stream from the start. */
  readonly preSubscribed: ReadonlySet<string>
  readonly peers: readonly Peer[]
  readonly log: Logger
  readonly metrics: Metrics
  readonly database: Database
  readonly wants: Wants
  /** What this instance could not read of the topics that it follows. */
  readonly unread: Unread
  readonly answers: TtlCache<Kept>
  readonly texts: TtlCache<string>
  readonly boards: Boards
  readonly firstTrades: TtlCache<Micros | null>
  readonly recall: Recall
  readonly alerts: Alerts
  readonly attemptCounts: AttemptCounts
  readonly trials: Trials
  /** null: payments are off, all is free. */
  readonly payments: Payments | null
  /** Host's clock, milliseconds since the Unix epoch. */
  now: () => number
  /** The same as ISO 8601. */
  timestamp: () => string
  world(): Promise<World>
  catalogue(): Promise<Catalogue>
}

export type ServiceParts = Pick<
  Services,
  | 'mode'
  | 'version'
  | 'partitions'
  | 'preSubscribed'
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

export function createServices(parts: ServiceParts): Services {
  const clock = parts.now
  const worlds = new TtlCache<World>({ keysMax: 1, clock })
  const catalogues = new TtlCache<Catalogue>({ keysMax: 1, clock })
  const answers: TtlCache<Kept> = new TtlCache({
    keysMax: ANSWERS_MAX,
    clock,
    weightMax: ANSWERS_LENGTH_MAX,
    weigh: ({ open }) => open.length,
  })
  return {
    ...parts,
    answers,
    recall: new Recall(answers),
    texts: new TtlCache({ keysMax: 10, clock }),
    boards: createBoards(clock),
    firstTrades: new TtlCache({ keysMax: ANSWERS_MAX, clock }),
    attemptCounts: new AttemptCounts({ database: parts.database, log: parts.log, now: clock }),
    trials: new Trials(parts.database, clock),
    timestamp: stampOf(clock),
    world: async () => (await worlds.get('world', WORLD_TTL_MS, () => readWorld(parts.database))).value,
    catalogue: async () =>
      (await catalogues.get('all', CATALOGUE_TTL_MS, async () => catalogueOf(await readInstruments(parts.database))))
        .value,
  }
}

/** The clock as ISO 8601, written once a millisecond. */
function stampOf(clock: () => number): () => string {
  let last = { time: NaN, text: '' }
  return () => {
    const time = clock()
    if (time !== last.time) last = { time, text: new Date(time).toISOString() }
    return last.text
  }
}

/** The clock that data's age is told by: the host's; on a tape the newest mark, since its market lies in the past. */
export function dataClock(services: Services, world: World): Micros {
  return services.mode === 'tape' ? (newestTime(world, 'market.trades') ?? 0) : services.now() * 1000
}
