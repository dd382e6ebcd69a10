import { partitionOf } from '../../schemas/catalogue.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Listed } from '../present/catalogue.ts'
import { ApiError } from '../request/errors.ts'
import { jsonReply, type Reply, type View } from '../request/reply.ts'
import { symbol } from './parameters.ts'
import { type Call, dataRoute, type Output, type Route, type Run } from '../request/route.ts'
import type { Services } from '../services.ts'
import { acknowledgedVenues, listedVenues } from '../views/venues.ts'
import { acknowledgedOf } from '../views/world.ts'
import { flowPositions, tradedOf, type FlowPositions, type Traded } from '../views/flow.ts'
import { readPartitionTime } from '../views/partition-times.ts'
import { readiness, type Readiness } from '../present/wants.ts'
import {
  assetContext,
  dataErrors,
  noData,
  replyAboutNow,
  replyCached,
  RETRY_AFTER_SECONDS,
  type AssetContext,
  warmingUp,
} from './answers.ts'

/** How long it is remembered how far the views of derived data are at least, milliseconds. */
const FLOW_TIME_TTL_MS = 5_000

type Asking = Pick<Call, 'services' | 'caller' | 'route' | 'header'>

/** What a view of trades is made of: the asset asked for, what traded, and where its flow is. */
export interface TradeContext extends AssetContext {
  /** Newest partition time of the derived data: the `now` of the data. */
  readonly now: Micros
  readonly traded: readonly Traded[]
  /** First trade in the log of those that traded. */
  readonly since: Micros | null
  readonly positions: FlowPositions
}

/**
 * Answers a question about an asset's trades: from the cache where it is fresh, with the specified object while the
 * symbol warms up, 503 where there is nothing to say. `rest`: every further parameter that the answer depends on.
 */
export async function replyTrades(
  call: Asking,
  { symbol, rest }: { symbol: string; rest: readonly unknown[] },
  view: (context: TradeContext) => Promise<View>,
): Promise<Reply | Run> {
  const context = assetContext(call.services, symbol)
  const { asset, clock } = context
  const state = readinessOf(call.services, context, isMeant(call.services, context.asset))
  if (state === 'unwanted' || state === 'warming') return warmUp(call, context, state)
  const told = state === 'unavailable' ? undefined : await flowTime(call, asset)
  if (told === undefined) throw noData(`trade of ${context.symbol}`)
  const key = [asset, ...rest]
  return keepingWanted(call, asset, () => replyCached(call, { key, clock }, () => view(tradeContext(context, told))))
}

function tradeContext(context: AssetContext, told: Micros): TradeContext {
  const { present, asset } = context
  const positions = flowPositions(present, asset, told)
  // Where ClickHouse is behind, nothing newer is told than what it has.
  const newestTo = positions.storedTo === Infinity ? positions.now : Infinity
  const traded = tradedOf(context).map((row) => ({ ...row, newest: Math.min(row.newest, newestTo) }))
  return { ...context, now: positions.now, traded, since: firstOf(traded), positions }
}

/** Time of the first trade of instruments; null: none. */
export function firstOf(traded: readonly Traded[]): Micros | null {
  return traded.length === 0 ? null : Math.min(...traded.map(({ first }) => first))
}

/** Whoever gets the answer keeps its asset wanted. */
export function keepingWanted(call: Asking, asset: string, run: Run): Run {
  const { wants, preSubscribed, now, log } = call.services
  wants.settle(asset)
  if (preSubscribed.has(asset)) return run
  return (paid) => {
    // A symbol lapses a day after the last request for it; the feeds learn of requests from the log.
    wants.renew(asset, now()).catch((error: unknown) => {
      log.warn({ err: error, asset }, 'a want could not be renewed; the next request tries again')
    })
    return run(paid)
  }
}

/**
 * Answers about now of data that are gathered for wanted assets only: as `replyTrades`, but of one moment of the present.
 */
export async function replyWanted(
  call: Asking,
  symbol: string,
  view: (context: AssetContext) => View,
): Promise<Reply | Run> {
  const { asset } = assetContext(call.services, symbol)
  return (await warming(call, symbol)) ?? keepingWanted(call, asset, await replyAboutNow(call, symbol, view))
}

interface AssetRoute extends Pick<Route, 'path' | 'name' | 'description' | 'priceUsdc' | 'ttlMs'> {
  readonly output: Output
  readonly view: (context: AssetContext) => View
  /** Its data are gathered for wanted assets only. */
  readonly isWanted?: true
}

/** A route that tells of one asset as it is now. */
export function assetRoute({ output, view, isWanted, ...row }: AssetRoute): Route {
  const reply = isWanted ? replyWanted : replyAboutNow
  return dataRoute({
    ...row,
    input: { symbol },
    outputs: { 200: output, ...(isWanted && { 202: warmingUp }) },
    errors: dataErrors,
    prepare: (call) => reply(call, call.input.symbol, view),
  })
}

/** The specified object while the symbol warms up; undefined: what there is can be given. */
export async function warming(call: Asking, symbol: string): Promise<Reply | undefined> {
  const context = assetContext(call.services, symbol)
  const state = readinessOf(call.services, context, isMeant(call.services, context.asset))
  return state === 'unwanted' || state === 'warming' ? warmUp(call, context, state) : undefined
}

/** How far the views of derived data are, at least. */
async function flowTime({ services }: Asking, asset: string): Promise<Micros | undefined> {
  const partition = partitionOf(asset, services.partitions)
  const load = (): Promise<Micros | undefined> => readPartitionTime(services.database, 'derived.flow', partition)
  return (await services.cache.get(`flow_time|${partition}`, FLOW_TIME_TTL_MS, load)).value
}

function isMeant({ preSubscribed, wants, now }: Services, asset: string): boolean {
  return preSubscribed.has(asset) || wants.stands(asset, now())
}

/** `meant`: as of `StreamFacts`. */
export function readinessOf(services: Services, context: AssetContext, meant: boolean): Readiness {
  const { asset, world, clock } = context
  const since = firstOf(tradedOf(context))
  const asked = services.wants.askedAt(asset)
  const rows = acknowledgedOf(world, asset)
  const first = Math.min(...rows.map((row) => row.since))
  return readiness({
    listed: listedVenues(context),
    acknowledged: acknowledgedVenues(asset, world, clock),
    meant,
    askedAge: asked === undefined ? undefined : services.now() - asked,
    acknowledgedAge: rows.length === 0 ? undefined : (clock - first) / 1000,
    firstTradeAge: since === null ? undefined : (clock - since) / 1000,
  })
}

/** The specified `warming_up` object; asks for the symbol if nobody has. Nothing is ever charged for it. */
async function warmUp(call: Asking, listed: Listed, state: 'unwanted' | 'warming'): Promise<Reply> {
  const { symbol } = listed
  await want(call, listed, state)
  const message = `${symbol} is being subscribed on its venues; ask again in ${RETRY_AFTER_SECONDS} seconds.`
  const body = { symbol, status: 'warming_up', message, timestamp: call.services.timestamp(), cached: false }
  return jsonReply(202, body, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) }, isFree: true })
}

async function want(
  { services, caller }: Asking,
  { asset, symbol }: Listed,
  state: 'unwanted' | 'warming',
): Promise<void> {
  const now = services.now()
  services.wants.wait(caller, asset, now)
  if (state === 'unwanted')
    await services.wants.ask(asset, now).catch((error: unknown) => {
      throw new ApiError('data_unavailable', `${symbol} cannot be subscribed right now; try again in a moment.`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        cause: error,
      })
    })
}
