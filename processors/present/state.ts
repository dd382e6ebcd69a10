import type {
  CompositePrice,
  Cvd,
  Flow,
  Funding,
  Gap,
  Instrument,
  Liquidation,
  LiquidationRisk,
  LongShortRatio,
  Micros,
  SpotTicker,
  SubscriptionChange,
  Token,
  VenueState,
} from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { partsOf } from '../../schemas/venues.ts'
import type { LiquidationSum } from './liquidation-sums.ts'

/** A settled rate of one perpetual. */
export interface Settled {
  readonly rate: number
  readonly time: Micros
}

/** What one feed process says of its venues for one topic, from its newest mark there. */
export interface Channels {
  readonly topic: TopicName
  readonly writer: string
  readonly run: Micros
  readonly time: Micros
  readonly venues: readonly VenueState[]
}

interface Subscribed extends SubscriptionChange {
  readonly writer: string
}

/** A liquidation with its place in its partition. */
export interface LoggedLiquidation extends Liquidation {
  readonly offset: number
}

/** What was liquidated of an asset before the window of events, since the model counts. */
interface Observed {
  readonly since: Micros
  readonly longUsd: number
  readonly shortUsd: number
}

/** The first and the newest trade of an instrument. */
interface Traded {
  readonly asset: string
  readonly instrument: string
  readonly first: Micros
  readonly newest: Micros
}

/** What takers bought and sold at a venue in an hour of its past: by its candle, or by its archive of trades. */
export interface PastHour {
  readonly start: Micros
  readonly buy: number
  readonly sell: number
  readonly buy_quote: number
  readonly sell_quote: number
  readonly source: 'archive' | 'venue_candles'
}

/** Hours of an instrument’s past of which it is known what takers bought, oldest first, changed in place. */
interface HeldPast {
  readonly asset: string
  readonly instrument: string
  readonly hours: PastHour[]
}

/** A stretch of time, both ends included. */
interface Lost {
  readonly from: Micros
  readonly to: Micros
}

/** What is held of each kind, by what it is keyed. */
export interface Held {
  /** by instrument */
  readonly ticker: SpotTicker
  /** by asset: of the spot market that its perpetuals are held against, the ticker at `funding`'s time and those after it */
  readonly against: readonly SpotTicker[]
  /** by asset, with the prices that made it */
  readonly price: CompositePrice
  /** by asset */
  readonly risk: LiquidationRisk
  /** by asset */
  readonly funding: Funding
  /** by instrument, newest first */
  readonly settled: { readonly asset: string; readonly instrument: string; readonly rates: readonly Settled[] }
  /** by instrument: positions of its venue's top traders */
  readonly ratio: LongShortRatio
  /** by instrument: fraction per day, where its venue says it */
  readonly interest: { readonly interest_daily: number | null; readonly received: Micros }
  /** by stretches of five minutes of venue time, in the log's order */
  readonly liquidations: readonly LoggedLiquidation[]
  /** by stretch: of those that left before their day was over, by asset */
  readonly early: readonly LiquidationSum[]
  /** by asset */
  readonly observed: Observed
  /** `received` of the first liquidation of the partition, under an empty key; under `COUNTED` from when on all are counted */
  readonly begun: Micros
  /** by instrument and gap */
  readonly gap: Gap
  /** by topic and writer */
  readonly channels: Channels
  /** by writer and instrument */
  readonly subscription: Subscribed
  /** by topic: its newest mark */
  readonly time: Micros
  /** by processor: the newest mark that it wrote */
  readonly derived: Micros
  /** by instrument */
  readonly traded: Traded
  /** by asset: what has closed */
  readonly cvd: Cvd
  /** by asset, instrument, bucket and part: rows of buckets that `cvd` does not count yet, or only since a moment ago */
  readonly open: Flow
  /** by instrument: the last eight days before its newest candle */
  readonly past: HeldPast
  /** by place: when the log lost trades, or may have, before the processor cvd counted them */
  readonly lost: Lost
  /** by id */
  readonly token: Token
  /** by instrument */
  readonly instrument: Instrument
}

/** Five minutes of liquidations, by whose number since the epoch they are held. */
export const STRETCH: Micros = 300_000_000
/** Liquidations that a partition holds, of a day and one stretch more; beyond, the oldest stretch goes early, but for its sums. */
export const LIQUIDATIONS_MAX = 50_000
/** From then on each liquidation is held, or in a sum of what left early. */
export const COUNTED = 'counted'

/** The spot markets that perpetuals are held against. */
export const heldAgainst = { venue: 'binance', quote: 'USDT' } as const

export function isHeldAgainst({ instrument, quote }: Pick<SpotTicker, 'instrument' | 'quote'>): boolean {
  return quote === heldAgainst.quote && partsOf(instrument).venue === heldAgainst.venue
}

