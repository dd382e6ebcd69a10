import type { ContractTerms, Instrument, Micros } from '../../../schemas/records.ts'
import type { TermsFact } from '../venues/events.ts'

/** Terms come from several calls: a record waits this long for the others', longer where the interval is not known. */
const settle: Micros = 3_000_000
const settleWithoutInterval: Micros = 30_000_000
/** What venues mean where they name no interval. */
const usualIntervalHours = 8

/** The terms of one perpetual, joined from all calls that say some of them. */
export class TermsState {
  readonly #instrument: Instrument
  #known: Omit<TermsFact, 'kind' | 'symbol'> = {}
  #written = ''
  #changedAt: Micros | undefined
  #received: Micros = 0

  constructor(instrument: Instrument) {
    this.#instrument = instrument
  }

  get intervalHours(): number | undefined {
    return this.#known.intervalHours
  }

  take(fact: TermsFact, received: Micros): void {
    const { kind: _kind, symbol: _symbol, ...said } = fact
    this.#known = { ...this.#known, ...said }
    this.#received = received
    if (this.#text() === this.#written) this.#changedAt = undefined
    else this.#changedAt ??= received
  }

  due(now: Micros): boolean {
    if (this.#changedAt === undefined) return false
    const wait = this.#known.intervalHours === undefined ? settleWithoutInterval : settle
    return now - this.#changedAt >= wait
  }

  write(): ContractTerms {
    const { instrument, asset } = this.#instrument
    const { intervalHours, cap, floor, interestDaily, maxLeverage, tiers } = this.#known
    this.#written = this.#text()
    this.#changedAt = undefined
    return {
      instrument,
      asset,
      interval_hours: intervalHours ?? usualIntervalHours,
      rate_cap: cap ?? null,
      rate_floor: floor ?? null,
      interest_daily: interestDaily ?? null,
      max_leverage: maxLeverage ?? null,
      margin_tiers: (tiers ?? []).map(({ upTo, rate, deduction }) => ({ up_to: upTo, rate, deduction })),
      received: this.#received,
    }
  }

  /** The terms in one order of fields, whichever call said them first. */
  #text(): string {
    const { intervalHours, cap, floor, interestDaily, maxLeverage, tiers } = this.#known
    return JSON.stringify([intervalHours, cap, floor, interestDaily, maxLeverage, tiers])
  }
}
