import type { Micros } from '../../schemas/records.ts'
import { partsOf } from '../../schemas/venues.ts'
import { usdOf, type LiquidationSum } from '../../processors/present/liquidation-sums.ts'
import { COUNTED, STRETCH, type LoggedLiquidation } from '../../processors/present/state.ts'
import type { Present } from '../present/present.ts'

/** A position that a venue closed by force; `partition`, `offset`: its place in the log. */
export interface LiquidationRow extends LoggedLiquidation {
  readonly venue: string
  readonly partition: number
}

/** How many there were and what they were worth, USD. */
interface Counted {
  readonly events: number
  readonly longs: number
  readonly shorts: number
  readonly usd: number
  readonly longUsd: number
  readonly shortUsd: number
}

/** What is counted of a time: what is held of it, and the sums of what left memory early. */
interface Countable {
  /** From when on. */
  readonly since: Micros
  readonly rows: readonly LiquidationRow[]
  readonly sums: readonly LiquidationSum[]
}

/** Those that were received up to `now` and happened since `from`, of one asset or (null) of all, newest first. */
export function liquidationsOf(
  present: Present,
  asset: string | null,
  { from, now }: { from: Micros; now: Micros },
): LiquidationRow[] {
  const rows: LiquidationRow[] = []
  const { states } = present
  for (const [partition, { liquidations }] of states.entries())
    for (const [stretch, events] of liquidations) {
      if ((Number(stretch) + 1) * STRETCH <= from) continue
      for (const event of events)
        if (event.time >= from && event.received <= now && (asset === null || event.asset === asset))
          rows.push(rowOf(event, partition))
    }
  return rows.sort((a, b) => b.time - a.time || b.offset - a.offset || b.partition - a.partition)
}

/**
 * What counts from `from` on; `rows`: those that are held. What left early counts in whole stretches: where one of them
 * begins before `from`, what follows it counts.
 */
export function countableOf(present: Present, rows: readonly LiquidationRow[], from: Micros): Countable {
  const since = countedFrom(present, from)
  const early = present.states.flatMap((state) => [...state.early])
  return {
    since,
    rows: rows.filter(({ time }) => time >= since),
    sums: early.flatMap(([stretch, sums]) => (Number(stretch) * STRETCH >= since ? sums : [])),
  }
}

function countedFrom({ states }: Present, from: Micros): Micros {
  const stretch = Math.floor(from / STRETCH)
  const isCut = from % STRETCH > 0 && states.some(({ early }) => early.has(String(stretch)))
  const all = states.map(({ begun }) => begun.get(COUNTED) ?? 0)
  return Math.max(from, isCut ? (stretch + 1) * STRETCH : 0, ...all)
}

export function countedOf({ rows, sums }: Pick<Countable, 'rows' | 'sums'>): Counted {
  const longs = rows.filter(({ side }) => side === 'long')
  const shorts = rows.filter(({ side }) => side === 'short')
  const longSums = sums.map(({ longUsd }) => ({ value: longUsd }))
  const shortSums = sums.map(({ shortUsd }) => ({ value: shortUsd }))
  const longsEarly = sums.reduce((total, sum) => total + sum.longs, 0)
  const shortsEarly = sums.reduce((total, sum) => total + sum.shorts, 0)
  return {
    events: rows.length + longsEarly + shortsEarly,
    longs: longs.length + longsEarly,
    shorts: shorts.length + shortsEarly,
    usd: usdOf([...rows, ...longSums, ...shortSums]),
    longUsd: usdOf([...longs, ...longSums]),
    shortUsd: usdOf([...shorts, ...shortSums]),
  }
}

/** When our feeds had the first liquidation that is in the log; null: none. */
export function begunOf(present: Present): Micros | null {
  const begun = Math.min(...present.states.map((state) => state.begun.get('') ?? Infinity))
  return Number.isFinite(begun) ? begun : null
}

/** What was liquidated of an asset between the model's start and `until`, USD, as far as venues say so. */
export function observedOf(
  present: Present,
  asset: string,
  { since, until }: { since: Micros; until: Micros },
): { longUsd: number; shortUsd: number } {
  const { observed, liquidations } = present.of(asset)
  const before = observed.get(asset)
  const events = [...liquidations.values()].flat()
  const own = events.filter((row) => row.asset === asset && row.time >= since && row.time <= until)
  const of = (side: string): number => usdOf(own.filter((row) => row.side === side).toSorted((a, b) => a.time - b.time))
  return { longUsd: (before?.longUsd ?? 0) + of('long'), shortUsd: (before?.shortUsd ?? 0) + of('short') }
}

export function rowOf(event: LoggedLiquidation, partition: number): LiquidationRow {
  return { ...event, venue: partsOf(event.instrument).venue, partition }
}
