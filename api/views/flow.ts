import { LATENESS } from '../../processors/cvd/state.ts'
import { flowHeldFrom } from '../../processors/present/present.ts'
import type { Flow, Micros } from '../../schemas/records.ts'
import { partsOf, type TradeVenueRow } from '../../schemas/venues.ts'
import type { Present } from '../present/present.ts'
import { flowTime } from './cvd.ts'
import { floorTo, intervals, type Range } from './range.ts'
import { timeParam } from './time.ts'

/**
 * SQL of what the views `flow_10s`, `flow_5m` and `flow_1h` are of: one row of each key. The views name 24 columns, which costs every
 * question that goes by them 4 to 8 ms of planning.
 */
export const bucketsTable = 'flow_log FINAL'
export const fivesTable = 'flow_fives_log FINAL'
export const hoursTable = 'flow_hours_log FINAL'
/** SQL of which of them are read beside hours, as `storedRange` says. */
export const fivesRead = `start >= greatest(${timeParam('hours')}, ${timeParam('begun')}) AND start < ${timeParam('fives')}`
export const bucketsRead = `(bucket >= ${timeParam('hours')} AND bucket < ${timeParam('begun')} OR bucket >= ${timeParam('fives')})`
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
  /** Hours before it are read as hours, five minutes before `fivesTo` as such. */
  readonly hoursTo: Micros
  readonly fivesTo: Micros
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
    return { now: told, ...sumsTo(told - LATENESS), storedTo: Infinity, held: [] }
  const held = [...(state.byAsset.open.get(asset)?.values() ?? [])].filter((row) => row.bucket >= storedTo)
  return { now, ...sumsTo(storedTo), storedTo, held }
}

function sumsTo(closed: Micros): Pick<FlowPositions, 'hoursTo' | 'fivesTo'> {
  return { hoursTo: floorTo(closed, intervals['1h']), fivesTo: floorTo(closed, intervals['5m']) }
}

type Bounds = Range & Readonly<Record<'hours' | 'fives' | 'begun', Micros>>

/** Which tables have something of what is read: each costs a question 5 to 15 ms of ClickHouse's processor time. */
export type TablesRead = Readonly<Record<'hours' | 'fives' | 'buckets', boolean>>

/** `from`: nothing before it is read. */
export function tablesRead({ hours, fives, begun, to }: Bounds, from: Micros): TablesRead {
  return {
    hours: from < hours,
    fives: Math.max(from, hours, begun) < fives,
    buckets: Math.max(from, fives) < to || Math.max(from, hours) < Math.min(begun, to),
  }
}

interface Reading {
  readonly width: Micros
  /** What lies before the range is wanted too. */
  readonly before: boolean
  /** Where an instrument's trades begin to count within five minutes: these are read as buckets. */
  readonly begun: Micros
}

/**
 * Bounds of what is read of a range in buckets of a width: whole hours up to `hours`, five minutes from there up to `fives`,
 * buckets from there up to `to`, and up to `begun` too.
 */
export function storedRange(
  { hoursTo, fivesTo, storedTo }: FlowPositions,
  { from, to }: Range,
  { width, before, begun }: Reading,
): Bounds {
  const wholeTo = width % intervals['1h'] === 0 ? to : before ? floorTo(from, intervals['1h']) : from
  const hours = Math.min(wholeTo, hoursTo)
  const fives = width % intervals['5m'] === 0 ? Math.max(hours, Math.min(to, fivesTo)) : hours
  return { from, hours, fives, begun, to: Math.min(to, storedTo) }
}
