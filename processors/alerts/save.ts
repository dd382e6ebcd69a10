import type { AlertState } from '../../schemas/alerts.ts'
import type { CompositePrice, Micros } from '../../schemas/records.ts'
import { remember } from './commands.ts'
import { bookOf, emptyState, IDEMPOTENT, REQUEST_KNOWN, timersOf, type AlertsState } from './state.ts'

/** Parts of the saved state, as JSON: it writes doubles exactly. One alert a part, so that a change costs itself alone. */
type Saved =
  | { readonly kind: 'clock'; readonly time: Micros }
  | { readonly kind: 'alert'; readonly alert: AlertState }
  | { readonly kind: 'request'; readonly id: string; readonly at: Micros }
  | { readonly kind: 'price'; readonly price: CompositePrice }

/** What changed since the last call. */
export function saveState(state: AlertsState): Map<string, Buffer | null> {
  const { changed } = state
  const changes = new Map<string, Buffer | null>()
  const put = (key: string, saved: Saved | undefined): void => {
    changes.set(key, saved === undefined ? null : Buffer.from(JSON.stringify(saved)))
  }
  put('clock', { kind: 'clock', time: state.time })
  for (const id of changed.alerts) {
    const alert = state.alerts.get(id)
    put(`alert|${id}`, alert && { kind: 'alert', alert })
  }
  for (const id of changed.requests) {
    const at = state.requests.get(id)
    put(`request|${id}`, at === undefined ? undefined : { kind: 'request', id, at })
  }
  for (const asset of changed.prices) {
    const price = state.prices.get(asset)
    put(`price|${asset}`, price && { kind: 'price', price })
  }
  changed.alerts.clear()
  changed.requests.clear()
  changed.prices.clear()
  return changes
}

/** The state made of the latest text of each part: books, timers and creations follow from the alerts. */
export function loadState(parts: ReadonlyMap<string, Buffer>): AlertsState {
  const state = emptyState()
  for (const part of parts.values()) loadPart(state, JSON.parse(part.toString()) as Saved)
  for (const alert of state.alerts.values()) {
    bookOf(state, alert.asset).place(alert)
    for (const timer of timersOf(alert)) state.timers.push(timer)
    const { idempotency, created_at: created } = alert
    if (idempotency !== null && created + IDEMPOTENT > state.time) remember(state, idempotency, alert)
  }
  return state
}

function loadPart(state: AlertsState, saved: Saved): void {
  switch (saved.kind) {
    case 'clock':
      state.time = saved.time
      return
    case 'alert':
      state.alerts.set(saved.alert.alert_id, saved.alert)
      return
    case 'request':
      state.requests.set(saved.id, saved.at)
      state.timers.push({ key: saved.at + REQUEST_KNOWN, id: saved.id, what: 'request' })
      return
    case 'price':
      state.prices.set(saved.price.asset, saved.price)
  }
}
