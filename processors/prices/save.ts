import type { PriceVenue } from '../../schemas/venues.ts'
import { ChangedParts, savedIn } from '../kernel/parts.ts'
import {
  emptyState,
  type AssetState,
  type Channel,
  type GapRange,
  type PriceGap,
  type PricesState,
  type Source,
} from './state.ts'

/** Parts of the saved state as JSON, which writes doubles exactly: the clock with the channels, and one per asset. */
type Saved =
  | ({ readonly kind: 'clock'; readonly channels: readonly Channel[] } & Pick<PricesState, 'time' | 'refused'>)
  | ({ readonly kind: 'asset' } & SavedAsset)

interface SavedAsset extends Pick<AssetState, 'asset' | 'counted' | 'told' | 'awaySince'> {
  readonly sources: readonly Source[]
  readonly gap: (Omit<PriceGap, 'ranges'> & { readonly ranges: readonly GapRange[] }) | null
}

/** What changed since the last call. */
export function saveState(state: PricesState): ChangedParts<Saved> {
  const changes = new ChangedParts<Saved>()
  changes.put('clock', {
    kind: 'clock',
    time: state.time,
    channels: [...state.channels.values()],
    refused: state.refused,
  })
  for (const asset of state.assets.values()) if (asset.isChanged) changes.put(`asset|${asset.asset}`, savedAsset(asset))
  for (const asset of state.forgotten) changes.set(`asset|${asset}`, null)
  forgetChanges(state)
  return changes
}

/** Clears the marks of what changed. */
export function forgetChanges(state: PricesState): void {
  for (const asset of state.assets.values()) asset.isChanged = false
  state.forgotten.clear()
}

function savedAsset(state: AssetState): Saved {
  const { asset, sources, counted, told, gap, awaySince } = state
  const savedGap = gap && { ...gap, ranges: [...gap.ranges.values()] }
  return { kind: 'asset', asset, sources: [...sources.values()], counted, told, gap: savedGap, awaySince }
}

/** The state made of the latest text of each part. */
export function loadState(parts: ReadonlyMap<string, Buffer>): PricesState {
  const state = emptyState()
  for (const saved of savedIn<Saved>(parts)) {
    if (saved.kind === 'asset') state.assets.set(saved.asset, loadedAsset(saved))
    else {
      state.time = saved.time
      Object.assign(state.refused, saved.refused)
      for (const channel of saved.channels) state.channels.set(`${channel.writer}|${channel.venue}`, { ...channel })
    }
  }
  return state
}

function loadedAsset({ asset, sources, counted, told, gap, awaySince }: SavedAsset): AssetState {
  return {
    asset,
    sources: byVenue(sources),
    counted,
    told,
    gap: gap && { ...gap, ranges: byVenue(gap.ranges) },
    awaySince,
    isChanged: false,
  }
}

function byVenue<Row extends { readonly venue: PriceVenue }>(rows: readonly Row[]): Map<PriceVenue, Row> {
  return new Map(rows.map((row) => [row.venue, row]))
}
