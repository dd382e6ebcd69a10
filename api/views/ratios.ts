import type { Micros } from '../../schemas/records.ts'
import { partsOf } from '../../schemas/venues.ts'
import type { Present } from '../present.ts'

/** How a venue's top traders are positioned: shares that add up to 1, and the one over the other. */
export interface RatioRow {
  readonly venue: string
  readonly long: number
  readonly short: number
  readonly ratio: number
  /** Start of the venue's period. */
  readonly time: Micros
}

/** The newest position ratio of each venue's top traders. */
export function ratiosOf(present: Present, asset: string): RatioRow[] {
  const rows = [...present.of(asset).ratio.values()].filter((row) => row.asset === asset)
  return rows.map(({ instrument, long_ratio, short_ratio, ls_ratio, time }) => ({
    venue: partsOf(instrument).venue,
    long: long_ratio,
    short: short_ratio,
    ratio: ls_ratio,
    time,
  }))
}
