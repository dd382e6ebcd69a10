import { emptyFields } from '../../schemas/codec.ts'
import type { Mark, Micros, Funding, Metric, Signal } from '../../schemas/records.ts'
import { fundingVenues, ratioVenues } from '../../schemas/venues.ts'
import { isRareMark } from '../kernel/partition-clock.ts'
import type { Entry, Output, Processor } from '../kernel/processor.ts'
import { applyRatio, applySettlement, applyTerms, applyTicker } from './facts.ts'
import { loadState, saveState } from './save.ts'
import { decimalMean } from '../prices/decimal.ts'
import { emptyState, type FundingState, FORGOTTEN, type AssetState, type Perp } from './state.ts'
import { forgetSettled, startOf } from './interval.ts'
import { metricOf } from './metrics.ts'
import { fundingOf } from './view.ts'
import { annualised } from './formula.ts'
import { classifySentiment, classifyFunding } from './classes.ts'

type Emitted = Output<'derived.funding' | 'derived.signals' | 'alerts.inputs'>
type Emit = (output: Emitted) => void

/** Name in the topology and in the marks that it forwards. */
export const FUNDING = 'funding'

/**
 * From what venues say of their perpetuals: funding over the venues with the premium's average and our predicted rate,
 * and the classes of rates and of top traders' positions. Marks move time, and only they emit.
 */
export const funding: Processor<FundingState, Emitted> = {
  empty: emptyState,

  apply(state, { message }: Entry, { v }, emit) {
    if (message.type === 'derivative_ticker') applyTicker(state, message.value)
    else if (message.type === 'settlement') applySettlement(state, message.value)
    else if (message.type === 'long_short_ratio') applyRatio(state, message.value)
    else if (message.type === 'contract_terms') applyTerms(state, message.value)
    else if (message.type === 'mark' && message.value.time > state.time) applyMark(state, message.value.time, v, emit)
  },

  save: saveState,
  load: loadState,

  counts: ({ refused, assets }) => ({ ...refused, assets: assets.size }),
}

/** Rows first, then the mark: who reads the mark has read everything of its time. */
function applyMark(state: FundingState, time: Micros, v: number, emit: Emit): void {
  const isRare = isRareMark(state.time, time)
  const { rows, signals, metrics } = advanceTime(state, time, v)
  for (const value of rows) emit({ topic: 'derived.funding', key: value.asset, message: { type: 'funding', value } })
  for (const value of signals) emit({ topic: 'derived.signals', key: value.asset, message: { type: 'signal', value } })
  for (const value of metrics) emit({ topic: 'alerts.inputs', key: value.asset, message: { type: 'metric', value } })
  const mark: Mark = { ...emptyFields('mark'), writer: FUNDING, run: 0, time }
  emit({ topic: 'derived.funding', key: FUNDING, message: { type: 'mark', value: mark } })
  if (isRare) emit({ topic: 'derived.signals', key: FUNDING, message: { type: 'mark', value: mark } })
}

/** An asset has one record in this time of partition time at most. */
const EMIT_EVERY: Micros = 5_000_000

interface TimeOutputs {
  readonly rows: readonly Funding[]
  readonly signals: readonly Signal[]
  readonly metrics: readonly Metric[]
}

/** Moves partition time on to `time`, which is later. Gives what assets have to say, by name. */
function advanceTime(state: FundingState, time: Micros, v: number): TimeOutputs {
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

/** A ratio that was received longer ago says nothing of now. */
const RATIO_LIFETIME: Micros = 600_000_000
/** The class before the first. */
const NONE = 'insufficient_data'

/** Changes of class of the venues' running rates. */
function fundingSignals(asset: AssetState, { exchanges, time, v }: Funding): Signal[] {
  return exchanges.flatMap(({ exchange, rate, interval_hours: interval }) => {
    const venue = fundingVenues.find((name) => name === exchange)
    if (venue === undefined || rate === null) return []
    const from = asset.classes.get(venue) ?? NONE
    const to = classifyFunding(rate)
    if (from === to) return []
    asset.classes.set(venue, to)
    const evidence = { rate, interval_hours: interval, annualized_pct: annualised(rate, interval) * 100 }
    return [{ asset: asset.asset, kind: 'funding', period: '', from, to, value: rate, evidence, time, v, exchange }]
  })
}

/** The change of class of the mean ratio of the venues' top traders, if there is one. Stale venues are left out. */
function sentimentSignals(asset: AssetState, time: Micros, v: number): Signal[] {
  const fresh = ratioVenues.flatMap((venue) => {
    const ratio = asset.ratios.get(venue)
    return ratio === undefined || time - ratio.received > RATIO_LIFETIME ? [] : [[venue, ratio.ratio] as const]
  })
  if (fresh.length === 0) return []
  const value = decimalMean(fresh.map(([, ratio]) => ratio))
  const from = asset.sentiment ?? NONE
  const to = classifySentiment(value)
  if (from === to) return []
  asset.sentiment = to
  asset.isChanged = true
  const evidence = Object.fromEntries(fresh)
  return [{ asset: asset.asset, kind: 'sentiment', period: '', from, to, value, evidence, time, v, exchange: null }]
}
