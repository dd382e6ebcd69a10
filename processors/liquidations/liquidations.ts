import type { Mark, Micros } from '../../schemas/records.ts'
import { isRareMark } from '../kernel/partition-clock.ts'
import type { Entry, Output, Processor } from '../kernel/processor.ts'
import { applyTerms, applyTicker } from './facts.ts'
import { loadState, saveState } from './save.ts'
import { emptyState, type LiquidationsState } from './state.ts'
import { advanceTime } from './time.ts'

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
  const mark: Mark = { writer: LIQUIDATIONS, run: 0, time, venues: [], changes: [], venue_time: null, positions: [] }
  emit({ topic: 'alerts.inputs', key: LIQUIDATIONS, message: { type: 'mark', value: mark } })
  if (isRare) emit({ topic: 'derived.signals', key: LIQUIDATIONS, message: { type: 'mark', value: mark } })
}
