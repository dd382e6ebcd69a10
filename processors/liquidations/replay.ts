import type { Micros, RiskLevel } from '../../schemas/records.ts'
import type { FundingVenue } from '../../schemas/venues.ts'
import { median } from '../prices/median.ts'
import type { MarginTerms } from './leverage.ts'
import { bucketOf, priceOf } from './levels.ts'
import { followMark, followOpenInterest, followTerms } from './model.ts'
import { assetOf, contractOf, emptyState, type AssetState, type Contract } from './state.ts'

/** A contract that said nothing for so long does not count. */
const SILENT: Micros = 2 * 3_600_000_000
/** Levels are told in rows of this many price buckets: 0.5 % of the price. */
const ROW = 5
/** How far from the price they are told, as a share of it. */
const REACH = 0.1

/** What a venue's perpetual was in a step; null: not said. Marks in quote units, open interest in base units of one side. */
export interface Observation {
  readonly venue: FundingVenue
  readonly marks: { readonly low: number; readonly high: number; readonly close: number } | null
  readonly openInterest: number | null
}

/** The levels at the end of a step, USD. */
export interface Replayed {
  /** Median of the marks; null: nobody counts. */
  readonly price: number | null
  readonly openInterestUsd: number
  /** In rows of 0.5 % that are the same for every step, lowest price first. */
  readonly levels: readonly RiskLevel[]
}

/**
 * Replays the model of liquidation levels over what was said of an asset's perpetuals in steps of up to an hour. Within a
 * step the mark reaches its low and its high, which sweeps what lies there, and open interest comes at its end.
 */
export class Replay {
  readonly #asset: AssetState

  /** `terms`: as they are now, by venue. */
  constructor(terms: ReadonlyMap<FundingVenue, MarginTerms>) {
    this.#asset = assetOf(emptyState(), 'replay', 0)
    for (const [venue, known] of terms) followTerms(contractOf(this.#asset, venue, venue), known)
  }

  /** `end`: of the step, later than that of the one before. */
  step(end: Micros, observations: readonly Observation[]): void {
    for (const { venue, marks, openInterest } of observations) {
      const contract = contractOf(this.#asset, venue, venue)
      const at = (value: number): NonNullable<Contract['mark']> => ({ value, time: end, received: end })
      // All within one moment, so that positions age by the mark that stays.
      const before = contract.mark?.time ?? end
      if (marks !== null) {
        for (const value of contract.base === null ? [] : [marks.low, marks.high]) {
          contract.mark = { ...at(value), time: before }
          followMark(contract)
        }
        contract.mark = at(marks.close)
        followMark(contract)
      }
      if (openInterest !== null) {
        contract.openInterest = at(openInterest)
        followOpenInterest(contract)
      }
    }
  }

  /** As of the end of the last step. */
  now(end: Micros): Replayed {
    const counted = [...this.#asset.contracts.values()].flatMap(({ mark, openInterest, base, levels }) => {
      if (mark === null || openInterest === null || base === null) return []
      if (mark.time < end - SILENT || openInterest.time < end - SILENT) return []
      const share = base > 0 ? Math.min(1, openInterest.value / base) : 0
      return [{ levels, mark: mark.value, unit: mark.value * share, usd: openInterest.value * mark.value }]
    })
    const price = median(counted.map(({ mark }) => mark))
    const rows = new Map<number, { long_usd: number; short_usd: number }>()
    for (const { levels, unit } of counted)
      levels.each((_, side, level, size) => {
        if (price === null || Math.abs(level / price - 1) > REACH) return
        const at = Math.floor(bucketOf(level) / ROW)
        const row = rows.get(at) ?? { long_usd: 0, short_usd: 0 }
        rows.set(at, row)
        row[side === 'long' ? 'long_usd' : 'short_usd'] += size * unit
      })
    return {
      price,
      openInterestUsd: counted.reduce((sum, { usd }) => sum + usd, 0),
      levels: [...rows].toSorted(([a], [b]) => a - b).map(([at, usd]) => ({ price: middleOf(at), ...usd })),
    }
  }
}

function middleOf(row: number): number {
  return priceOf(row * ROW + (ROW - 1) / 2)
}
