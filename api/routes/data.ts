import type { Micros } from '../../schemas/records.ts'
import type { Listed } from '../catalogue.ts'
import { ApiError } from '../errors.ts'
import type { Answer, Call, Draft } from '../route.ts'
import { readFirstTrade } from '../views/first.ts'
import { acknowledgedVenues, listedVenues } from '../views/venues.ts'
import { partitionTime } from '../views/world.ts'
import { readiness, type Readiness } from '../warmup.ts'
import {
  aboutSymbol,
  answerKept,
  noData,
  RETRY_AFTER_SECONDS,
  type About,
  type Built,
  type KeptAnswer,
  type Row,
} from './answers.ts'

/** How long the first trade of an asset is remembered, milliseconds. */
const FIRST_TRADE_TTL_MS = 2_000

type Asking = Pick<Call, 'services' | 'caller'>

/** What a handler of trades works from: the asset asked for and how far the log is. */
export interface Subject extends About {
  /** Newest partition time of the derived data: the `now` of the data. */
  readonly now: Micros
  /** First trade in the log. */
  readonly since: Micros | null
}

/**
 * Answers a question about an asset's trades: from the cache where it is fresh, with the specified object while the
 * symbol warms up, 503 where there is nothing to say. `rest`: every further parameter that the answer depends on.
 */
export async function answerAsset(
  call: Asking,
  row: Row,
  key: { symbol: string; rest: readonly unknown[] },
  build: (subject: Subject) => Promise<Built>,
): Promise<Answer | Draft> {
  const { services } = call
  const about = await aboutSymbol(services, key.symbol)
  const { asset, symbol, world, clock } = about
  const since = await firstTrade(call, asset)
  const state = readinessOf(call, about, since)
  if (state === 'unwanted' || state === 'warming') return warmUp(call, about, state)
  if (state === 'unavailable') throw noData(`trade of ${symbol}`)
  const now = partitionTime(world, 'derived.flow', asset, services.partitions)
  if (now === undefined) throw noData(`trade of ${symbol}`)
  return keptWanted(call, asset, () =>
    answerKept(services, row, { key: [asset, ...key.rest], clock }, () => build({ ...about, now, since })),
  )
}

/** Whoever gets the answer keeps its asset wanted. */
function keptWanted(call: Asking, asset: string, give: () => Promise<KeptAnswer>): Draft {
  const used = keeper(call, asset)
  return {
    kind: 'draft',
    async give() {
      used()
      return { ...(await give()), used }
    },
  }
}

/**
 * Answers about data that are gathered for wanted assets only: as `answerAsset`, but it does not depend on the trades
 * themselves.
 */
export async function answerWanted(
  call: Asking,
  row: Row,
  symbol: string,
  build: (about: About) => Promise<Built>,
): Promise<Answer | Draft> {
  const { services } = call
  const about = await aboutSymbol(services, symbol)
  const state = readinessOf(call, about, await firstTrade(call, about.asset))
  if (state === 'unwanted' || state === 'warming') return warmUp(call, about, state)
  const { asset, clock } = about
  return keptWanted(call, asset, () => answerKept(services, row, { key: [asset], clock }, () => build(about)))
}

async function firstTrade({ services }: Asking, asset: string): Promise<Micros | null> {
  const load = (): Promise<Micros | null> => readFirstTrade(services.database, asset)
  return (await services.firstTrades.get(asset, FIRST_TRADE_TTL_MS, load)).value
}

function readinessOf({ services }: Asking, about: About, since: Micros | null): Readiness {
  const { asset, world, catalogue, clock } = about
  const asked = services.wants.askedAt(asset)
  const rows = world.subscriptions.filter((row) => row.asset === asset && row.state === 'acknowledged')
  const first = Math.min(...rows.map((row) => row.since))
  return readiness({
    listed: listedVenues(asset, world, catalogue),
    acknowledged: acknowledgedVenues(asset, world, clock),
    meant: services.preSubscribed.has(asset) || services.wants.stands(asset, services.now()),
    askedAge: asked === undefined ? undefined : services.now() - asked,
    acknowledgedAge: rows.length === 0 ? undefined : (clock - first) / 1000,
    firstTradeAge: since === null ? undefined : (clock - since) / 1000,
  })
}

/** The specified `warming_up` object; asks for the symbol if nobody has. Nothing is ever charged for it. */
async function warmUp(call: Asking, { asset, symbol }: Listed, state: 'unwanted' | 'warming'): Promise<Answer> {
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
function keeper({ services }: Asking, asset: string): () => void {
  services.wants.settle(asset)
  if (services.preSubscribed.has(asset)) return () => undefined
  return () => {
    services.wants.renew(asset, services.now()).catch((error: unknown) => {
      services.log.warn({ err: error, asset }, 'a want could not be renewed; the next request tries again')
    })
  }
}
