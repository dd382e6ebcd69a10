import type { CompositePrice, Micros } from '../../schemas/records.ts'
import { generationOf } from '../kernel/version.ts'
import type { AlertKind, Cause, Input, StoredAlert, Verdict } from './kinds/kind.ts'
import { COOLDOWN, noteRisk, OTHERS, put, type AlertsState } from './state.ts'
import { notePrice, windowStart } from './window.ts'

/** What became of an alert by a record or the time alone. `ended`: it rang before and its lifetime is over. */
export type Moved =
  | { readonly event: 'triggered'; readonly alert: StoredAlert; readonly cause: Cause }
  | { readonly event: 'rearmed' | 'expired' | 'ended'; readonly alert: StoredAlert }

export type Report = (moved: Moved) => void

/**
 * Evaluates the alerts of the record's asset that it may concern. A core that was built again tells of its past again, with
 * other figures maybe: what is not newer than the asset's newest has been decided.
 */
export function applyInput(state: AlertsState, { type, value }: Input, report: Report): void {
  let from = value.time
  if (type === 'composite_price') {
    if (isDecided(state.prices.get(value.asset)?.price, value)) return
    from = windowStart(state, value)
    notePrice(state, value)
  } else {
    if (value.time <= (state.risks.get(value.asset) ?? state.risks.get(OTHERS) ?? 0)) return
    noteRisk(state, value.asset, value.time)
  }
  for (const kind of state.kinds) if (kind.input === type) evaluateAll(state, kind, { record: value, from }, report)
}

/** Within a generation a late record tells what nobody had told; a higher one begins with what the one before has told. */
function isDecided(newest: CompositePrice | undefined, { v, time }: CompositePrice): boolean {
  return newest !== undefined && time <= newest.time && generationOf(v) > generationOf(newest.v)
}

/** `from`: since when the record's bounds may be. */
interface Evaluated {
  readonly record: Input['value']
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
    else if (verdict.is === 'met') ring(state, kind, { alert, verdict }, report)
    else if (verdict.is === 'back') rearm(state, alert, time, report)
    else put(state, { ...alert, armed: true, since: time })
  }
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
  }
  put(state, rung)
  report({ event: 'triggered', alert: rung, cause })
}

/** It has been back: active again at once where the minute is over, else when it is. */
function rearm(state: AlertsState, alert: StoredAlert, time: Micros, report: Report): void {
  const cooled = alert.last_triggered + COOLDOWN
  if (state.time < cooled) put(state, { ...alert, armed: true, since: time })
  else activate(state, alert, Math.max(time, cooled), report)
}

function activate(state: AlertsState, alert: StoredAlert, since: Micros, report: Report): void {
  const active: StoredAlert = { ...alert, status: 'active', armed: false, since }
  put(state, active)
  report({ event: 'rearmed', alert: active })
}

/** The minute of a level that has been back is over. */
export function cool(state: AlertsState, alert: StoredAlert, report: Report): void {
  activate(state, alert, alert.last_triggered + COOLDOWN, report)
}

/** An active alert expires; a triggered one keeps its state and is evaluated no more. */
export function expire(state: AlertsState, alert: StoredAlert, report: Report): void {
  const isActive = alert.status === 'active'
  const ended: StoredAlert = { ...alert, ended_at: alert.expires_at, status: isActive ? 'expired' : alert.status }
  put(state, ended)
  report({ event: isActive ? 'expired' : 'ended', alert: ended })
}
