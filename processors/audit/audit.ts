import { emptyFields } from '../../schemas/codec.ts'
import type { Audit, Candle, Flow, Mark, Micros } from '../../schemas/records.ts'
import { isRareMark } from '../kernel/partition-clock.ts'
import type { Context, Entry as LogEntry, Output, Processor } from '../kernel/processor.ts'
import { compareWithCandle, type OurVolume } from './compare.ts'
import { loadState, saveState } from './save.ts'
import {
  bound,
  candleOf,
  closingTime,
  emptyState,
  entryOf,
  isClosed,
  isOver,
  letGo,
  MINUTE,
  minuteOf,
  rowOf,
  setEntry,
  summed,
  type AuditState,
  type KnownCandle,
} from './state.ts'

type Emitted = Output<'derived.audit'>
type Emit = (output: Emitted) => void

/** Name in the topology and in the marks that it forwards. */
export const AUDIT = 'audit'

/**
 * Our minutes beside the venues' candles, each once. What is compared follows from the two logs alone, however they are
 * read: our rows count up to the mark of derived.flow that closes their minute, a candle up to the mark of
 * market.candles that ends its horizon, and an audit has the version of its candle.
 */
export const audit: Processor<AuditState, Emitted> = {
  empty: emptyState,

  apply(state, { topic, message }: LogEntry, { v }: Context, emit) {
    if (message.type === 'flow') addRow(state, message.value)
    else if (message.type === 'candle') addCandle(state, message.value, v, emit)
    else if (message.type === 'mark')
      advance(state, topic === 'derived.flow' ? 'flowTime' : 'candleTime', message.value, emit)
  },

  save: saveState,
  load: loadState,

  counts: ({ counts, minutes }) => ({ ...counts, minutes: minutes.size }),
}

/** Rows that are not final are written once more before the mark that closes their minute. */
function addRow(state: AuditState, flow: Flow): void {
  if (!flow.final) return
  const minute = minuteOf(flow.bucket)
  if (isClosed(state, minute)) {
    state.counts.late_rows += 1
    return
  }
  const entry = entryOf(state, minute, nameOf(flow))
  if (entry.kind !== 'open') return
  const key = `${flow.bucket}|${flow.part}`
  if ((entry.rows.get(key)?.v ?? 0) > flow.v) return
  entry.rows.set(key, rowOf(flow))
  state.changed.add(minute)
  bound(state)
}

/** The first candle of a minute in the log counts. */
function addCandle(state: AuditState, candle: Candle, v: number, emit: Emit): void {
  const minute = minuteOf(candle.minute)
  if (isOver(state, minute)) {
    state.counts.old_candles += 1
    return
  }
  const name = nameOf(candle)
  const entry = entryOf(state, minute, name)
  if (entry.kind === 'compared' || (entry.kind === 'open' && entry.candle !== undefined)) {
    state.counts.repeated_candles += 1
    return
  }
  const known = candleOf(candle, v)
  state.changed.add(minute)
  if (entry.kind === 'waiting') compare(state, minute, name, entry.ours, known, emit)
  else if (isClosed(state, minute)) compare(state, minute, name, nothing, known, emit)
  else entry.candle = known
  bound(state)
}

const nothing: OurVolume = { buy: 0, sell: 0, trades: 0 }

function advance(state: AuditState, clock: 'flowTime' | 'candleTime', { time }: Mark, emit: Emit): void {
  const before = state[clock]
  if (time <= before) return
  state[clock] = time
  // What closes and what ends its horizon does so at whole minutes: between them there is nothing to look for.
  if (minuteOf(time) > minuteOf(before)) {
    if (clock === 'flowTime') close(state, emit)
    letGo(state)
  }
  forward(state, emit)
}

/** Closes the minutes that the flow's time has passed; those whose candle is there are compared. */
function close(state: AuditState, emit: Emit): void {
  const closing = [...state.minutes].filter(([minute]) => isClosed(state, minute)).sort(([a], [b]) => a - b)
  for (const [minute, entries] of closing) {
    for (const [name, entry] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (entry.kind !== 'open') continue
      const ours = summed(entry.rows.values())
      if (entry.candle === undefined) setEntry(state, minute, name, { kind: 'waiting', ours })
      else compare(state, minute, name, ours, entry.candle, emit)
    }
  }
}

function compare(
  state: AuditState,
  minute: number,
  name: string,
  ours: OurVolume,
  candle: KnownCandle,
  emit: Emit,
): void {
  setEntry(state, minute, name, { kind: 'compared' })
  const { asset, instrument } = partsOfName(name)
  const value: Audit = {
    instrument,
    asset,
    minute: minute * MINUTE,
    ...compareWithCandle(ours, candle),
    time: Math.max(closingTime(minute), candle.received),
    v: candle.v,
  }
  emit({ topic: 'derived.audit', key: asset, message: { type: 'audit', value } })
}

/** Who reads the mark has read all audits of minutes that both logs have passed; nobody waits for one. */
function forward(state: AuditState, emit: Emit): void {
  const time: Micros = Math.min(state.flowTime, state.candleTime)
  if (time <= state.forwarded) return
  const isRare = isRareMark(state.forwarded, time)
  state.forwarded = time
  if (!isRare) return
  const value: Mark = { ...emptyFields('mark'), writer: AUDIT, run: 0, time }
  emit({ topic: 'derived.audit', key: AUDIT, message: { type: 'mark', value } })
}

/** An asset id holds no bar. */
function nameOf({ asset, instrument }: { readonly asset: string; readonly instrument: string }): string {
  return `${asset}|${instrument}`
}

function partsOfName(name: string): { asset: string; instrument: string } {
  const bar = name.indexOf('|')
  return { asset: name.slice(0, bar), instrument: name.slice(bar + 1) }
}
