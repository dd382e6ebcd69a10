import type { ContractTerms, DerivativeTicker, Micros } from '../../schemas/records.ts'
import { fundingVenues, partsOf } from '../../schemas/venues.ts'
import { USUAL_MARGIN } from './leverage.ts'
import { followMark, followOpenInterest, followTerms } from './model.ts'
import {
  assetOf,
  contractOf,
  type AssetState,
  type Contract,
  type LiquidationsState,
  type Observation,
} from './state.ts'

interface Known {
  readonly owner: AssetState
  readonly contract: Contract
}

/** Takes in mark and open interest; one that is not newer than the known one is ignored. The mark comes first. */
export function applyTicker(state: LiquidationsState, ticker: DerivativeTicker): void {
  const { mark, mark_time, open_interest, open_interest_time, received } = ticker
  const hasMark = mark !== null && mark_time !== null
  const hasSize = open_interest !== null && open_interest_time !== null
  if (!hasMark && !hasSize) return
  const known = knownOf(state, ticker)
  if (known === undefined) return
  if (hasMark) applyMark(state, known, { value: mark, time: mark_time, received })
  if (hasSize) applyOpenInterest(state, known, { value: open_interest, time: open_interest_time, received })
}

export function applyTerms(state: LiquidationsState, terms: ContractTerms): void {
  const known = knownOf(state, terms)
  if (known === undefined) return
  const { contract } = known
  const margin = terms.margin_tiers[0]?.rate ?? USUAL_MARGIN
  const isSame = contract.terms.maxLeverage === terms.max_leverage && contract.terms.margin === margin
  if (!isSame) followTerms(contract, { maxLeverage: terms.max_leverage, margin })
  touch(known, terms.received)
}

function knownOf(
  state: LiquidationsState,
  { asset, instrument, received }: { asset: string; instrument: string; received: Micros },
): Known | undefined {
  const { venue, market } = partsOf(instrument)
  const name = fundingVenues.find((candidate) => candidate === venue)
  if (name === undefined || market !== 'perp') {
    state.refused.other += 1
    return undefined
  }
  const owner = assetOf(state, asset, received)
  return { owner, contract: contractOf(owner, instrument, name) }
}

function applyMark(state: LiquidationsState, known: Known, observation: Observation): void {
  const { owner, contract } = known
  if (!isUsable(state, contract.mark, observation, observation.value > 0)) return
  contract.mark = observation
  const swept = followMark(contract)
  if (swept.long > 0 || swept.short > 0) {
    owner.sweptLong += swept.long * observation.value
    owner.sweptShort += swept.short * observation.value
    owner.isChanged = true
  }
  touch(known, observation.received)
}

function applyOpenInterest(state: LiquidationsState, known: Known, observation: Observation): void {
  const { contract } = known
  if (!isUsable(state, contract.openInterest, observation, observation.value >= 0)) return
  contract.openInterest = observation
  followOpenInterest(contract)
  touch(known, observation.received)
}

function isUsable(
  state: LiquidationsState,
  before: Observation | null,
  { time }: Observation,
  isGood: boolean,
): boolean {
  if (!isGood) state.refused.bad_value += 1
  else if (before !== null && time <= before.time) state.refused.old += 1
  else return true
  return false
}

function touch({ owner, contract }: Known, received: Micros): void {
  contract.heard = Math.max(contract.heard, received)
  contract.isChanged = true
  if (!owner.isDirty) owner.isChanged = true
  owner.isDirty = true
}
