import type { DeliveryOrder, Trigger } from '../../schemas/alerts.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Cause } from './cause.ts'
import type { Held } from './held.ts'
import type { AlertsState } from './state.ts'
import { stopOf, triggerOf, type Origin } from './triggers.ts'

/** What rang is known this long, so that a trigger which the log lost can be written again: longer than a power cut loses. */
export const RUNG_KEPT: Micros = 10 * 60_000_000

/** Alerts that one record made ring, all for one cause. */
export interface Rung extends Origin {
  readonly cause: Cause
  /** Partition time. */
  readonly time: Micros
  readonly alerts: (readonly [id: string, count: number])[]
}

/** An alert has rung. */
export function remember(state: AlertsState, { alert_id, trigger_count }: Held, cause: Cause, origin: Origin): void {
  const key = `${origin.v}|${cause.price}`
  const known = state.rung.get(key)
  const { risk } = cause
  const slim = { ...cause, risk: risk === null ? null : { ...risk, levels: [], clusters: [] } } // no trigger tells these
  const rung = known ?? { ...origin, cause: slim, time: state.time, alerts: [] }
  rung.alerts.push([alert_id, trigger_count])
  state.rung.set(key, rung)
  state.changed.rung.add(key)
}

/** Forgets what rang long ago; they lie in the order of their time. */
export function forgetRung({ rung, changed, time }: AlertsState): void {
  for (const [key, { time: at }] of rung) {
    if (at >= time - RUNG_KEPT) return
    rung.delete(key)
    changed.rung.add(key)
  }
}

/** The triggers of the last minutes, as they were. */
export function triggersAgain({ rung, alerts }: AlertsState): Trigger[] {
  return [...rung.values()].flatMap(({ record, v, cause, alerts: rang }) =>
    rang.flatMap(([id, count]) => {
      const alert = alerts.get(id)
      return alert === undefined ? [] : [triggerOf({ ...alert, trigger_count: count }, cause, { record, v })]
    }),
  )
}

/** The ends of deliveries of the last minutes. */
export function stopsAgain({ alerts, time }: AlertsState, v: number): DeliveryOrder[] {
  const recent = [...alerts.values()].filter(
    ({ status, ended_at: ended }) => status === 'cancelled' && ended >= time - RUNG_KEPT,
  )
  return recent.map((alert) => stopOf(alert, null, alert.ended_at, v))
}
