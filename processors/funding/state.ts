import type { Micros } from '../../schemas/records.ts'
import type { FundingVenue, RatioVenue } from '../../schemas/venues.ts'
import type { FundingTerms } from './formula.ts'
import type { Sentiment, FundingClass } from './classes.ts'

/** Closes of the premium index, fraction, by minute since the Unix epoch. */
export type Minutes = Map<number, number>

export const MINUTE: Micros = 60_000_000
/** A perpetual that was not heard of for this long is forgotten; so is a ratio. */
export const FORGOTTEN: Micros = 24 * 60 * MINUTE
/** Premium closes are kept for this long while it is not known when the last settlement was, minutes. */
export const UNSETTLED_MINUTES = 24 * 60

/** What one venue says of its perpetual: each group with its own venue time, null before the first. */
export interface Perp {
  readonly asset: string
  readonly instrument: string
  readonly venue: FundingVenue
  rate: { readonly rate: number; readonly next: Micros | null; readonly time: Micros } | null
  mark: { readonly price: number; readonly time: Micros } | null
  index: { readonly price: number; readonly time: Micros } | null
  openInterest: { readonly size: number; readonly time: Micros } | null
  /** Newest minute of the premium index. */
  premium: { readonly premium: number; readonly minute: number } | null
  settled: { readonly rate: number; readonly time: Micros } | null
  /** Null while nobody has told them: its rate is of a time that is not known. */
  terms: FundingTerms | null
  /** When anything was received of it last. */
  heard: Micros
  /** Premium closes since the last settlement. */
  readonly minutes: Minutes
  /** Minutes before this one belong to a settlement that has passed. */
  start: number | null
  isChanged: boolean
  /** Hours since the Unix epoch whose minutes changed. */
  readonly changedHours: Set<number>
}

/** One whose interval is known. */
export type KnownPerp = Perp & { readonly terms: FundingTerms }

/** A top traders' ratio of long to short positions. */
export interface Ratio {
  readonly instrument: string
  readonly ratio: number
  readonly time: Micros
  readonly received: Micros
}

export interface AssetState {
  readonly asset: string
  readonly perps: Map<string, Perp>
  readonly ratios: Map<RatioVenue, Ratio>
  /** Class of each venue's running rate. */
  readonly classes: Map<FundingVenue, FundingClass>
  sentiment: Sentiment | null
  /** Something changed since the last record. */
  isDirty: boolean
  /** Partition time of the last record, and of the last metric. */
  emitted: Micros
  told: Micros
  isChanged: boolean
}

/** Why something was not used. */
export type Refusal =
  /** Not newer than what is known. */
  | 'old'
  /** A premium of a minute that has been settled. */
  | 'settled_minute'
  /** Of a venue, cohort or market that we do not compare. */
  | 'other'

/** What the processor knows of one partition. Bounded: the catalogue's perpetuals, a day of minutes each at most. */
export interface FundingState {
  /** Partition time. */
  time: Micros
  readonly assets: Map<string, AssetState>
  readonly refused: Record<Refusal, number>
  /** Parts to be erased. */
  readonly gone: Set<string>
}

export function emptyState(): FundingState {
  return { time: 0, assets: new Map(), refused: { old: 0, settled_minute: 0, other: 0 }, gone: new Set() }
}

export function assetOf(state: FundingState, asset: string): AssetState {
  const known = state.assets.get(asset)
  if (known !== undefined) return known
  const made: AssetState = {
    asset,
    perps: new Map(),
    ratios: new Map(),
    classes: new Map(),
    sentiment: null,
    isDirty: false,
    emitted: 0,
    told: 0,
    isChanged: true,
  }
  state.assets.set(asset, made)
  return made
}

export function perpOf(owner: AssetState, instrument: string, venue: FundingVenue): Perp {
  const known = owner.perps.get(instrument)
  if (known !== undefined) return known
  const made: Perp = {
    asset: owner.asset,
    instrument,
    venue,
    rate: null,
    mark: null,
    index: null,
    openInterest: null,
    premium: null,
    settled: null,
    terms: null,
    heard: 0,
    minutes: new Map(),
    start: null,
    isChanged: true,
    changedHours: new Set(),
  }
  owner.perps.set(instrument, made)
  return made
}
