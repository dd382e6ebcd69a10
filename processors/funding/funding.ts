import type { Mark, Micros } from '../../schemas/records.ts'
import { isRareMark } from '../kernel/partition-clock.ts'
import type { Entry, Output, Processor } from '../kernel/processor.ts'
import { applyRatio, applySettlement, applyTerms, applyTicker } from './facts.ts'
import { loadState, saveState } from './save.ts'
import { emptyState, type FundingState } from './state.ts'
import { advanceTime } from './time.ts'

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
  const mark: Mark = { writer: FUNDING, run: 0, time, venues: [], changes: [], venue_time: null, positions: [] }
  emit({ topic: 'derived.funding', key: FUNDING, message: { type: 'mark', value: mark } })
  if (isRare) emit({ topic: 'derived.signals', key: FUNDING, message: { type: 'mark', value: mark } })
}
