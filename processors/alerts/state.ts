import type { AlertState } from '../../schemas/alerts.ts'
import type { CompositePrice, Micros } from '../../schemas/records.ts'
import { Book } from './book.ts'
import { Heap, type Entry } from './heap.ts'

const MINUTE: Micros = 60_000_000
const HOUR: Micros = 60 * MINUTE
const DAY: Micros = 24 * HOUR

/** After a trigger an alert does not ring for this long. */
export const COOLDOWN: Micros = MINUTE
/** An ended alert is told of for this long. */
export const KEPT: Micros = 7 * DAY
/** The same creation gives the same answer for this long. */
export const IDEMPOTENT: Micros = DAY
/** A command that comes twice is known for this long. */
export const REQUEST_KNOWN: Micros = HOUR
/** An alert may be extended to at most this far from now. */
export const AHEAD_MAX: Micros = 30 * DAY
/** Alerts of one partition; a creation beyond it is refused. */
export const ALERTS_MAX = 1_000_000

/** Something that time alone does to an alert; checked against the alert when due. */
export interface AlertTimer extends Entry {
  readonly what: 'cooled' | 'expires' | 'purged'
}

/** The same for what is remembered of creations (by idempotency hash) and requests. */
export type Timer = AlertTimer | (Entry & { readonly what: 'creation' | 'request' })

/** What the processor knows of one partition. */
export interface AlertsState {
  /** Partition time; 0 before the first mark. */
  time: Micros
  readonly alerts: Map<string, AlertState>
  readonly books: Map<string, Book>
  /** Newest composite price of each asset: what a test event shows. */
  readonly prices: Map<string, CompositePrice>
  /** Commands that were handled, by request id, and when. */
  readonly requests: Map<string, Micros>
  /** Alert ids by idempotency hash. */
  readonly creations: Map<string, string>
  readonly timers: Heap<Timer>
  readonly changed: { alerts: Set<string>; requests: Set<string>; prices: Set<string> }
}

export function emptyState(): AlertsState {
  return {
    time: 0,
    alerts: new Map(),
    books: new Map(),
    prices: new Map(),
    requests: new Map(),
    creations: new Map(),
    timers: new Heap(),
    changed: { alerts: new Set(), requests: new Set(), prices: new Set() },
  }
}

export function bookOf(state: AlertsState, asset: string): Book {
  const known = state.books.get(asset)
  if (known !== undefined) return known
  const book = new Book((id) => state.alerts.get(id))
  state.books.set(asset, book)
  return book
}

/** Puts an alert's new state in the place of the old, with all that follows from it: its wait and its timers. */
export function put(state: AlertsState, alert: AlertState): void {
  const before = state.alerts.get(alert.alert_id)
  state.alerts.set(alert.alert_id, alert)
  state.changed.alerts.add(alert.alert_id)
  bookOf(state, alert.asset).place(alert)
  for (const timer of timersOf(alert)) if (!hasTimer(before, timer)) state.timers.push(timer)
}

/** What time alone will do to an alert as it is. */
export function timersOf(alert: AlertState): AlertTimer[] {
  const { alert_id: id, ended_at: ended } = alert
  if (ended > 0) return [{ key: ended + KEPT, id, what: 'purged' }]
  const timers: AlertTimer[] = [{ key: alert.expires_at, id, what: 'expires' }]
  if (isCooling(alert)) timers.push({ key: alert.last_triggered + COOLDOWN, id, what: 'cooled' })
  return timers
}

/** A level that rang and whose price has been back: it becomes active when its minute is over. */
export function isCooling({ status, armed, condition }: AlertState): boolean {
  return status === 'triggered' && armed && !isCrossing(condition)
}

export function isCrossing(condition: string): boolean {
  return condition === 'crosses_above' || condition === 'crosses_below'
}

function hasTimer(alert: AlertState | undefined, { key, what }: AlertTimer): boolean {
  return alert !== undefined && timersOf(alert).some((timer) => timer.key === key && timer.what === what)
}
