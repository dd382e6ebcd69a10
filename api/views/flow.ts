import { LATENESS } from '../../processors/cvd/state.ts'
import { flowHeldFrom } from '../../processors/present/present.ts'
import type { Flow, Micros } from '../../schemas/records.ts'
import { partsOf, type TradeVenueRow } from '../../schemas/venues.ts'
import type { Present } from '../present/present.ts'
import { flowTime } from './cvd.ts'
import { floorTo, intervals, type Range } from './range.ts'

/**
 * SQL of what the views `flow_10s` and `flow_1h` are of: one row of each key. The views name 24 columns, which costs every
 * question that goes by them 4 to 8 ms of planning.
 */
export const bucketsTable = 'flow_log FINAL'
export const hoursTable = 'flow_hours_log FINAL'
/** SQL of an instrument's venue. */
export const venueSql = "splitByChar(':', instrument)[1]"

/** The first and the newest trade of one instrument. */
export interface Traded {
  readonly instrument: string
  readonly venue: string
  readonly first: Micros
  readonly newest: Micros
}

interface TradedFacts {
  readonly present: Present
  readonly asset: string
  readonly counted: readonly TradeVenueRow[]
}

/** An asset's instruments that ever traded, on venues whose trades count. */
export function tradedOf({ present, asset, counted }: TradedFacts): Traded[] {
  const rows = [...present.of(asset).traded.values()].filter((row) => row.asset === asset)
  return rows
    .filter(({ instrument }) => isCounted(instrument, counted))
    .map(({ instrument, first, newest }) => ({ instrument, venue: partsOf(instrument).venue, first, newest }))
}

/** Whether an instrument's trades count. */
export function isCounted(instrument: string, counted: readonly TradeVenueRow[]): boolean {
  const { venue } = partsOf(instrument)
  return counted.some((row) => row.venue === venue)
}

/** Where an asset's flow is to be had from, and how far it is. */
export interface FlowPositions {
  /** The `now` of the data. */
  readonly now: Micros
  /** Hours before it are read as hours. */
  readonly hoursTo: Micros
  /** Buckets before it are read from ClickHouse, the others are `held`. */
  readonly storedTo: Micros
  readonly held: readonly Flow[]
}

/**
 * The newest flow from memory, the rest from ClickHouse. `told`: a partition time up to which ClickHouse has all; where it
 * lags far behind it is told how things were then, by its rows alone.
 */
export function flowPositions(present: Present, asset: string, told: Micros): FlowPositions {
  const state = present.of(asset)
  const storedTo = flowHeldFrom(state, asset)
  const now = flowTime(present, asset)
  if (now === undefined || storedTo === 0 || told < storedTo + LATENESS)
    return { now: told, hoursTo: floorTo(told - LATENESS, intervals['1h']), storedTo: Infinity, held: [] }
  const held = [...state.open.values()].filter((row) => row.asset === asset && row.bucket >= storedTo)
  return { now, hoursTo: floorTo(storedTo, intervals['1h']), storedTo, held }
}

/**
 * Bounds of what is read of a range in buckets of `width`: whole hours up to `hours`, buckets from there up to `to`.
 * `before`: what lies before the range is wanted too.
 */
export function storedRange(
  { hoursTo, storedTo }: FlowPositions,
  { from, to }: Range,
  { width, before }: { readonly width: Micros; readonly before: boolean },
): Range & { readonly hours: Micros } {
  const wholeTo = width % intervals['1h'] === 0 ? to : before ? floorTo(from, intervals['1h']) : from
  return { from, hours: Math.min(wholeTo, hoursTo), to: Math.min(to, storedTo) }
}
