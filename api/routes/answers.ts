import type { Micros } from '../../schemas/records.ts'
import { findAsset, type Catalogue, type Listed } from '../catalogue.ts'
import { ApiError } from '../errors.ts'
import type { Answer, Draft, Route } from '../route.ts'
import type { Hit } from '../cache.ts'
import { dataClock, type Kept, type Services } from '../services.ts'
import { keptOf } from '../kept.ts'
import type { World } from '../views/world.ts'

/** When a caller should come back for a symbol that warms up, or for data that are not there, seconds. */
export const RETRY_AFTER_SECONDS = 10

/** What the log says about itself, and the clock that ages are told by. */
export interface Scene {
  readonly world: World
  readonly catalogue: Catalogue
  /** Host's clock; on a tape the tape's. */
  readonly clock: Micros
}

/** The asset that was asked for, and the scene. */
export interface About extends Scene, Listed {}

/** What a handler built: a body, and how old it is. */
export interface Built {
  readonly body: object
  /** Time of the newest input. */
  readonly asOf: Micros
  /** From here on the answer is stale. */
  readonly freshUntil: Micros
  /** Further fields that depend on the clock; they come after the body's and replace those of the same name. */
  readonly perAnswer?: (clock: Micros) => object
}

export type Row = Pick<Route, 'name' | 'ttlMs'>

export async function sceneOf(services: Services): Promise<Scene> {
  const [catalogue, world] = await Promise.all([services.catalogue(), services.world()])
  return { world, catalogue, clock: dataClock(services, world) }
}

/** The asset of a request's upper-case symbol; throws `symbol_not_found`. */
export async function aboutSymbol(services: Services, symbol: string): Promise<About> {
  const scene = await sceneOf(services)
  return { ...scene, ...findAsset(symbol, scene.catalogue) }
}

export type KeptAnswer = Extract<Answer, { readonly kind: 'kept' }>

/** Answers from the cache, or builds: one build per key at a time, however many callers. */
export async function answerKept(
  services: Services,
  row: Row,
  { key, clock }: { key: readonly unknown[]; clock: Micros },
  build: () => Promise<Built>,
): Promise<KeptAnswer> {
  const name = [row.name, ...key].join('|')
  const { value, cached, freshForMs } = await services.answers.get(name, row.ttlMs, async () => keep(await build()))
  return { kind: 'kept', key: name, kept: value, clock, cached, freshForMs }
}

/** An answer that is cut from a board of the cache: it is kept as long as the board is. */
export async function answerCut(
  services: Services,
  row: Row,
  { key, clock, board }: { key: readonly unknown[]; clock: Micros; board: Omit<Hit<unknown>, 'value'> },
  cut: () => Kept,
): Promise<KeptAnswer> {
  const name = [row.name, ...key].join('|')
  const { value } = await services.answers.get(name, board.freshForMs, async () => cut())
  return { kind: 'kept', key: name, kept: value, clock, cached: board.cached, freshForMs: board.freshForMs }
}

/** An answer about one asset that depends on nothing but the asset and `rest`. */
export async function answerAbout(
  services: Services,
  row: Row,
  { symbol, rest = [] }: { symbol: string; rest?: readonly unknown[] },
  build: (about: About) => Promise<Built>,
): Promise<Draft> {
  const about = await aboutSymbol(services, symbol)
  const key = [about.asset, ...rest]
  return draft(() => answerKept(services, row, { key, clock: about.clock }, () => build(about)))
}

/** An answer that is made when it is asked for. */
export function draft(give: () => Promise<Answer>): Draft {
  return { kind: 'draft', give }
}

function keep({ body, asOf, freshUntil, perAnswer }: Built): Kept {
  const times = { asOf, freshUntil, ...(perAnswer === undefined ? {} : { perAnswer }) }
  return keptOf(JSON.stringify(body).slice(0, -1), '}', times)
}

/** 503: the thing exists, there is nothing to say of it right now. */
export function noData(what: string, cause?: unknown): ApiError {
  return new ApiError('data_unavailable', `There is no ${what} right now; try again in a moment.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  })
}

/** 404: no venue lists what the answer would be about. */
export function notListed(what: string): ApiError {
  return new ApiError('symbol_not_found', `${what}; try BTC, ETH or SOL.`, { field: 'symbol' })
}
