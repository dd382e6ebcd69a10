import type { LiquidationRisk, Micros, Signal } from '../../schemas/records.ts'
import { cascadeRisks } from './cascade.ts'
import { riskOf } from './risk.ts'
import { FORGOTTEN, type AssetState, type LiquidationsState } from './state.ts'

/** An asset has one record in this time of partition time at most. */
const EMIT_EVERY: Micros = 5_000_000

export interface TimeOutputs {
  readonly risks: readonly LiquidationRisk[]
  readonly signals: readonly Signal[]
}

/** Moves partition time on to `time`, which is later. Gives what assets have to say, by name. */
export function advanceTime(state: LiquidationsState, time: Micros, v: number): TimeOutputs {
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
