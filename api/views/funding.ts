import { annualised } from '../../processors/funding/formula.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import { partsOf } from '../../schemas/venues.ts'
import type { Funding, FundingView, Micros } from '../../schemas/records.ts'
import type { Present } from '../present/present.ts'

/** What is known of one venue's perpetual of an asset. */
export interface FundingRow extends FundingView {
  readonly asset: string
  /** The venue's own symbol. */
  readonly symbol: string
  /** The moment at which all of it was so: every venue of an asset has the same. */
  readonly known: Micros
}

/** Each venue's perpetual of an asset. */
export function fundingOf(present: Present, asset: string): FundingRow[] {
  const known = present.of(asset).funding.get(asset)
  return known === undefined ? [] : rowsOf(known)
}

/** Every perpetual of every venue. */
export function allFunding(present: Present): FundingRow[] {
  return present.states.flatMap(({ funding }) => [...funding.values()].flatMap(rowsOf))
}

/** Interest of a perpetual, fraction per day; null: its venue does not say. */
export function interestOf(present: Present, { asset, instrument }: FundingRow): number | null {
  return present.of(asset).interest.get(instrument)?.interest_daily ?? null
}

function rowsOf({ asset, exchanges, time }: Funding): FundingRow[] {
  return exchanges.map((view) => ({ ...view, asset, symbol: partsOf(view.instrument).symbol, known: time }))
}

/** A rate per interval as percent a year. */
export function percentAYear(rate: number, intervalHours: number): number {
  return percentOf(fractionAYear(rate, intervalHours))
}

/** The same as a fraction. */
export function fractionAYear(rate: number, intervalHours: number): number {
  return asDecimal(annualised(rate, intervalHours))
}

/** A fraction as percent: the point moved by two places, as the decimal text says it, so that 0.0003 is 0.03. */
export function percentOf(fraction: number): number {
  const [digits = '', exponent = '0'] = String(fraction).split('e')
  return Number(`${digits}e${Number(exponent) + 2}`)
}
