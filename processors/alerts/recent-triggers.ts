import type { DeliveryOrder, Micros, Trigger } from '../../schemas/records.ts'
import type { Cause, StoredAlert } from './kinds/kind.ts'
import type { AlertsState } from './state.ts'
import { stopOf, triggerOf, type Origin } from './triggers.ts'

/** What rang is known this long, so that a trigger which the log lost can be written again: longer than a power cut loses. */
const REMEMBERED: Micros = 10 * 60_000_000

/** An alert has rung. */
export function remember(
  state: AlertsState,
  { alert_id, trigger_count }: StoredAlert,
  cause: Cause,
  origin: Origin,
): void {
  const key = [
    origin.v,
    cause.price,
    ...(cause.key === undefined ? [] : [cause.key]),
    ...(cause.isOver === true ? ['over'] : []),
  ].join('|')
  const rung = state.rung.get(key) ?? { ...origin, cause, time: state.time, alerts: [] }
  rung.alerts.push([alert_id, trigger_count])
  state.rung.set(key, rung)
  state.changed.rung.add(key)
}

/** Forgets what rang long ago; they lie in the order of their time. */
export function forgetRecentTriggers({ rung, changed, time }: AlertsState): void {
  for (const [key, { time: at }] of rung) {
    if (at >= time - REMEMBERED) return
    rung.delete(key)
    changed.rung.add(key)
  }
}

/** The triggers of the last minutes, as they were. */
export function triggersAgain({ kinds, rung, alerts }: AlertsState): Trigger[] {
  return [...rung.values()].flatMap(({ record, v, cause, alerts: rang }) =>
    rang.flatMap(([id, count]) => {
      const alert = alerts.get(id)
      return alert === undefined ? [] : [triggerOf(kinds, { ...alert, trigger_count: count }, cause, { record, v })]
    }),
  )
}

/** The ends of deliveries of the last minutes. */
export function stopsAgain({ alerts, time }: AlertsState, v: number): DeliveryOrder[] {
  const recent = [...alerts.values()].filter(
    ({ status, ended_at: ended }) => status === 'cancelled' && ended >= time - REMEMBERED,
  )
  return recent.map((alert) => stopOf(alert, null, alert.ended_at, v))
}
