import type { Micros } from '../../schemas/records.ts'
import type { FundingVenue } from '../../schemas/venues.ts'
import type { CascadeRisk } from './cascade.ts'
import { USUAL_MARGIN, type MarginTerms } from './leverage.ts'
import { Levels } from './levels.ts'

/** A contract that was not heard of for this long is forgotten. */
export const FORGOTTEN: Micros = 7 * 24 * 3_600_000_000

/** What a venue says of a contract, with its own time and ours. */
export interface Observation {
  /** Quote units of a mark, base units of open interest, one side. */
  readonly value: number
  readonly time: Micros
  readonly received: Micros
}

/** What time has done to a contract since its first sight. */
interface Aged {
  /** Up to when, the venue's time. */
  readonly until: Micros
  /** What its open interest usually is: the mean of the last days, base units. */
  readonly usual: number
}

/** One venue's perpetual. */
export interface Contract {
  readonly asset: string
  readonly instrument: string
  readonly venue: FundingVenue
  mark: Observation | null
  openInterest: Observation | null
  /** Open interest that the levels stand for, base units; null before the first. */
  base: number | null
  terms: MarginTerms
  /** The mark that all levels were laid around, while nothing has changed them since; null after. */
  seed: number | null
  aged: Aged | null
  levels: Levels
  heard: Micros
  isChanged: boolean
}

export interface AssetState {
  readonly asset: string
  readonly contracts: Map<string, Contract>
  /** What marks have crossed since `since`, USD. */
  sweptLong: number
  sweptShort: number
  readonly since: Micros
  risk: CascadeRisk | null
  /** Something changed since the last record. */
  isDirty: boolean
  /** Partition time of the last record. */
  emitted: Micros
  isChanged: boolean
}

/** Why something was not used. */
type Refusal =
  /** Not newer than what is known. */
  | 'old'
  /** Of a venue or market without a place in the model. */
  | 'other'
  /** No price, or a negative size. */
  | 'bad_value'

/** What the processor knows of one partition. Bounded: the catalogue's contracts, 14,000 cells each at most. */
export interface LiquidationsState {
  /** Partition time. */
  time: Micros
  readonly assets: Map<string, AssetState>
  readonly refused: Record<Refusal, number>
  /** Parts to be erased. */
  readonly gone: Set<string>
}

export function emptyState(): LiquidationsState {
  return { time: 0, assets: new Map(), refused: { old: 0, other: 0, bad_value: 0 }, gone: new Set() }
}

/** `at`: when the first word of it was received. */
export function assetOf(state: LiquidationsState, asset: string, at: Micros): AssetState {
  const known = state.assets.get(asset)
  if (known !== undefined) return known
  const made: AssetState = {
    asset,
    contracts: new Map(),
    sweptLong: 0,
    sweptShort: 0,
    since: at,
    risk: null,
    isDirty: false,
    emitted: 0,
    isChanged: true,
  }
  state.assets.set(asset, made)
  return made
}

export function contractOf(owner: AssetState, instrument: string, venue: FundingVenue): Contract {
  const known = owner.contracts.get(instrument)
  if (known !== undefined) return known
  const made: Contract = {
    asset: owner.asset,
    instrument,
    venue,
    mark: null,
    openInterest: null,
    base: null,
    terms: { maxLeverage: null, margin: USUAL_MARGIN },
    seed: null,
    aged: null,
    levels: new Levels(),
    heard: 0,
    isChanged: true,
  }
  owner.contracts.set(instrument, made)
  return made
}
