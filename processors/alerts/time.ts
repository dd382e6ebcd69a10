import type { Micros } from '../../schemas/records.ts'
import { forgetPayment, forgetRequest } from './commands.ts'
import { advanceFigures, cool, expire, resume, ringHeld, type Report } from './evaluate.ts'
import type { StoredAlert } from './kinds/kind.ts'
import { hasTimer, partsOf, type AlertsState, type AlertTimer } from './state.ts'
import type { Timer } from './timers.ts'

/** What time does to alerts. `purged`: forgotten for good. */
export interface TimeReport {
  readonly moved: Report
  readonly purged: (alert: StoredAlert) => void
}

/** Lets time pass: cooldowns end, lifetimes end, what has ended long ago is forgotten. */
export function advance(state: AlertsState, time: Micros, report: TimeReport): void {
  const before = state.time
  state.time = time
  advanceFigures(state, before, report.moved)
  for (let timer = state.timers.due(time); timer !== undefined; timer = state.timers.due(time)) {
    ring(state, timer, report)
  }
}

function ring(state: AlertsState, { what, key, id }: Timer, report: TimeReport): void {
  if (what === 'request') forgetRequest(state, id)
  else if (what === 'payment') forgetPayment(state, id)
  else if (what === 'creation') state.creations.delete(id)
  else {
    const alert = state.alerts.get(id)
    // Otherwise the alert has moved on since the timer was set.
    if (alert !== undefined && hasTimer(state, alert, what, key)) due(state, alert, { what, key }, report)
  }
}

interface Due {
  readonly what: AlertTimer
  readonly key: Micros
}

function due(state: AlertsState, alert: StoredAlert, { what, key }: Due, { moved, purged }: TimeReport): void {
  switch (what) {
    case 'cooled':
      cool(state, alert, moved)
      return
    case 'resumed':
      resume(state, alert, key, moved)
      return
    case 'held':
      ringHeld(state, alert, key, moved)
      return
    case 'expires':
      expire(state, alert, moved)
      return
    case 'purged':
      for (const one of [...partsOf(state, alert.alert_id), alert]) {
        state.alerts.delete(one.alert_id)
        state.changed.alerts.add(one.alert_id)
        purged(one)
      }
      state.parts.delete(alert.alert_id)
  }
}
