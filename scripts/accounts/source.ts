import type { InstrumentAccount } from './log-account.ts'
import type { SourceTotals, Stretch, Totals, Window } from './totals.ts'

/** Who knows what really traded. */
export interface Source {
  readonly name: string
  /** Totals by instrument within `window`. `ours`: the instruments of our log, for a source that is asked one by one. */
  totals(window: Window, ours: ReadonlyMap<string, InstrumentAccount>): Promise<Map<string, SourceTotals>>
  /** When the first trade was that it counts of an instrument, microseconds; absent: it counts all. */
  begins(): Promise<ReadonlyMap<string, number>>
  /** What one instrument traded in a closed stretch of time. */
  within(instrument: string, stretch: Stretch): Promise<Totals>
  /** The least stretch around this one that the source can tell. */
  align(stretch: Stretch): Stretch
}
