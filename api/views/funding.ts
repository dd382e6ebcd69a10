import { annualised } from '../../processors/funding/formula.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import { partsOf } from '../../schemas/venues.ts'
import type { Funding, Micros } from '../../schemas/records.ts'
import type { Present } from '../present.ts'

/** What is known of one venue's perpetual of an asset. Rates are fractions per interval; null: not said. */
export interface FundingRow {
  readonly asset: string
  readonly exchange: string
  /** venue:market:native symbol */
  readonly instrument: string
  /** The venue's own symbol. */
  readonly symbol: string
  readonly rate: number | null
  readonly rateTime: Micros | null
  readonly nextSettlement: Micros | null
  readonly intervalHours: number
  readonly mark: number | null
  readonly index: number | null
  readonly markTime: Micros | null
  readonly premium: number | null
  readonly averagePremium: number | null
  readonly samples: number
  readonly expected: number
  readonly predicted: number | null
  readonly settledRate: number | null
  readonly settledTime: Micros | null
  /** Base units of one side. */
  readonly openInterest: number | null
  readonly openInterestTime: Micros | null
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
  return exchanges.map((view) => ({
    asset,
    exchange: view.exchange,
    instrument: view.instrument,
    symbol: partsOf(view.instrument).symbol,
    rate: view.rate,
    rateTime: view.rate_time,
    nextSettlement: view.next_settlement,
    intervalHours: view.interval_hours,
    mark: view.mark,
    index: view.index,
    markTime: view.mark_time,
    premium: view.premium,
    averagePremium: view.average_premium,
    samples: view.samples,
    expected: view.expected,
    predicted: view.predicted,
    settledRate: view.settled_rate,
    settledTime: view.settled_time,
    openInterest: view.open_interest,
    openInterestTime: view.open_interest_time,
    known: time,
  }))
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
