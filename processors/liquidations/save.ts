import { ChangedParts, savedIn } from '../kernel/parts.ts'
import { Levels, type Cell } from './levels.ts'
import { assetOf, emptyState, type AssetState, type Contract, type LiquidationsState } from './state.ts'

type SavedContract = Omit<Contract, 'levels' | 'isChanged'>

/** Parts of the saved state as JSON, which writes doubles exactly. Levels are saved in chunks of 8 price buckets. */
type Saved =
  | ({ readonly kind: 'clock' } & Pick<LiquidationsState, 'time' | 'refused'>)
  | ({ readonly kind: 'asset' } & Omit<AssetState, 'contracts' | 'isChanged'>)
  | { readonly kind: 'contract'; readonly contract: SavedContract; readonly factor: number }
  | { readonly kind: 'levels'; readonly asset: string; readonly instrument: string; readonly cells: readonly Cell[] }

/** What changed since the last call. */
export function saveState(state: LiquidationsState): ChangedParts<Saved> {
  const changes = new ChangedParts<Saved>()
  for (const key of state.gone) changes.set(key, null)
  state.gone.clear()
  changes.put('clock', { kind: 'clock', time: state.time, refused: state.refused })
  for (const asset of state.assets.values()) {
    if (asset.isChanged) saveAsset(asset, changes)
    for (const contract of asset.contracts.values()) if (contract.isChanged) saveContract(contract, changes)
  }
  return changes
}

function saveAsset(state: AssetState, changes: ChangedParts<Saved>): void {
  const { asset, sweptLong, sweptShort, since, risk, isDirty, emitted } = state
  state.isChanged = false
  changes.put(`asset|${asset}`, { kind: 'asset', asset, sweptLong, sweptShort, since, risk, isDirty, emitted })
}

function saveContract(contract: Contract, changes: ChangedParts<Saved>): void {
  const { levels, isChanged: _, ...rest } = contract
  const { asset, instrument } = contract
  contract.isChanged = false
  changes.put(`contract|${instrument}`, { kind: 'contract', contract: rest, factor: levels.factor })
  for (const [chunk, cells] of levels.changes()) {
    const key = `levels|${instrument}|${chunk}`
    if (cells.length === 0) changes.set(key, null)
    else changes.put(key, { kind: 'levels', asset, instrument, cells })
  }
}

/** The state made of the latest text of each part. */
export function loadState(parts: ReadonlyMap<string, Buffer>): LiquidationsState {
  const state = emptyState()
  const saved = [...savedIn<Saved>(parts)]
  for (const part of saved) {
    if (part.kind === 'clock') {
      state.time = part.time
      Object.assign(state.refused, part.refused)
    } else if (part.kind === 'asset') {
      const { kind: _, ...asset } = part
      state.assets.set(part.asset, { ...asset, contracts: new Map(), isChanged: false })
    }
  }
  for (const part of saved) if (part.kind === 'contract') loadContract(state, part.contract, part.factor)
  for (const part of saved) {
    if (part.kind !== 'levels') continue
    state.assets.get(part.asset)?.contracts.get(part.instrument)?.levels.load(part.cells)
  }
  return state
}

function loadContract(state: LiquidationsState, contract: SavedContract, factor: number): void {
  const owner = assetOf(state, contract.asset, contract.heard)
  owner.contracts.set(contract.instrument, { ...contract, levels: new Levels(factor), isChanged: false })
}
