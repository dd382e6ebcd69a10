import type { CompositePrice, Micros } from '../../schemas/records.ts'
import { generationOf } from '../kernel/version.ts'
import type { AlertKind, Cause, Input, Looked, Readings, StoredAlert, Verdict } from './kinds/kind.ts'
import { InputFigures } from './series.ts'
import { EVERYWHERE } from './parts.ts'
import {
  begin,
  cooldownOf,
  noteRisk,
  openSeries,
  OTHERS,
  PARTS_MAX,
  partOf,
  partsOf,
  put,
  sightOf,
  type AlertsState,
} from './state.ts'

/** What became of an alert by a record or the time alone. `ended`: it rang before and its lifetime is over. */
export type Moved =
  | { readonly event: 'triggered' | 'resolved'; readonly alert: StoredAlert; readonly cause: Cause }
  | { readonly event: 'rearmed' | 'expired' | 'ended' | 'resumed'; readonly alert: StoredAlert }

export type Report = (moved: Moved) => void

/**
 * Evaluates the alerts of the record's asset that it may concern. A core that was built again tells of its past again, with
 * other figures maybe: what is not newer than the asset's newest has been decided.
 */
export function applyInput(state: AlertsState, input: Input, report: Report): void {
  const { type, value } = input
  let from = value.time
  if (type === 'composite_price') {
    if (isDecided(state.prices.get(value.asset), value)) return
    from = windowStart(value)
    notePrice(state, value)
  } else {
    const teller = type === 'metric' ? `${value.asset}|${value.core}` : value.asset
    if (value.time <= (state.risks.get(teller) ?? state.risks.get(OTHERS) ?? 0)) return
    noteRisk(state, teller, value.time)
  }
  for (const kind of state.kinds) if (kind.input === type) evaluateAll(state, kind, { record: value, from }, report)
  if (type !== 'composite_price' || !value.late) readFigures(state, input, report)
}

/** Candles of a silence say nothing of figures. */
function readFigures(state: AlertsState, input: Input, report: Report): void {
  const { asset } = input.value
  openSeries(state, asset)
  const ofAsset = state.series.get(asset)
  if (ofAsset === undefined) return
  const told = new InputFigures(input)
  const before = new Map<string, number | undefined>()
  for (const series of ofAsset.values()) {
    if (series.input !== told.input) continue
    state.changed.series.add(`${asset}|${series.name}`)
    const then = series.before(told.time)
    if (series.take(told)) before.set(series.name, then)
  }
  lookAt(state, { asset, time: told.time, before }, report)
}

/** Figures that time alone changes, a few seconds apart: what leaves a window, candles that close. */
export const FIGURES_EVERY: Micros = 10_000_000

export function advanceFigures(state: AlertsState, before: Micros, report: Report): void {
  const { time, series, told } = state
  if (series.size === 0 || Math.floor(before / FIGURES_EVERY) === Math.floor(time / FIGURES_EVERY)) return
  state.advanced = { time, told: new Map(told) }
  for (const asset of [...series.keys()].sort()) {
    const before = new Map<string, number | undefined>()
    for (const one of series.get(asset)?.values() ?? []) {
      const then = one.before(time)
      const { isTold, isChanged } = one.advance(time, told.get(one.input))
      if (isChanged) state.changed.series.add(`${asset}|${one.name}`)
      if (isTold) before.set(one.name, then)
    }
    lookAt(state, { asset, time, before }, report)
  }
}

function lookAt(state: AlertsState, read: Omit<Readings, 'sight'>, report: Report): void {
  if (read.before.size === 0) return
  const record = { ...read, sight: sightOf(state, read.asset) }
  for (const kind of state.kinds) {
    if (kind.input !== 'readings') continue
    evaluateAll(state, kind, { record, from: read.time }, report)
    evaluateEverywhere(state, kind, record, report)
  }
}

