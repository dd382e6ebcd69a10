import type { Micros } from '../../schemas/records.ts'
import { partsOf } from '../../schemas/venues.ts'
import { STRETCH } from '../../processors/present/present.ts'
import type { LoggedLiquidation } from '../../processors/present/state.ts'
import type { Present } from '../present.ts'

/** A position that a venue closed by force. Base units, quote units; `partition` and `offset`: its place in the log. */
export interface LiquidationRow {
  readonly asset: string
  readonly venue: string
  readonly side: string
  readonly size: number
  readonly price: number
  readonly priceKind: string
  readonly value: number
  readonly completeness: string
  readonly time: Micros
  readonly partition: number
  readonly offset: number
}

/** Counts and values of two windows that end now. */
export interface LiquidationStats {
  readonly hour: { events: number; longs: number; shorts: number; usd: number }
  readonly day: { events: number; usd: number }
  /** When our feeds had the first one that is in the log; null: none. */
  readonly firstReceived: Micros | null
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

/** Figures of the windows from `hour` on and of all of `day`, which `rows` are; sums in the order of their times. */
export function statsOf(present: Present, rows: readonly LiquidationRow[], hour: Micros): LiquidationStats {
  const last = rows.filter(({ time }) => time >= hour)
  return {
    hour: {
      events: last.length,
      longs: last.filter(({ side }) => side === 'long').length,
      shorts: last.filter(({ side }) => side === 'short').length,
      usd: usdOf(last),
    },
    day: { events: rows.length, usd: usdOf(rows) },
    firstReceived: begunOf(present),
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
  const { asset, instrument, side, size, price, price_kind, value, completeness, time, offset } = event
  const { venue } = partsOf(instrument)
  return { asset, venue, side, size, price, priceKind: price_kind, value, completeness, time, partition, offset }
}

/** Compensated, so that it does not depend on which values come first. */
export function usdOf(rows: readonly { readonly value: number }[]): number {
  let [sum, lost] = [0, 0]
  for (const { value } of rows) {
    const next = sum + value
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum
    sum = next
  }
  return sum + lost
}
