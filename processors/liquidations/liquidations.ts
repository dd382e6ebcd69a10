import { emptyFields } from '../../schemas/codec.ts'
import type { Mark, Micros, LiquidationRisk, Signal } from '../../schemas/records.ts'
import { isRareMark } from '../kernel/partition-clock.ts'
import type { Entry, Output, Processor } from '../kernel/processor.ts'
import { applyTerms, applyTicker } from './facts.ts'
import { loadState, saveState } from './save.ts'
import { emptyState, type LiquidationsState, FORGOTTEN, type AssetState } from './state.ts'
import { cascadeRisks } from './cascade.ts'
import { riskOf } from './risk.ts'

type Emitted = Output<'alerts.inputs' | 'derived.signals'>
type Emit = (output: Emitted) => void

/** Name in the topology and in the marks that it forwards. */
export const LIQUIDATIONS = 'liquidations'

/**
 * From marks and open interest of perpetuals: where positions would be closed by force, an estimate of what venues do
 * not publish, and how likely one such close sets off the next. Marks of the feeds move time, and only they emit.
 */
export const liquidations: Processor<LiquidationsState, Emitted> = {
  empty: emptyState,

  apply(state, { message }: Entry, { v }, emit) {
    if (message.type === 'derivative_ticker') applyTicker(state, message.value)
    else if (message.type === 'contract_terms') applyTerms(state, message.value)
    else if (message.type === 'mark' && message.value.time > state.time) applyMark(state, message.value.time, v, emit)
  },

  save: saveState,
  load: loadState,

  counts: ({ refused, assets }) => ({ ...refused, assets: assets.size, levels: levelsIn(assets) }),
}

function levelsIn(assets: LiquidationsState['assets']): number {
  let count = 0
  for (const { contracts } of assets.values()) for (const { levels } of contracts.values()) count += levels.count
  return count
}

/** Risks first, then the mark: who reads the mark has read everything of its time. */
function applyMark(state: LiquidationsState, time: Micros, v: number, emit: Emit): void {
  const isRare = isRareMark(state.time, time)
  const { risks, signals } = advanceTime(state, time, v)
  for (const value of risks) {
    emit({ topic: 'alerts.inputs', key: value.asset, message: { type: 'liquidation_risk', value } })
  }
  for (const value of signals) emit({ topic: 'derived.signals', key: value.asset, message: { type: 'signal', value } })
  const mark: Mark = { ...emptyFields('mark'), writer: LIQUIDATIONS, run: 0, time }
  emit({ topic: 'alerts.inputs', key: LIQUIDATIONS, message: { type: 'mark', value: mark } })
  if (isRare) emit({ topic: 'derived.signals', key: LIQUIDATIONS, message: { type: 'mark', value: mark } })
}

/** An asset has one record in this time of partition time at most. */
const EMIT_EVERY: Micros = 5_000_000

interface TimeOutputs {
  readonly risks: readonly LiquidationRisk[]
  readonly signals: readonly Signal[]
}

/** Moves partition time on to `time`, which is later. Gives what assets have to say, by name. */
function advanceTime(state: LiquidationsState, time: Micros, v: number): TimeOutputs {
  state.time = time
  const risks: LiquidationRisk[] = []
  const signals: Signal[] = []
  const assets = [...state.assets.values()].sort((a, b) => (a.asset < b.asset ? -1 : 1))
  for (const asset of assets) {
    forget(state, asset)
    if (!asset.isDirty || time - asset.emitted < EMIT_EVERY) continue
    asset.isDirty = false
    asset.isChanged = true
    const risk = riskOf(asset, time, v)
    if (risk === undefined) continue
    asset.emitted = time
    risks.push(risk)
    signals.push(...signalOf(asset, risk))
  }
  return { risks, signals }
}

function signalOf(asset: AssetState, risk: LiquidationRisk): Signal[] {
  const to = cascadeRisks.find((level) => level === risk.cascade_risk)
  if (to === undefined || to === asset.risk) return []
  const from = asset.risk ?? 'insufficient_data'
  asset.risk = to
  const { at_risk_5_pct, at_risk_10_pct, open_interest_usd, time, v } = risk
  const evidence = { at_risk_5_pct, at_risk_10_pct, open_interest_usd }
  const value = at_risk_5_pct
  return [{ asset: asset.asset, kind: 'cascade_risk', period: '', from, to, value, evidence, time, v, exchange: null }]
}

/** A contract that no one speaks of any more has ended; an asset without contracts is forgotten with it. */
function forget(state: LiquidationsState, asset: AssetState): void {
  for (const contract of asset.contracts.values()) {
    if (state.time - contract.heard <= FORGOTTEN) continue
    asset.contracts.delete(contract.instrument)
    const { instrument, levels } = contract
    const chunks = [...levels.chunks, ...levels.changes().map(([chunk]) => chunk)]
    for (const chunk of chunks) state.gone.add(`levels|${instrument}|${chunk}`)
    state.gone.add(`contract|${instrument}`)
  }
  if (asset.contracts.size > 0) return
  state.assets.delete(asset.asset)
  state.gone.add(`asset|${asset.asset}`)
}