/** Rules for all symbols, for those that have no part of their own yet. */
function evaluateEverywhere(state: AlertsState, kind: AlertKind, record: Readings, report: Report): void {
  const { asset, time } = record
  for (const rule of state.books.get(kind.kind)?.get(EVERYWHERE)?.take(record) ?? []) {
    const part = partOf(rule, asset)
    if (time >= rule.expires_at || state.alerts.has(part.alert_id) || state.alerts.size >= PARTS_MAX) continue
    const verdict = kind.evaluate(part, record, time)
    if (verdict.is === 'waiting') continue
    if (time < rule.since)
      put(state, part) // a record from before it began to wait: it looks at the next
    else decide(state, kind, { alert: part, verdict, time }, report)
  }
}

/** Within a generation a late record tells what nobody had told; a higher one begins with what the one before has told. */
function isDecided(newest: CompositePrice | undefined, { v, time }: CompositePrice): boolean {
  return newest !== undefined && time <= newest.time && generationOf(v) > generationOf(newest.v)
}

/** `from`: since when the record's bounds may be. */
interface Evaluated {
  readonly record: Looked[keyof Looked]
  readonly from: Micros
}

function evaluateAll(state: AlertsState, kind: AlertKind, { record, from }: Evaluated, report: Report): void {
  const book = state.books.get(kind.kind)?.get(record.asset)
  if (book === undefined) return
  const { time } = record
  for (const alert of book.take(record)) {
    if (time < alert.since || time >= alert.expires_at) {
      book.restore(alert) // from before it began to wait, or from after its end
      continue
    }
    const verdict = kind.evaluate(alert, record, from)
    if (verdict.is === 'waiting') book.restore(alert, verdict.at)
    else decide(state, kind, { alert, verdict, time }, report)
  }
}

interface Decided {
  readonly alert: StoredAlert
  readonly verdict: Exclude<Verdict, { is: 'waiting' }>
  readonly time: Micros
}

function decide(state: AlertsState, kind: AlertKind, { alert, verdict, time }: Decided, report: Report): void {
  switch (verdict.is) {
    case 'met':
      ring(state, kind, { alert, verdict }, report)
      return
    case 'back':
      if (verdict.cause !== undefined && kind.resolves?.(alert.terms) === true)
        report({ event: 'resolved', alert, cause: { ...verdict.cause, isOver: true } })
      rearm(state, alert, time, report)
      return
    case 'armed':
      put(state, { ...alert, armed: true, since: time })
      return
    case 'held':
      put(state, { ...alert, held: time })
      return
    case 'released':
      put(state, { ...alert, held: 0 })
  }
}

const nothing: Readings['before'] = new Map()

/** What has to hold for a while has held, or is not known to: then it has to begin anew. */
export function ringHeld(state: AlertsState, alert: StoredAlert, time: Micros, report: Report): void {
  const kind = state.kinds.of(alert.terms)
  const record = { asset: alert.asset, time, before: nothing, sight: sightOf(state, alert.asset) }
  const verdict = kind.evaluate({ ...alert, held: 0 }, record, time)
  // Without what has held it would be held from now on: that it is, is that it has.
  const cause = verdict.is === 'held' ? verdict.cause : undefined
  if (cause === undefined) put(state, { ...alert, held: 0 })
  else ring(state, kind, { alert, verdict: { is: 'met', cause, isBack: false } }, report)
}

interface Met {
  readonly alert: StoredAlert
  readonly verdict: Extract<Verdict, { is: 'met' }>
}

function ring(state: AlertsState, kind: AlertKind, { alert, verdict }: Met, report: Report): void {
  const { cause, isBack } = verdict
  const ends = kind.ringsOnce(alert.terms)
  // A price may be some moments ahead of the last mark: the minute counts from the later of the two.
  const now = Math.max(state.time, cause.time)
  const rung: StoredAlert = {
    ...alert,
    status: 'triggered',
    trigger_count: alert.trigger_count + 1,
    last_triggered: now,
    armed: !ends && isBack,
    ended_at: ends ? now : 0,
    since: cause.time,
    held: 0,
  }
  put(state, rung)
  report({ event: 'triggered', alert: rung, cause })
}

