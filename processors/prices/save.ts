import type { PriceVenue } from '../../schemas/venues.ts'
import {
  emptyState,
  type AssetState,
  type Channel,
  type GapRange,
  type PricesState,
  type Source,
  type Told,
} from './state.ts'

/** Parts of the saved state as JSON, which writes doubles exactly: the clock with the channels, and one per asset. */
type Saved =
  | {
      readonly kind: 'clock'
      readonly time: number
      readonly channels: readonly Channel[]
      readonly refused: PricesState['refused']
    }
  | {
      readonly kind: 'asset'
      readonly asset: string
      readonly sources: readonly Source[]
      readonly counted: string
      /** Left out by former releases, which told each price. */
      readonly told?: Told | null
      readonly gap: SavedGap | null
      readonly awaySince: number | null
    }

interface SavedGap {
  readonly from: number
  readonly to: number
  readonly ranges: readonly GapRange[]
  readonly due: number | null
  readonly isTold: boolean
  /** Left out by former releases, which knew of one gap alone. */
  readonly newest?: number
  readonly latest?: number | null
}

/** What changed since the last call. */
export function saveState(state: PricesState): Map<string, Buffer | null> {
  const changes = new Map<string, Buffer | null>()
  const put = (key: string, saved: Saved): void => void changes.set(key, Buffer.from(JSON.stringify(saved)))
  put('clock', { kind: 'clock', time: state.time, channels: [...state.channels.values()], refused: state.refused })
  for (const asset of state.assets.values()) if (asset.isChanged) put(`asset|${asset.asset}`, savedAsset(asset))
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
  for (const part of parts.values()) {
    const saved = JSON.parse(part.toString()) as Saved
    if (saved.kind === 'asset') state.assets.set(saved.asset, loadedAsset(saved))
    else {
      state.time = saved.time
      Object.assign(state.refused, saved.refused)
      for (const channel of saved.channels) state.channels.set(`${channel.writer}|${channel.venue}`, { ...channel })
    }
  }
  return state
}

function loadedAsset({
  asset,
  sources,
  counted,
  told = null,
  gap,
  awaySince,
}: Extract<Saved, { kind: 'asset' }>): AssetState {
  return {
    asset,
    sources: byVenue(sources),
    counted,
    told,
    gap: gap && { newest: gap.from, latest: gap.due, ...gap, ranges: byVenue(gap.ranges) },
    awaySince,
    isChanged: false,
  }
}

function byVenue<Row extends { readonly venue: PriceVenue }>(rows: readonly Row[]): Map<PriceVenue, Row> {
  return new Map(rows.map((row) => [row.venue, row]))
}
