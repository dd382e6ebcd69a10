import type { Stretch } from '../../processors/cvd/covered-time.ts'
import type { PastHour } from '../../processors/present/state.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Present } from '../present/present.ts'
import type { First } from './covered.ts'
import { ceilTo, floorTo, intervals } from './range.ts'

const HOUR = intervals['1h']

/** The hours of a venue's past that count in a period, one at least, oldest first: each lies wholly within it. */
export interface HeldPast {
  readonly hours: readonly PastHour[]
  /** Trades count from then on: from the first, or behind its hour where that is one of the hours; Infinity: there are none. */
  readonly until: Micros
}

/**
 * What is told of an instrument's time before its trades, from memory. `first`: its first trade, Infinity: there is none.
 * Undefined: nothing.
 */
export function heldPast(
  present: Present,
  { asset, instrument, first }: { readonly asset: string; readonly instrument: string; readonly first: Micros },
  { from, to }: Stretch,
): HeldPast | undefined {
  const held = present.of(asset).past.get(instrument)
  const hours = (held?.hours ?? []).filter(({ start }) => start >= from && start < first && start + HOUR <= to)
  const last = hours.at(-1)
  return last === undefined ? undefined : { hours, until: Math.max(first, last.start + HOUR) }
}

/** Instruments of an asset of which there is a past, whether they traded or not. */
export function pastInstruments(present: Present, asset: string): string[] {
  return [...present.of(asset).past.values()].filter((one) => one.asset === asset).map(({ instrument }) => instrument)
}

interface WithPast {
  readonly instrument: string
  readonly first: Micros
  readonly past: HeldPast | undefined
}

/** The same instrument as if it had traded since the first of the hours, but for those that nobody tells, or not as `told`. */
export function firstWithPast(
  { instrument, first, past }: WithPast,
  told: (hour: PastHour) => boolean = () => true,
): First {
  const [oldest] = past?.hours ?? []
  if (past === undefined || oldest === undefined) return { instrument, first }
  const starts = past.hours.filter(told).map(({ start }) => start)
  const ends = [oldest.start, ...starts.map((start) => start + HOUR)]
  const unread = ends.map((from, index) => ({ from, to: starts[index] ?? past.until }))
  return { instrument, first: oldest.start, unread: unread.filter(({ from, to }) => from < to) }
}

/** Of what a period's figures are made; null: of nothing. */
export function heldSource(rows: readonly Omit<WithPast, 'instrument'>[]): Source | null {
  const trades = rows.some(({ first }) => Number.isFinite(first)) ? [0] : []
  const hours = rows.flatMap(({ past }) => past?.hours ?? []).map(({ source }) => (source === 'archive' ? 1 : 2))
  const made = [...trades, ...hours]
  return made.length === 0 ? null : sourceOf({ least: Math.min(...made), most: Math.max(...made) })
}

/** What tells all hours that a stretch of an instrument's time touches, of the last days; null: not all of them are told. */
export function toldOver(
  present: Present,
  asset: string,
  { instrument, from, to }: Stretch & { readonly instrument: string | null },
): Source | null {
  const { hours = [] } = present.of(asset).past.get(instrument ?? '') ?? {}
  const touched = hours.filter(({ start }) => start + HOUR > from && start < to)
  if (touched.length < (ceilTo(to, HOUR) - floorTo(from, HOUR)) / HOUR) return null
  return heldSource([{ first: Infinity, past: { hours: touched, until: to } }])
}

/** The hour of a time, half open. */
export function hourOf(time: Micros): Stretch {
  const from = floorTo(time, HOUR)
  return { from, to: from + HOUR }
}

/** What a figure is made of: our trades, the venues' archives of trades, their own candles, or several, each for its own time. */
export const sources = ['trades', 'archive', 'venue_candles', 'mixed'] as const
export type Source = (typeof sources)[number]

/** What is read of a row: 0: a trade, 1: an archive, 2: a candle, 3: a candle that does not say what takers bought. */
export interface SourceRange {
  readonly least: number
  readonly most: number
}

export const ofTrades: SourceRange = { least: 0, most: 0 }

export function sourceOf({ least, most }: SourceRange): Source {
  if (most === 0) return 'trades'
  if (least > 1) return 'venue_candles'
  return least === 1 && most === 1 ? 'archive' : 'mixed'
}

/** Whether a part of it does not say what takers bought. */
export function isUntold({ most }: SourceRange): boolean {
  return most === 3
}

export function joinedRange(a: SourceRange, b: SourceRange): SourceRange {
  return { least: Math.min(a.least, b.least), most: Math.max(a.most, b.most) }
}