/** It has been back: active again at once where the minute is over, else when it is. */
function rearm(state: AlertsState, alert: StoredAlert, time: Micros, report: Report): void {
  const cooled = alert.last_triggered + cooldownOf(state, alert)
  if (state.time < cooled) put(state, { ...alert, armed: true, since: time })
  else activate(state, alert, Math.max(time, cooled), report)
}

function activate(state: AlertsState, alert: StoredAlert, since: Micros, report: Report): void {
  const active: StoredAlert = { ...alert, status: 'active', armed: hasSeenFirst(state, alert), anew: false, since }
  put(state, active)
  report({ event: 'rearmed', alert: active })
}

/** What has to be seen before it rings, where there is such, was its return: unless its terms are others since. */
function hasSeenFirst({ kinds }: AlertsState, { terms, anew }: StoredAlert): boolean {
  return !anew && kinds.of(terms).isEdge?.(terms) === true
}

/** The minute of a level that has been back is over. */
export function cool(state: AlertsState, alert: StoredAlert, report: Report): void {
  activate(state, alert, alert.last_triggered + cooldownOf(state, alert), report)
}

/**
 * A pause is over: it goes on from now. One that rang is still to be seen back; another waits anew, what has to hold from
 * the beginning, what has to be seen first once more.
 */
export function resumed(state: AlertsState, alert: StoredAlert, now: Micros): StoredAlert {
  const { status, armed, last_triggered: rang } = alert
  const isBack = status === 'triggered' && armed
  const isActive = status === 'active' || (isBack && now >= rang + cooldownOf(state, alert))
  const isReady = isBack && (!isActive || hasSeenFirst(state, alert))
  return {
    ...alert,
    status: isActive ? 'active' : status,
    armed: isReady,
    anew: alert.anew && !isActive,
    held: 0,
    since: now,
    paused_until: 0,
  }
}

export function resume(state: AlertsState, alert: StoredAlert, now: Micros, report: Report): void {
  const awake = resumed(state, alert, now)
  put(state, awake)
  report({ event: 'resumed', alert: awake })
  for (const part of partsOf(state, alert.alert_id)) if (part.ended_at === 0) put(state, resumed(state, part, now))
  begin(state, awake)
}

/** An active alert expires; a triggered one keeps its state and is evaluated no more. */
export function expire(state: AlertsState, alert: StoredAlert, report: Report): void {
  const isActive = alert.status === 'active'
  const status = isActive ? 'expired' : alert.status
  const ended: StoredAlert = { ...alert, ended_at: alert.expires_at, status, paused_until: 0 }
  put(state, ended)
  report({ event: isActive ? 'expired' : 'ended', alert: ended })
  for (const part of partsOf(state, alert.alert_id)) if (part.ended_at === 0) endPart(state, part, report)
}

/** Its rule says so for all symbols; of a part only its state is told. */
function endPart(state: AlertsState, part: StoredAlert, report: Report): void {
  const status = part.status === 'active' ? 'expired' : part.status
  const ended: StoredAlert = { ...part, ended_at: part.expires_at, status, paused_until: 0 }
  put(state, ended)
  report({ event: 'ended', alert: ended })
}

const SECOND: Micros = 1_000_000

/**
 * How far the low and high of a composite price reach back at most: a record takes in tickers of the 5 s before it, and
 * the ticker of an asset that nobody wants covers 5 s, written a second later at the latest.
 */
const LOOK_BACK: Micros = 11 * SECOND

/** Since when a record's low and high may be; a late one that does not say is looked at for nobody. */
function windowStart({ late, time, bounds_from }: CompositePrice): Micros {
  return late ? bounds_from : time - LOOK_BACK
}

/** Remembers the newest price. */
function notePrice(state: AlertsState, price: CompositePrice): void {
  if (price.late || price.time < (state.prices.get(price.asset)?.time ?? 0)) return
  state.prices.set(price.asset, price)
  state.changed.prices.add(price.asset)
}
