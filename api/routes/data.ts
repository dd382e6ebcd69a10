import type { Micros } from '../../schemas/records.ts'
import { findAsset, type Listed } from '../catalogue.ts'
import { ApiError } from '../errors.ts'
import type { Answer, Call, Route } from '../route.ts'
import { dataClock, type Built } from '../services.ts'
import { readFirstTrade } from '../views/first.ts'
import { iso } from '../views/time.ts'
import { acknowledgedVenues, listedVenues, TRADES_STALE } from '../views/venues.ts'
import { partitionTime, type InstrumentRow, type World } from '../views/world.ts'
import { readiness, type Readiness } from '../warmup.ts'

/** When a caller should come back for a symbol that warms up, or for data that are not there, seconds. */
export const RETRY_AFTER_SECONDS = 10
/** How long the first trade of an asset is remembered, milliseconds. */
const FIRST_TRADE_TTL_MS = 2_000

/** What a data handler works from: the asset asked for and how far the log is. */
export interface Subject extends Listed {
  readonly world: World
  readonly instruments: readonly InstrumentRow[]
  readonly clock: Micros
  /** Newest partition time of the derived data: the `now` of the data. */
  readonly now: Micros
  /** First trade in the log. */
  readonly since: Micros | null
}

type Row = Pick<Route, 'name' | 'ttlMs'>

/**
 * Answers a question about an asset's trades: from the cache where it is fresh, with the specified object while the
 * symbol warms up, 503 where there is nothing to say. `key` holds every parameter that the answer depends on.
 */
export async function answerAsset(
  call: Pick<Call, 'services' | 'caller'>,
  row: Row,
  key: { symbol: string; rest: readonly unknown[] },
  build: (subject: Subject) => Promise<Built>,
): Promise<Answer> {
  const { services } = call
  const [instruments, world] = await Promise.all([services.instruments(), services.world()])
  const listed = findAsset(key.symbol, instruments)
  const clock = dataClock(services, world)
  const since = await firstTrade(call, listed.asset)
  const state = readinessOf(call, listed.asset, { world, instruments, clock, since })
  if (state === 'unwanted' || state === 'warming') return warmUp(call, listed, state)
  if (state === 'unavailable') throw noData(listed.symbol)
  services.wants.settle(listed.asset)
  keepWanted(call, listed.asset)
  const now = partitionTime(world, 'derived.flow', listed.asset, services.partitions)
  if (now === undefined) throw noData(listed.symbol)
  const cacheKey = [row.name, listed.asset, ...key.rest].join('|')
  const hit = await services.answers.get(cacheKey, row.ttlMs, () =>
    build({ ...listed, world, instruments, clock, now, since }),
  )
  services.metrics.cacheHits.inc({ route: row.name, cached: String(hit.cached) })
  return { kind: 'data', status: 200, body: aged(hit.value, clock), cached: hit.cached, freshForMs: hit.freshForMs }
}

/** Adds what depends on the clock. */
function aged({ body, asOf }: Built, clock: Micros): object {
  const age = Math.max(0, clock - asOf)
  return { ...body, as_of: iso(asOf), age_ms: Math.round(age / 1000), stale: age > TRADES_STALE }
}

async function firstTrade({ services }: Pick<Call, 'services'>, asset: string): Promise<Micros | null> {
  const load = (): Promise<Micros | null> => readFirstTrade(services.database, asset)
  return (await services.firstTrades.get(asset, FIRST_TRADE_TTL_MS, load)).value
}

function readinessOf(
  { services }: Pick<Call, 'services'>,
  asset: string,
  { world, instruments, clock, since }: Pick<Subject, 'world' | 'instruments' | 'clock' | 'since'>,
): Readiness {
  const asked = services.wants.askedAt(asset)
  const rows = world.subscriptions.filter((row) => row.asset === asset && row.state === 'acknowledged')
  const first = Math.min(...rows.map((row) => row.since))
  return readiness({
    listed: listedVenues(asset, world, instruments),
    acknowledged: acknowledgedVenues(asset, world, clock),
    meant: services.preSubscribed.has(asset) || services.wants.stands(asset, services.now()),
    askedAge: asked === undefined ? undefined : services.now() - asked,
    acknowledgedAge: rows.length === 0 ? undefined : (clock - first) / 1000,
    firstTradeAge: since === null ? undefined : (clock - since) / 1000,
  })
}

/** The specified `warming_up` object; asks for the symbol if nobody has. Nothing is ever charged for it. */
async function warmUp(
  call: Pick<Call, 'services' | 'caller'>,
  { asset, symbol }: Listed,
  state: 'unwanted' | 'warming',
): Promise<Answer> {
  const { services, caller } = call
  const now = services.now()
  services.wants.wait(caller, asset, now)
  if (state === 'unwanted')
    await services.wants.ask(asset, now).catch((error: unknown) => {
      throw new ApiError('data_unavailable', `${symbol} cannot be subscribed right now; try again in a moment.`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        cause: error,
      })
    })
  const message = `${symbol} is being subscribed on its venues; ask again in ${RETRY_AFTER_SECONDS} seconds.`
  return {
    kind: 'data',
    status: 202,
    body: { symbol, status: 'warming_up', message },
    cached: false,
    freshForMs: 0,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  }
}

/** A symbol lapses a day after the last request for it; the feeds learn of requests from the log. */
function keepWanted({ services }: Pick<Call, 'services'>, asset: string): void {
  if (services.preSubscribed.has(asset)) return
  services.wants.renew(asset, services.now()).catch((error: unknown) => {
    services.log.warn({ err: error, asset }, 'a want could not be renewed; the next request tries again')
  })
}

function noData(symbol: string): ApiError {
  return new ApiError('data_unavailable', `There are no trades of ${symbol} right now; try again in a moment.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
