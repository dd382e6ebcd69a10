import type { Micros } from '../../schemas/records.ts'
import { findAsset, type Catalogue, type Listed } from '../catalogue.ts'
import { ApiError } from '../errors.ts'
import { openJson, type Answer, type Route } from '../route.ts'
import { dataClock, type Kept, type Services } from '../services.ts'
import { iso } from '../views/time.ts'
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

/** Answers from the cache, or builds: one build per key at a time, however many callers. */
export async function answerKept(
  services: Services,
  row: Row,
  { key, clock }: { key: readonly unknown[]; clock: Micros },
  build: () => Promise<Built>,
): Promise<Answer> {
  const hit = await services.answers.get([row.name, ...key].join('|'), row.ttlMs, async () => keep(await build()))
  return answerOf(services, row, hit, clock)
}

/** An answer about one asset that depends on nothing but the asset and `rest`. */
export async function answerAbout(
  services: Services,
  row: Row,
  { symbol, rest = [] }: { symbol: string; rest?: readonly unknown[] },
  build: (about: About) => Promise<Built>,
): Promise<Answer> {
  const about = await aboutSymbol(services, symbol)
  return answerKept(services, row, { key: [about.asset, ...rest], clock: about.clock }, () => build(about))
}

export function answerOf(
  services: Services,
  row: Row,
  hit: { readonly value: Kept; readonly cached: boolean; readonly freshForMs: number },
  clock: Micros,
): Answer {
  const { value, cached, freshForMs } = hit
  services.metrics.cacheHits.inc({ route: row.name, cached: String(cached) })
  return { kind: 'data', status: 200, open: withAge(value, clock), close: value.close, cached, freshForMs }
}

function keep({ body, asOf, freshUntil, perAnswer }: Built): Kept {
  return { ...openJson(body), asOf, freshUntil, ...(perAnswer === undefined ? {} : { perAnswer }) }
}

/** Adds what depends on the clock. */
function withAge({ open, asOf, freshUntil, perAnswer }: Kept, clock: Micros): string {
  const more = perAnswer === undefined ? '' : `,${openJson(perAnswer(clock)).open.slice(1)}`
  const ageMs = Math.round(Math.max(0, clock - asOf) / 1000)
  return `${open}${more},"as_of":"${iso(asOf)}","age_ms":${ageMs},"stale":${clock > freshUntil}`
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
