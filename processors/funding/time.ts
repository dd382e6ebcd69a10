import type { Funding, Metric, Micros, Signal } from '../../schemas/records.ts'
import { forgetSettled, startOf } from './interval.ts'
import { metricOf } from './metrics.ts'
import { fundingSignals, sentimentSignals } from './signals.ts'
import { FORGOTTEN, type AssetState, type FundingState, type Perp } from './state.ts'
import { fundingOf } from './view.ts'

/** An asset has one record in this time of partition time at most. */
const EMIT_EVERY: Micros = 5_000_000

export interface TimeOutputs {
  readonly rows: readonly Funding[]
  readonly signals: readonly Signal[]
  readonly metrics: readonly Metric[]
}

/** Moves partition time on to `time`, which is later. Gives what assets have to say, by name. */
export function advanceTime(state: FundingState, time: Micros, v: number): TimeOutputs {
  state.time = time
  const rows: Funding[] = []
  const signals: Signal[] = []
  const metrics: Metric[] = []
  const assets = [...state.assets.values()].sort((a, b) => (a.asset < b.asset ? -1 : 1))
  for (const asset of assets) {
    for (const perp of asset.perps.values()) rollOver(state, asset, perp)
    forget(state, asset)
    if (asset.isDirty && time - asset.emitted >= EMIT_EVERY) {
      const row = emit(asset, time, v)
      rows.push(row)
      signals.push(...fundingSignals(asset, row))
      metrics.push(...metricOf(asset, row))
    }
    signals.push(...sentimentSignals(asset, time, v))
    if (asset.perps.size === 0 && asset.ratios.size === 0 && !asset.isDirty) end(state, asset)
  }
  return { rows, signals, metrics }
}

function emit(asset: AssetState, time: Micros, v: number): Funding {
  asset.isDirty = false
  asset.emitted = time
  asset.isChanged = true
  return fundingOf(asset, time, v)
}

/** Its last record has no venues. */
function end(state: FundingState, { asset }: AssetState): void {
  state.assets.delete(asset)
  state.gone.add(`asset|${asset}`)
}

/** When a settlement passes the series begins anew, whether or not the venue has said so yet. */
function rollOver(state: FundingState, asset: AssetState, perp: Perp): void {
  const start = startOf(perp, state.time)
  if (start === perp.start) return
  forgetSettled(perp, start)
  asset.isDirty = true
  asset.isChanged = true
}

/** A perpetual that no one speaks of any more has ended. */
function forget(state: FundingState, asset: AssetState): void {
  for (const perp of asset.perps.values()) {
    if (state.time - perp.heard <= FORGOTTEN) continue
    asset.perps.delete(perp.instrument)
    const hours = [...perp.minutes.keys(), ...[...perp.changedHours].map((hour) => hour * 60)]
    for (const minute of hours) state.gone.add(`premium|${perp.instrument}|${Math.floor(minute / 60)}`)
    state.gone.add(`perp|${perp.instrument}`)
    asset.isDirty = true
    asset.isChanged = true
  }
  for (const [venue, { received }] of asset.ratios) {
    if (state.time - received <= FORGOTTEN) continue
    asset.ratios.delete(venue)
    asset.isChanged = true
  }
}
