import type { ContractTerms, DerivativeTicker, LongShortRatio, Micros, Settlement } from '../../schemas/records.ts'
import { fundingVenues, partsOf, ratioVenues, type FundingVenue } from '../../schemas/venues.ts'
import { record, forgetSettled, startOf } from './interval.ts'
import { assetOf, MINUTE, perpOf, UNSETTLED_MINUTES, type FundingState, type Perp, type Refusal } from './state.ts'

/** Takes in what a venue says of a perpetual, group by group: one that is not newer than the known one is ignored. */
export function applyTicker(state: FundingState, ticker: DerivativeTicker): void {
  const perp = known(state, ticker)
  if (perp === undefined) return
  const isNews = [
    applyRate(state, perp, ticker),
    applyMark(state, perp, ticker),
    applyIndex(state, perp, ticker),
    applyOpenInterest(state, perp, ticker),
    applyPremium(state, perp, ticker),
  ]
  if (isNews.includes(true)) touch(state, perp, ticker.received)
}

/** Takes in a settled rate: the newest stands, and the premium's series begins at it. */
export function applySettlement(state: FundingState, settlement: Settlement): void {
  const perp = known(state, settlement)
  if (perp === undefined) return
  const { settled_rate: rate, time } = settlement
  if (!isNewer(state, perp.settled, time)) return
  perp.settled = { rate, time }
  begin(state, perp)
  touch(state, perp, settlement.received)
}

export function applyTerms(state: FundingState, terms: ContractTerms): void {
  const perp = known(state, terms)
  if (perp === undefined) return
  const { interval_hours: intervalHours, rate_cap: cap, rate_floor: floor, interest_daily: interestDaily } = terms
  perp.terms = { intervalHours, cap, floor, interestDaily }
  begin(state, perp)
  touch(state, perp, terms.received)
}

/** Takes in the positions of a venue's top traders; other cohorts and counts of heads are another thing. */
export function applyRatio(state: FundingState, row: LongShortRatio): void {
  const { instrument, ls_ratio: ratio, time, received } = row
  const venue = ratioVenues.find((name) => name === partsOf(instrument).venue)
  if (venue === undefined || row.cohort !== 'top_traders' || row.basis !== 'positions') return refuse(state, 'other')
  const owner = assetOf(state, row.asset)
  if (!isNewer(state, owner.ratios.get(venue) ?? null, time)) return
  owner.ratios.set(venue, { instrument, ratio, time, received })
  owner.isChanged = true
}

function known(state: FundingState, { asset, instrument }: { asset: string; instrument: string }): Perp | undefined {
  const { venue, market } = partsOf(instrument)
  const name = fundingVenues.find((candidate): candidate is FundingVenue => candidate === venue)
  if (name === undefined || market !== 'perp') return refuse(state, 'other')
  return perpOf(assetOf(state, asset), instrument, name)
}

function refuse(state: FundingState, refusal: Refusal): undefined {
  state.refused[refusal] += 1
}

function isNewer(state: FundingState, before: { readonly time: Micros } | null, time: Micros): boolean {
  if (before === null || time > before.time) return true
  state.refused.old += 1
  return false
}

function applyRate(state: FundingState, perp: Perp, ticker: DerivativeTicker): boolean {
  const { rate, rate_time: time, next_settlement: next } = ticker
  if (rate === null || time === null || !isNewer(state, perp.rate, time)) return false
  perp.rate = { rate, next: next ?? perp.rate?.next ?? null, time }
  begin(state, perp)
  return true
}

function applyMark(state: FundingState, perp: Perp, { mark: price, mark_time: time }: DerivativeTicker): boolean {
  if (price === null || time === null || !isNewer(state, perp.mark, time)) return false
  perp.mark = { price, time }
  return true
}

/** Some venues say mark and index in messages of their own, so each has its own time. */
function applyIndex(state: FundingState, perp: Perp, { index: price, mark_time: time }: DerivativeTicker): boolean {
  if (price === null || time === null || !isNewer(state, perp.index, time)) return false
  perp.index = { price, time }
  return true
}

function applyOpenInterest(state: FundingState, perp: Perp, ticker: DerivativeTicker): boolean {
  const { open_interest: size, open_interest_time: time } = ticker
  if (size === null || time === null || !isNewer(state, perp.openInterest, time)) return false
  perp.openInterest = { size, time }
  return true
}

/** Each minute has its place, whenever its close comes; one that is settled may still be the newest that is known. */
function applyPremium(state: FundingState, perp: Perp, { premium, premium_time: time }: DerivativeTicker): boolean {
  if (premium === null || time === null) return false
  const minute = Math.floor(time / MINUTE)
  const isNewest = perp.premium === null || minute >= perp.premium.minute
  if (isNewest) perp.premium = { premium, minute }
  if (perp.start === null || minute >= perp.start) return put(perp, minute, premium)
  state.refused.settled_minute += 1
  return isNewest
}

function put(perp: Perp, minute: number, premium: number): boolean {
  if (!record(perp.minutes, minute, premium)) return false
  perp.changedHours.add(Math.floor(minute / 60))
  if (perp.start === null && perp.minutes.size > UNSETTLED_MINUTES) forgetSettled(perp, null)
  return true
}

function begin(state: FundingState, perp: Perp): void {
  const start = startOf(perp, state.time)
  if (start !== perp.start) forgetSettled(perp, start)
}

function touch(state: FundingState, perp: Perp, received: Micros): void {
  perp.heard = Math.max(perp.heard, received)
  perp.isChanged = true
  const owner = assetOf(state, perp.asset)
  if (!owner.isDirty) owner.isChanged = true
  owner.isDirty = true
}
