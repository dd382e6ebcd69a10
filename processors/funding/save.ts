import type { FundingVenue, RatioVenue } from '../../schemas/venues.ts'
import { ChangedParts, savedIn } from '../kernel/parts.ts'
import type { FundingClass } from './classes.ts'
import { assetOf, emptyState, type AssetState, type FundingState, type Perp, type Ratio } from './state.ts'

type SavedPerp = Omit<Perp, 'minutes' | 'changedHours' | 'isChanged'>

/** Parts of the saved state as JSON, which writes doubles exactly. The premium's minutes are saved hour by hour. */
type Saved =
  | ({ readonly kind: 'clock' } & Pick<FundingState, 'time' | 'refused'>)
  | ({ readonly kind: 'asset' } & SavedAsset)
  | { readonly kind: 'perp'; readonly perp: SavedPerp }
  | {
      readonly kind: 'premium'
      readonly asset: string
      readonly instrument: string
      readonly minutes: readonly (readonly [minute: number, premium: number])[]
    }

interface SavedAsset extends Pick<AssetState, 'asset' | 'sentiment' | 'isDirty' | 'emitted'> {
  readonly ratios: readonly (readonly [RatioVenue, Ratio])[]
  readonly classes: readonly (readonly [FundingVenue, FundingClass])[]
  /** States of before there were metrics do not have it. */
  readonly told?: number
}

/** What changed since the last call. */
export function saveState(state: FundingState): ChangedParts<Saved> {
  const changes = new ChangedParts<Saved>()
  for (const key of state.gone) changes.set(key, null)
  state.gone.clear()
  changes.put('clock', { kind: 'clock', time: state.time, refused: state.refused })
  for (const asset of state.assets.values()) {
    if (asset.isChanged) saveAsset(asset, changes)
    for (const perp of asset.perps.values()) savePerp(perp, changes)
  }
  return changes
}

function saveAsset(state: AssetState, changes: ChangedParts<Saved>): void {
  const { asset, ratios, classes, sentiment, isDirty, emitted, told } = state
  state.isChanged = false
  changes.put(`asset|${asset}`, {
    kind: 'asset',
    asset,
    ratios: [...ratios],
    classes: [...classes],
    sentiment,
    isDirty,
    emitted,
    told,
  })
}

function savePerp(perp: Perp, changes: ChangedParts<Saved>): void {
  const { minutes: _, changedHours, isChanged, ...rest } = perp
  if (isChanged) changes.put(`perp|${perp.instrument}`, { kind: 'perp', perp: rest })
  perp.isChanged = false
  for (const hour of changedHours) {
    const key = `premium|${perp.instrument}|${hour}`
    const rows = minutesOf(perp, hour)
    if (rows.length === 0) changes.set(key, null)
    else changes.put(key, { kind: 'premium', asset: perp.asset, instrument: perp.instrument, minutes: rows })
  }
  changedHours.clear()
}

function minutesOf({ minutes }: Perp, hour: number): [number, number][] {
  const rows: [number, number][] = []
  for (let minute = hour * 60; minute < (hour + 1) * 60; minute++) {
    const premium = minutes.get(minute)
    if (premium !== undefined) rows.push([minute, premium])
  }
  return rows
}

/** The state made of the latest text of each part. */
export function loadState(parts: ReadonlyMap<string, Buffer>): FundingState {
  const state = emptyState()
  const saved = [...savedIn<Saved>(parts)]
  for (const part of saved) {
    if (part.kind === 'clock') {
      state.time = part.time
      Object.assign(state.refused, part.refused)
    } else if (part.kind === 'asset') loadAsset(state, part)
    else if (part.kind === 'perp') loadPerp(state, part.perp)
  }
  // Then the minutes, which belong to perpetuals.
  for (const part of saved) {
    if (part.kind !== 'premium') continue
    const minutes = state.assets.get(part.asset)?.perps.get(part.instrument)?.minutes
    for (const [minute, premium] of part.minutes) minutes?.set(minute, premium)
  }
  return state
}

function loadAsset(state: FundingState, saved: SavedAsset): void {
  const { asset, ratios, classes, sentiment, isDirty, emitted, told = 0 } = saved
  const owner = loaded(state, asset)
  for (const [venue, ratio] of ratios) owner.ratios.set(venue, ratio)
  for (const [venue, name] of classes) owner.classes.set(venue, name)
  Object.assign(owner, { sentiment, isDirty, emitted, told })
}

function loadPerp(state: FundingState, saved: SavedPerp): void {
  const perp: Perp = { ...saved, minutes: new Map(), isChanged: false, changedHours: new Set() }
  loaded(state, perp.asset).perps.set(perp.instrument, perp)
}

function loaded(state: FundingState, asset: string): AssetState {
  const owner = assetOf(state, asset)
  owner.isChanged = false
  return owner
}
