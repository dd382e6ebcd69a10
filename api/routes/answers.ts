import type { Micros } from '../../schemas/records.ts'
import type { TradeVenueRow } from '../../schemas/venues.ts'
import { findAsset, type Catalogue, type Listed } from '../present/catalogue.ts'
import { ApiError } from '../request/errors.ts'
import { positionText, type Present } from '../present/present.ts'
import { dataReply, type Reply, type ReplyMeta, type View } from '../request/reply.ts'
import { type Call, jsonOutput, type Run } from '../request/route.ts'
import { boolean, instant, integer, nullableInstant, object, oneOf, text, type Schema } from '../request/schema.ts'
import { dataClock, type Services } from '../services.ts'
import type { World } from '../views/world.ts'

/** When a caller should come back for a symbol that warms up, or for data that are not there, seconds. */
export const RETRY_AFTER_SECONDS = 10

/** What views are made of: what is so now, and the clock that ages are told by. */
export interface ViewContext {
  readonly present: Present
  readonly world: World
  readonly catalogue: Catalogue
  /** Venues whose trades count. */
  readonly counted: readonly TradeVenueRow[]
  /** Host's clock; on a tape the tape's. */
  readonly clock: Micros
  /** Host's clock at the same moment, ISO 8601. */
  readonly timestamp: string
}

/** The same, and the asset that was asked for. */
export interface AssetContext extends ViewContext, Listed {}

export function viewContext(services: Services): ViewContext {
  const present = services.present()
  const world = present.world()
  const { counted } = services
  const at = services.now()
  const times = { clock: dataClock(services, world, at), timestamp: services.timestamp(at) }
  return { present, world, counted, catalogue: present.catalogue(counted), ...times }
}

/** The asset of a request's upper-case symbol; throws `symbol_not_found`. */
export function assetContext(services: Services, symbol: string): AssetContext {
  const context = viewContext(services)
  return { ...context, ...findAsset(symbol, context.catalogue) }
}

export type Asking = Pick<Call, 'services' | 'route' | 'header'>

/** An answer about now: made when it is asked for, of one moment of the present. Callers may keep it, we don't. */
export function replyNow(call: Asking, view: (context: ViewContext) => View): Run {
  return async () => {
    const context = viewContext(call.services)
    return { ...dataReply(view(context), metaNow(call, context)), ...positionHeader(call, context) }
  }
}

/** The same of what was made of the present for whoever asked a moment ago. */
export function replyScanned(call: Asking, view: () => Promise<View>): Run {
  return async () => {
    const context = viewContext(call.services)
    return dataReply(await view(), metaNow(call, context))
  }
}

/** To whoever asks for it: which moment of the log the answer is cut from. */
export function positionHeader({ header }: Pick<Asking, 'header'>, { present }: ViewContext): Pick<Reply, 'headers'> {
  if (!/\blog-position\b/i.test(header('prefer'))) return {}
  return { headers: { 'Log-Position': positionText(present.position), 'Preference-Applied': 'log-position' } }
}

/** As `replyNow`, about one asset; throws `symbol_not_found` before anything is paid. */
export async function replyAboutNow(call: Asking, symbol: string, view: (context: AssetContext) => View): Promise<Run> {
  assetContext(call.services, symbol)
  return async () => {
    const context = assetContext(call.services, symbol)
    return { ...dataReply(view(context), metaNow(call, context)), ...positionHeader(call, context) }
  }
}

/** The words of an answer about one asset as it is now, without its headers. */
export function wordsAboutNow(services: Services, symbol: string, view: (context: AssetContext) => View): string {
  const context = assetContext(services, symbol)
  return dataReply(view(context), metaNow({ route: { ttlMs: 0 } }, context)).body
}

interface Telling {
  readonly route: Pick<Call['route'], 'ttlMs'>
}

function metaNow({ route }: Telling, { clock, timestamp }: ViewContext): ReplyMeta {
  return { clock, timestamp, cached: false, freshForMs: route.ttlMs }
}

/** Answers from the cache, or makes the view: one at a time by its key, however many callers. */
export async function replyCached(
  { services, route }: Asking,
  { key, clock }: { key: readonly unknown[]; clock: Micros },
  view: () => Promise<View>,
): Promise<Reply> {
  const name = [route.name, ...key].join('|')
  const load = async (): Promise<View> => {
    const made = await view()
    return { ...made, body: JSON.stringify(made.body) }
  }
  const { value, ...hit } = await services.cache.get(name, route.ttlMs, load)
  return dataReply(value, { ...hit, clock, timestamp: services.timestamp() })
}

/** A cached answer about one asset that depends on nothing but the asset and `rest`. */
export async function replyAbout(
  call: Asking,
  { symbol, rest }: { symbol: string; rest: readonly unknown[] },
  view: (context: AssetContext) => Promise<View>,
): Promise<Run> {
  const context = assetContext(call.services, symbol)
  const { asset, clock } = context
  return () => replyCached(call, { key: [asset, ...rest], clock }, () => view(context))
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

export const stamped = {
  timestamp: instant('When the answer was given'),
  cached: boolean('Whether it came from the cache'),
}

/** How old an answer is; `limit`: from when on it is stale, in words. */
export function agedBy(limit: string): Readonly<Record<'as_of' | 'age_ms' | 'stale', Schema>> {
  return {
    as_of: instant('Time of the newest input'),
    age_ms: integer('How old that is, milliseconds', { minimum: 0 }),
    stale: boolean(`Whether it is older than it may be: ${limit}`),
  }
}

export const warmingUp = jsonOutput(
  'Nobody has asked for the symbol for a while: it is being subscribed. Costs nothing; ask again after `Retry-After`.',
  object('A symbol that is being subscribed', {
    symbol: text('Base asset'),
    status: oneOf(['warming_up'], 'Always warming_up'),
    message: text('What to do'),
    ...stamped,
  }),
)

/** Where an answer about a range goes on. */
export const paged = {
  next: nullableInstant(
    'Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all',
  ),
}

/** Of data that are told by symbol. */
export const dataErrors = ['symbol_not_found', 'data_unavailable'] as const
