import type { AlertState } from '../../schemas/alerts.ts'
import type { CompositePrice, Micros } from '../../schemas/records.ts'
import { Book } from './book.ts'
import { isCooling, type Held } from './held.ts'
import type { Rung } from './rung.ts'
import { Timers } from './timers.ts'

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
/** A payment is known for this long: by then its authorization, valid for a day at most, has long ended. */
export const PAYMENT_KNOWN: Micros = 2 * DAY
/** Requests that are remembered; beyond, the oldest is forgotten. */
export const REQUESTS_MAX = 100_000
/** An alert may be extended to at most this far from now. */
export const AHEAD_MAX: Micros = 30 * DAY
/** Alerts of one partition, ended ones included; a creation beyond it is refused. */
export const ALERTS_MAX = 1_000_000
/** Timers that no longer hold are thrown out when there are this many and they are the larger part. */
const SWEEP_MIN = 1_000

/** What is known of an asset's prices. */
export interface PriceSeen {
  /** The newest that was not late. */
  readonly price: CompositePrice
  /** Begin of the last time that no price came for longer than a venue counts, while candles may still tell of it. */
  readonly silentSince: Micros | null
}

/** An alert that a payment made or prolonged. */
export interface Bought {
  readonly alert_id: string
  readonly at: Micros
}

/** What the processor knows of one partition. */
export interface AlertsState {
  /** Partition time; 0 before the first mark. */
  time: Micros
  /** The place of the newest alert in the order of creations. */
  taken: Micros
  readonly alerts: Map<string, Held>
  /** By asset. */
  readonly books: Map<string, Book>
  /** By asset: what a test event shows, and what late prices are judged by. */
  readonly prices: Map<string, PriceSeen>
  /** Commands that were handled, by request id, and when. */
  readonly requests: Map<string, Micros>
  /** What each payment has bought, and when. */
  readonly payments: Map<string, Bought>
  /** Alert ids by idempotency hash. */
  readonly creations: Map<string, string>
  readonly timers: Timers
  /** What rang in the last minutes, in that order. */
  readonly rung: Map<string, Rung>
  readonly changed: {
    alerts: Set<string>
    requests: Set<string>
    payments: Set<string>
    prices: Set<string>
    rung: Set<string>
  }
}

export function emptyState(): AlertsState {
  return {
    time: 0,
    taken: 0,
    alerts: new Map(),
    books: new Map(),
    prices: new Map(),
    requests: new Map(),
    payments: new Map(),
    creations: new Map(),
    timers: new Timers(),
    rung: new Map(),
    changed: { alerts: new Set(), requests: new Set(), payments: new Set(), prices: new Set(), rung: new Set() },
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
export function put(state: AlertsState, alert: Held): void {
  const before = state.alerts.get(alert.alert_id)
  state.alerts.set(alert.alert_id, alert)
  state.taken = Math.max(state.taken, alert.taken)
  state.changed.alerts.add(alert.alert_id)
  bookOf(state, alert.asset).move(before, alert)
  for (const [what, key] of timersOf(alert)) {
    if (before !== undefined && hasTimer(before, what, key)) continue
    state.timers.set(what, key, alert.alert_id)
  }
  if (state.timers.size('expires') > SWEEP_MIN + 2 * state.alerts.size) sweepExpiries(state)
}

/** An extension leaves the timer of the earlier end behind. */
function sweepExpiries({ timers, alerts }: AlertsState): void {
  timers.sweep('expires', (id, key) => {
    const alert = alerts.get(id)
    return alert !== undefined && hasTimer(alert, 'expires', key)
  })
}

/** Something that time alone does to an alert. */
export type AlertTimer = 'expires' | 'cooled' | 'purged'

/** What time alone will do to an alert as it is, and when. */
export function timersOf(alert: AlertState): readonly (readonly [what: AlertTimer, key: Micros])[] {
  if (alert.ended_at > 0) return [['purged', alert.ended_at + KEPT]]
  const expires = ['expires', alert.expires_at] as const
  return isCooling(alert) ? [expires, ['cooled', alert.last_triggered + COOLDOWN]] : [expires]
}

export function hasTimer(alert: AlertState, what: AlertTimer, key: Micros): boolean {
  return timersOf(alert).some((timer) => timer[0] === what && timer[1] === key)
}
