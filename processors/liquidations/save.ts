import type { CascadeRisk } from './cascade.ts'
import { Levels, type Cell } from './levels.ts'
import { assetOf, emptyState, type AssetState, type Contract, type LiquidationsState } from './state.ts'

type SavedContract = Omit<Contract, 'levels' | 'isChanged'>

/** Parts of the saved state as JSON, which writes doubles exactly. Levels are saved in chunks of 8 price buckets. */
type Saved =
  | { readonly kind: 'clock'; readonly time: number; readonly refused: LiquidationsState['refused'] }
  | {
      readonly kind: 'asset'
      readonly asset: string
      readonly sweptLong: number
      readonly sweptShort: number
      readonly since: number
      readonly risk: CascadeRisk | null
      readonly isDirty: boolean
      readonly emitted: number
    }
  | { readonly kind: 'contract'; readonly contract: SavedContract; readonly factor: number }
  | { readonly kind: 'levels'; readonly asset: string; readonly instrument: string; readonly cells: readonly Cell[] }

type Put = (key: string, saved: Saved) => void

/** What changed since the last call. */
export function saveState(state: LiquidationsState): Map<string, Buffer | null> {
  const changes = new Map<string, Buffer | null>()
  const put: Put = (key, saved) => void changes.set(key, Buffer.from(JSON.stringify(saved)))
  for (const key of state.gone) changes.set(key, null)
  state.gone.clear()
  put('clock', { kind: 'clock', time: state.time, refused: state.refused })
  for (const asset of state.assets.values()) {
    if (asset.isChanged) saveAsset(asset, put)
    for (const contract of asset.contracts.values()) if (contract.isChanged) saveContract(contract, put, changes)
  }
  return changes
}

function saveAsset(state: AssetState, put: Put): void {
  const { asset, sweptLong, sweptShort, since, risk, isDirty, emitted } = state
  state.isChanged = false
  put(`asset|${asset}`, { kind: 'asset', asset, sweptLong, sweptShort, since, risk, isDirty, emitted })
}

function saveContract(contract: Contract, put: Put, changes: Map<string, Buffer | null>): void {
  const { levels, isChanged: _, ...rest } = contract
  const { asset, instrument } = contract
  contract.isChanged = false
  put(`contract|${instrument}`, { kind: 'contract', contract: rest, factor: levels.factor })
  for (const [chunk, cells] of levels.changes()) {
    const key = `levels|${instrument}|${chunk}`
    if (cells.length === 0) changes.set(key, null)
    else put(key, { kind: 'levels', asset, instrument, cells })
  }
}

/** The state made of the latest text of each part. */
export function loadState(parts: ReadonlyMap<string, Buffer>): LiquidationsState {
  const state = emptyState()
  const saved = [...parts.values()].map((part) => JSON.parse(part.toString()) as Saved)
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
