import type { Flow, Mark, Micros, Signal } from '../../schemas/records.ts'
import type { Context, Entry, Output, Processor } from '../kernel/processor.ts'
import { flowKey } from './bucket.ts'
import { loadState, saveState } from './save.ts'
import { emptyState, type CvdState } from './state.ts'
import { advanceTime } from './time.ts'
import { applyTrade, takeHeldBack } from './trades.ts'

type Emitted = Output<'derived.flow' | 'derived.signals'>
type Emit = (output: Emitted) => void

/** Name in the topology and in the marks that it forwards. */
export const CVD = 'cvd'

/**
 * From trades: taker volume per instrument in 10 s buckets, and the class of each asset's volume delta over four
 * periods. Marks move time; gaps need nothing, since what fills them comes as trades.
 */
export const cvd: Processor<CvdState, Emitted> = {
  empty: emptyState,

  apply(state, { message, offset }: Entry, { v }: Context, emit) {
    if (message.type === 'trade') {
      const row = applyTrade(state, message.value, offset, v)
      if (row !== undefined) emitFlow(row, emit)
    } else if (message.type === 'mark' && message.value.time > state.time) {
      applyMark(state, message.value.time, v, emit)
    }
  },

  flush: emitHeldBack,
  save: saveState,
  load: loadState,

  counts: (state) => ({ ...state.refused, late: state.late }),
}

/** Rows first, then the mark: who reads the mark has read everything that its time has closed. */
function applyMark(state: CvdState, time: Micros, v: number, emit: Emit): void {
  const signals = advanceTime(state, time, v)
  emitHeldBack(state, emit)
  for (const signal of signals) emitSignal(signal, emit)
  const mark: Mark = { writer: CVD, run: 0, time, venues: [], changes: [] }
  emit({ topic: 'derived.flow', key: CVD, message: { type: 'mark', value: mark } })
  emit({ topic: 'derived.signals', key: CVD, message: { type: 'mark', value: mark } })
}

function emitHeldBack(state: CvdState, emit: Emit): void {
  for (const row of takeHeldBack(state)) emitFlow(row, emit)
}

function emitFlow(row: Flow, emit: Emit): void {
  emit({ topic: 'derived.flow', key: flowKey(row), message: { type: 'flow', value: row } })
}

function emitSignal(signal: Signal, emit: Emit): void {
  emit({ topic: 'derived.signals', key: signal.asset, message: { type: 'signal', value: signal } })
}