export type HeldKind = keyof Held

type Tables = { readonly [Kind in HeldKind]: Map<string, Held[Kind]> }

type ByAssetKind = 'open' | 'gap'

/** The newest values of one partition. Values but `past` are never changed in place, so that who holds one holds that moment. */
export interface PresentState extends Tables {
  /** Keys of what changed since the last save. */
  readonly changed: Set<string>
  /** By kind: rises with each change, so that what was made of it is known to be of this moment. */
  readonly versions: Record<HeldKind, number>
  /** What is asked for by asset, under the same keys: no answer about one looks through those of all. */
  readonly byAsset: { readonly [Kind in ByAssetKind]: Map<string, Map<string, Held[Kind]>> }
}

export const heldKinds = [
  'ticker',
  'against',
  'price',
  'risk',
  'funding',
  'settled',
  'ratio',
  'interest',
  'liquidations',
  'early',
  'observed',
  'begun',
  'gap',
  'channels',
  'subscription',
  'time',
  'derived',
  'traded',
  'cvd',
  'open',
  'past',
  'lost',
  'token',
  'instrument',
] as const satisfies readonly HeldKind[]

export function emptyPresent(): PresentState {
  const none: object = Object.fromEntries(heldKinds.map((kind) => [kind, new Map()]))
  const tables = none as Tables // one for each kind, and nothing in it
  const versions = Object.fromEntries(heldKinds.map((kind) => [kind, 0])) as Record<HeldKind, number>
  return { ...tables, changed: new Set(), versions, byAsset: { open: new Map(), gap: new Map() } }
}

/** Sets the value of a key. */
export function put<Kind extends HeldKind>(state: PresentState, kind: Kind, key: string, value: Held[Kind]): void {
  if (isByAsset(kind)) list(state, kind, key, value as Held[ByAssetKind])
  const table = state[kind] as Map<string, Held[Kind]>
  table.set(key, value)
  note(state, kind, key)
}

export function drop(state: PresentState, kind: HeldKind, key: string): void {
  if (isByAsset(kind)) list(state, kind, key, undefined)
  if (state[kind].delete(key)) note(state, kind, key)
}

function isByAsset(kind: HeldKind): kind is ByAssetKind {
  return kind === 'open' || kind === 'gap'
}

/** Before a key has the value, or, undefined, none any more. */
function list(state: PresentState, kind: ByAssetKind, key: string, value: Held[ByAssetKind] | undefined): void {
  const assets: Map<string, Map<string, Held[ByAssetKind]>> = state.byAsset[kind]
  const before = state[kind].get(key)?.asset
  if (before !== undefined && before !== value?.asset) {
    const left = assets.get(before)
    left?.delete(key)
    if (left?.size === 0) assets.delete(before)
  }
  if (value === undefined) return
  const values = assets.get(value.asset) ?? new Map<string, Held[ByAssetKind]>()
  assets.set(value.asset, values.set(key, value))
}

function note(state: PresentState, kind: HeldKind, key: string): void {
  state.changed.add(`${kind}|${key}`)
  state.versions[kind] += 1
}

/** The parts that changed since the last call, as JSON, which writes doubles exactly; null: gone. */
export function savePresent(state: PresentState): Map<string, Buffer | null> {
  const parts = new Map<string, Buffer | null>()
  for (const name of state.changed) {
    const at = name.indexOf('|')
    const value: unknown = state[name.slice(0, at) as HeldKind].get(name.slice(at + 1))
    parts.set(name, value === undefined ? null : Buffer.from(JSON.stringify(value)))
  }
  state.changed.clear()
  return parts
}

export function loadPresent(parts: ReadonlyMap<string, Buffer>): PresentState {
  const state = emptyPresent()
  for (const [name, part] of parts) {
    const at = name.indexOf('|')
    const table = state[name.slice(0, at) as HeldKind] as Map<string, unknown>
    table.set(name.slice(at + 1), JSON.parse(part.toString()))
  }
  for (const kind of ['open', 'gap'] as const) for (const [key, value] of state[kind]) list(state, kind, key, value)
  countFromHeld(state)
  return state
}

/**
 * A former release kept no sums of what left early. Where much is held something may have: from the oldest that is held on
 * all are counted. Where little is held nothing of this day has left, since what came after it would be held.
 */
function countFromHeld(state: PresentState): void {
  const { begun, liquidations } = state
  if (!begun.has('') || begun.has(COUNTED)) return
  const count = [...liquidations.values()].reduce((sum, { length }) => sum + length, 0)
  const first = Math.min(...[...liquidations.keys()].map(Number))
  put(state, 'begun', COUNTED, count > LIQUIDATIONS_MAX / 2 ? first * STRETCH : 0)
}
