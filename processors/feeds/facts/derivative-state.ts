import { emptyFields } from '../../../schemas/codec.ts'
import type { DerivativeTicker, Instrument, Micros, ContractTerms } from '../../../schemas/records.ts'
import type { DerivativeFact, TermsFact } from '../venues/events.ts'
import type { Scales } from './spot-state.ts'

type Groups = Omit<DerivativeTicker, 'instrument' | 'asset' | 'channel' | 'received'>

const nothing: Groups = {
  ...emptyFields('derivative_ticker'),
}

type PastGroups = Pick<DerivativeFact, 'openInterest' | 'mark'>

/** A number with the venue's time of it. */
interface Timed {
  readonly value: number
  readonly time: Micros
}

/**
 * What is known of one perpetual: parts of groups in, whole groups out. Mark and index may come from two channels, each
 * with its own time; the group's time is the mark's where there is one, so an index alone never makes a mark look young.
 * Minutes of the premium, and
 * history, are not kept here: each is a fact of its own.
 */
export class DerivativeState {
  readonly #instrument: Instrument
  readonly #scales: Scales
  #rate: Timed | undefined
  #next: Micros | null = null
  #mark: Timed | undefined
  #index: Timed | undefined
  #openInterest: Timed | undefined
  readonly #fresh = new Set<'rate' | 'mark' | 'openInterest'>()
  readonly #channels = new Set<string>()
  #received: Micros = 0
  #writtenAt = -Infinity

  constructor(instrument: Instrument, scales: Scales) {
    this.#instrument = instrument
    this.#scales = scales
  }

  /** The upcoming settlement as the venue last said it. */
  get nextSettlement(): Micros | null {
    return this.#next
  }

  /** `old`: no group was newer than what is known. `bound` cuts times that are too far ahead. */
  take(fact: DerivativeFact, channel: string, received: Micros, bound: (time: Micros) => Micros): 'taken' | 'old' {
    const taken = [this.#takeRate(fact, bound), this.#takeMark(fact, bound), this.#takeOpenInterest(fact, bound)]
    if (!taken.includes(true)) return 'old'
    this.#channels.add(channel)
    this.#received = received
    return 'taken'
  }

  /** A clock that was set back leaves nothing waiting. */
  due(now: Micros, interval: Micros): boolean {
    return this.#fresh.size > 0 && Math.abs(now - this.#writtenAt) >= interval
  }

  /** The groups that have news since the last record. */
  write(now: Micros): DerivativeTicker {
    const { instrument, asset } = this.#instrument
    const record = {
      instrument,
      asset,
      channel: [...this.#channels].toSorted().join('+'),
      ...nothing,
      ...(this.#fresh.has('rate') ? this.#rateGroup() : {}),
      ...(this.#fresh.has('mark') ? this.#markGroup() : {}),
      ...(this.#fresh.has('openInterest') ? this.#openInterestGroup() : {}),
      received: this.#received,
    }
    this.#fresh.clear()
    this.#channels.clear()
    this.#writtenAt = now
    return record
  }

  /** One minute's premium as a record of its own. */
  premium(premium: string, time: Micros, channel: string, received: Micros): DerivativeTicker {
    const { instrument, asset } = this.#instrument
    return { instrument, asset, channel, ...nothing, premium: Number(premium), premium_time: time, received }
  }

  /** Open interest or mark of a time that is over, as a record of its own. */
  past({ openInterest, mark }: PastGroups, channel: string, received: Micros): DerivativeTicker {
    const { instrument, asset } = this.#instrument
    const price = (value: string | null): number | null => (value === null ? null : this.#scales.price(value))
    return {
      instrument,
      asset,
      channel,
      ...nothing,
      ...(openInterest && {
        open_interest: this.#scales.size(openInterest.size),
        open_interest_time: openInterest.time,
      }),
      ...(mark && { mark: price(mark.mark), index: price(mark.index), mark_time: mark.time }),
      received,
    }
  }

  #takeRate({ rate }: DerivativeFact, bound: (time: Micros) => Micros): boolean {
    if (rate === undefined) return false
    const time = bound(rate.time)
    if (time <= (this.#rate?.time ?? 0)) return false
    this.#rate = { value: Number(rate.rate), time }
    // A settlement that has passed is not the next one any more.
    const known = this.#next !== null && this.#next > time ? this.#next : null
    this.#next = rate.next ?? known
    this.#fresh.add('rate')
    return true
  }

  #takeMark({ mark }: DerivativeFact, bound: (time: Micros) => Micros): boolean {
    if (mark === undefined) return false
    const time = bound(mark.time)
    const newMark = mark.mark !== null && time > (this.#mark?.time ?? 0)
    const newIndex = mark.index !== null && time > (this.#index?.time ?? 0)
    if (newMark && mark.mark !== null) this.#mark = { value: this.#scales.price(mark.mark), time }
    if (newIndex && mark.index !== null) this.#index = { value: this.#scales.price(mark.index), time }
    // An index alone waits for the next mark: its record would have the old mark's time.
    if (newMark || (newIndex && this.#mark === undefined)) this.#fresh.add('mark')
    return newMark || newIndex
  }

  #takeOpenInterest({ openInterest }: DerivativeFact, bound: (time: Micros) => Micros): boolean {
    if (openInterest === undefined) return false
    const time = bound(openInterest.time)
    if (time <= (this.#openInterest?.time ?? 0)) return false
    this.#openInterest = { value: this.#scales.size(openInterest.size), time }
    this.#fresh.add('openInterest')
    return true
  }

  #rateGroup(): Partial<Groups> {
    return { rate: this.#rate?.value ?? null, next_settlement: this.#next, rate_time: this.#rate?.time ?? null }
  }

  #markGroup(): Partial<Groups> {
    const [mark, index] = [this.#mark, this.#index]
    return { mark: mark?.value ?? null, index: index?.value ?? null, mark_time: mark?.time ?? index?.time ?? null }
  }

  #openInterestGroup(): Partial<Groups> {
    const known = this.#openInterest
    return { open_interest: known?.value ?? null, open_interest_time: known?.time ?? null }
  }
}

/** Terms come from several calls: a record waits this long for the others'. */
const settle: Micros = 3_000_000

/** The terms of one perpetual, joined from all calls that say some of them. Without its interval none are told. */
export class TermsState {
  readonly #instrument: Instrument
  #known: Omit<TermsFact, 'kind' | 'symbol'> = {}
  #written = ''
  #changedAt: Micros | undefined
  #received: Micros = 0

  constructor(instrument: Instrument) {
    this.#instrument = instrument
  }

  take(fact: TermsFact, received: Micros): void {
    const { kind: _kind, symbol: _symbol, ...said } = fact
    this.#known = { ...this.#known, ...said }
    this.#received = received
    if (this.#text() === this.#written) this.#changedAt = undefined
    else this.#changedAt ??= received
  }

  /** The record that is due by now. */
  write(now: Micros): ContractTerms | undefined {
    const { instrument, asset } = this.#instrument
    const { intervalHours, cap, floor, interestDaily, maxLeverage, tiers } = this.#known
    if (intervalHours === undefined || this.#changedAt === undefined) return undefined
    if (Math.abs(now - this.#changedAt) < settle) return undefined
    this.#written = this.#text()
    this.#changedAt = undefined
    return {
      instrument,
      asset,
      interval_hours: intervalHours,
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
