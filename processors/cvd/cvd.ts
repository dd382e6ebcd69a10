import { emptyFields } from '../../schemas/codec.ts'
import type {
  Cvd,
  Flow,
  FlowFive,
  FlowHour,
  Gap,
  LogGap,
  Mark,
  Metric,
  Micros,
  Signal,
  SubscriptionChange,
} from '../../schemas/records.ts'
import { isRareMark } from '../kernel/partition-clock.ts'
import type { Context, Entry, Output, Processor } from '../kernel/processor.ts'
import { BUCKET, flowKey, flowOf } from './bucket.ts'
import { fiveKey, fivesOf } from './five-minutes.ts'
import { hourKey, hoursAgain, takeUnread, type Cause } from './hours.ts'
import { forgetChanges, loadState, saveState } from './save.ts'
import { hear, miss } from './metrics.ts'
import { emptyState, instrumentOf, type CvdState, type InstrumentState } from './state.ts'
import { advanceTime, type Moment } from './time.ts'
import { applyTrade, takeHeldBack } from './trades.ts'
import { cvdKey, takeUntold, tell, toldAgain } from './volumes.ts'

type Emitted = Output<'derived.flow' | 'derived.signals' | 'alerts.inputs'>
type Emit = (output: Emitted) => void

/** Name in the topology and in the marks that it forwards. */
export const CVD = 'cvd'

/**
 * From trades: taker volume per instrument in 10 s buckets, in five minutes, in hours and over four rolling periods, and the class of each
 * asset's volume delta over these. Marks move time. Gaps and ended subscriptions say which time is missing; what fills a gap comes as trades.
 */
export const cvd: Processor<CvdState, Emitted> = {
  empty: emptyState,

  apply(state, { message, offset }: Entry, { v, isUnread = false }: Context, emit) {
    if (message.type === 'trade') {
      const row = applyTrade(state, message.value, offset, v)
      if (row !== undefined) emitFlow(row, emit)
    } else if (message.type === 'gap') {
      applyGap(state, instrumentOf(state, message.value.asset, message.value.instrument), message.value)
    } else if (message.type === 'log_gap') {
      applyLogGap(state, message.value)
    } else if (message.type === 'mark') {
      hear(state, message.value)
      for (const change of message.value.changes) if (change.state === 'ended') applyEnd(state, change, v)
      if (message.value.time > state.time) applyMark(state, { time: message.value.time, isUnread }, { offset, v }, emit)
    }
  },

  restate(state, output, _context, emit) {
    if (output !== 'derived.flow') return
    for (const buckets of state.buckets.values())
      for (const bucket of buckets)
        for (const part of bucket.parts)
          emitFlow(flowOf(bucket.owner, bucket.index, part, bucket.index < state.closed), emit)
    for (const hour of hoursAgain(state)) emitHour(hour, emit)
    for (const five of fivesOf(state, 0)) emitFive(five, emit)
    for (const value of toldAgain(state)) emitCvd(value, emit)
  },

  flush(state, emit) {
    const fives = fivesOf(state, state.closed)
    emitHeldBack(state, 'all', emit)
    for (const five of fives) emitFive(five, emit)
    for (const hour of takeUnread(state)) emitHour(hour, emit)
    takeUntold(state, (value) => emitCvd(value, emit))
  },

  save: saveState,
  forget: forgetChanges,
  load: loadState,

  counts: (state) => ({ ...state.refused, late: state.late }),
}

/** What nobody has traded since the log began is not missed. */
function applyEnd(state: CvdState, { asset, instrument, time }: SubscriptionChange, v: number): void {
  const known = state.assets.get(asset)?.instruments.find((candidate) => candidate.instrument === instrument)
  if (known?.covered.ended(time) === true) tell(state, known.owner, v)
}

/** The log itself lost trades: of every instrument of the partition that is known. */
function applyLogGap(state: CvdState, { next, from_time, to_time }: LogGap): void {
  const gap = { gap_id: -1 - next, state: 'unfillable', from_time, to_time } as const
  for (const instrument of state.instruments.values()) applyGap(state, instrument, gap)
}

type Missing = Pick<Gap, 'gap_id' | 'state' | 'from_time' | 'to_time'>

function applyGap(state: CvdState, instrument: InstrumentState, gap: Missing): void {
  instrument.covered.gap(gap)
  miss(state, instrument, { from: gap.from_time, to: gap.to_time })
}

/** Rows first, then the mark: who reads the mark has read everything that its time has closed. */
function applyMark(state: CvdState, moment: Moment, cause: Cause, emit: Emit): void {
  const { time, isUnread } = moment
  const { closed: wasClosed } = state
  const isRare = isRareMark(state.time, time)
  const { hours, fives, signals, metrics } = advanceTime(state, moment, cause)
  emitHeldBack(state, isUnread ? 'final' : 'all', emit)
  for (const hour of hours) emitHour(hour, emit)
  for (const five of fives) emitFive(five, emit)
  takeUntold(state, (value) => emitCvd(value, emit))
  for (const signal of signals) emitSignal(signal, emit)
  for (const metric of metrics) emitMetric(metric, emit)
  if (state.closed > wasClosed) emitTold(state.closed * BUCKET, emit)
  const mark: Mark = { ...emptyFields('mark'), writer: CVD, run: 0, time }
  emit({ topic: 'derived.flow', key: CVD, message: { type: 'mark', value: mark } })
  if (isRare) emit({ topic: 'derived.signals', key: CVD, message: { type: 'mark', value: mark } })
}

function emitHeldBack(state: CvdState, which: 'all' | 'final', emit: Emit): void {
  takeHeldBack(state, which, (row) => emitFlow(row, emit))
  for (const hour of state.lateHours) emitHour(hour, emit)
  state.lateHours.length = 0
  for (const five of state.lateFives) emitFive(five, emit)
  state.lateFives.length = 0
}

function emitFlow(row: Flow, emit: Emit): void {
  emit({ topic: 'derived.flow', key: flowKey(row), message: { type: 'flow', value: row } })
}

function emitHour(hour: FlowHour, emit: Emit): void {
  emit({ topic: 'derived.flow', key: hourKey(hour), message: { type: 'flow_hour', value: hour } })
}

function emitFive(five: FlowFive, emit: Emit): void {
  emit({ topic: 'derived.flow', key: fiveKey(five), message: { type: 'flow_five', value: five } })
}

function emitCvd(value: Cvd, emit: Emit): void {
  emit({ topic: 'derived.flow', key: cvdKey(value), message: { type: 'cvd', value } })
}

function emitSignal(signal: Signal, emit: Emit): void {
  emit({ topic: 'derived.signals', key: signal.asset, message: { type: 'signal', value: signal } })
}

/** Rules know by it that what has closed by then is told, whoever traded. */
function emitTold(time: Micros, emit: Emit): void {
  const value: Mark = { ...emptyFields('mark'), writer: CVD, run: 0, time }
  emit({ topic: 'alerts.inputs', key: CVD, message: { type: 'mark', value } })
}

function emitMetric(metric: Metric, emit: Emit): void {
  emit({ topic: 'alerts.inputs', key: metric.asset, message: { type: 'metric', value: metric } })
}
