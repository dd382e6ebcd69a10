import type { Candle, Flow, Micros } from '../../schemas/records.ts'
import type { OurVolume } from './compare.ts'

export const MINUTE: Micros = 60_000_000
/** A minute is closed to our own rows this long after its end. */
export const SETTLE: Micros = 120_000_000
/** A candle is taken until this long after its minute's end. */
export const HORIZON: Micros = 2 * 3_600_000_000
/**
 * Minutes held at most: 7 days. Reached where one log runs far ahead of the other (a rebuild) or no candles come at all
 * (a tape); beyond it the oldest is given up.
 */
export const MINUTES_MAX = 7 * 24 * 60

/** One flow row, as much of it as counts. */
export interface Row extends OurVolume {
  readonly bucket: Micros
  readonly part: number
  readonly v: number
}

export interface KnownCandle {
  readonly volume: number
  readonly taker_buy: number | null
  readonly trades: number | null
  readonly received: Micros
  /** Version of what follows from it. */
  readonly v: number
}

/** What is known of one instrument in one minute. `open`: our rows still come; `waiting`: for the candle. */
export type Entry =
  | { readonly kind: 'open'; readonly rows: Map<string, Row>; candle: KnownCandle | undefined }
  | { readonly kind: 'waiting'; readonly ours: OurVolume }
  | { readonly kind: 'compared' }

/** Why something was not used. */
interface Counts {
  /** Flow rows that came after their minute was closed. */
  late_rows: number
  /** Candles of minutes that are compared already. */
  repeated_candles: number
  /** Candles of minutes that are over the horizon. */
  old_candles: number
  /** Minutes of an instrument for which no candle came within the horizon. */
  uncompared: number
  /** Minutes given up because too many were held. */
  overrun: number
}

/** What the processor knows of one partition. */
export interface AuditState {
  /** Newest mark of derived.flow. */
  flowTime: Micros
  /** Newest mark of market.candles. */
  candleTime: Micros
  /** What both logs have passed; its mark is forwarded every ten seconds of it. */
  forwarded: Micros
  /** By minute since the Unix epoch, then by `asset|instrument`. */
  readonly minutes: Map<number, Map<string, Entry>>
  /** Minutes up to this one were given up. */
  gone: number
  readonly counts: Counts
  /** Minutes to be saved or erased. */
  readonly changed: Set<number>
}

export function emptyState(): AuditState {
  return {
    flowTime: 0,
    candleTime: 0,
    forwarded: 0,
    minutes: new Map(),
    gone: -1,
    counts: { late_rows: 0, repeated_candles: 0, old_candles: 0, uncompared: 0, overrun: 0 },
    changed: new Set(),
  }
}

/** The minute that a time falls into, in minutes since the Unix epoch. */
export function minuteOf(time: Micros): number {
  return Math.floor(time / MINUTE)
}

function endOf(minute: number): Micros {
  return (minute + 1) * MINUTE
}

/** When a minute is closed to our own rows: by marks of derived.flow alone. */
export function closingTime(minute: number): Micros {
  return endOf(minute) + SETTLE
}

export function isClosed(state: AuditState, minute: number): boolean {
  return closingTime(minute) <= state.flowTime || minute <= state.gone
}

/** Whether a candle would come too late: by marks of market.candles alone. */
export function isOver(state: AuditState, minute: number): boolean {
  return endOf(minute) + HORIZON <= state.candleTime || minute <= state.gone
}

/** The entry of an instrument's minute, an open one made where there was none. */
export function entryOf(state: AuditState, minute: number, name: string): Entry {
  const entries = state.minutes.get(minute) ?? new Map<string, Entry>()
  state.minutes.set(minute, entries)
  const known = entries.get(name)
  if (known !== undefined) return known
  const made: Entry = { kind: 'open', rows: new Map(), candle: undefined }
  entries.set(name, made)
  return made
}

export function setEntry(state: AuditState, minute: number, name: string, entry: Entry): void {
  state.minutes.get(minute)?.set(name, entry)
  state.changed.add(minute)
}

/**
 * Forgets minutes for which nothing more can come from either log, so that what is forgotten does not depend on how the
 * two are read.
 */
export function letGo(state: AuditState): void {
  for (const [minute, entries] of state.minutes) {
    if (!isClosed(state, minute) || !isOver(state, minute)) continue
    for (const { kind } of entries.values()) if (kind === 'waiting') state.counts.uncompared += 1
    forget(state, minute)
  }
}

/** Gives up the oldest minutes while there are too many. */
export function bound(state: AuditState): void {
  while (state.minutes.size > MINUTES_MAX) {
    state.gone = [...state.minutes.keys()].reduce((least, minute) => Math.min(least, minute))
    state.counts.overrun += 1
    forget(state, state.gone)
  }
}

function forget(state: AuditState, minute: number): void {
  state.minutes.delete(minute)
  state.changed.add(minute)
}

export function rowOf({ bucket, part, buy, sell, buy_count, sell_count, v }: Flow): Row {
  return { bucket, part, buy, sell, trades: buy_count + sell_count, v }
}

export function candleOf({ volume, taker_buy, trades, received }: Candle, v: number): KnownCandle {
  return { volume, taker_buy, trades, received, v }
}

/** The sum of rows, in an order that does not depend on how they came. */
export function summed(rows: Iterable<Row>): OurVolume {
  const ordered = [...rows].sort((a, b) => a.bucket - b.bucket || a.part - b.part)
  return ordered.reduce<OurVolume>(
    (sum, row) => ({ buy: sum.buy + row.buy, sell: sum.sell + row.sell, trades: sum.trades + row.trades }),
    { buy: 0, sell: 0, trades: 0 },
  )
}
