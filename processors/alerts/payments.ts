import type { Micros } from '../../schemas/records.ts'
import { PAYMENT_KNOWN, type AlertsState } from './state.ts'

/** What a payment bought, so that it never buys anything twice. */

/** The id of the alert that the payment has bought, or bought more time for; undefined: nothing yet. */
export function boughtBy(state: AlertsState, payment: string | null): string | undefined {
  return payment === null ? undefined : state.payments.get(payment)?.alert_id
}

export function rememberPayment(state: AlertsState, payment: string, alertId: string, now: Micros): void {
  state.payments.set(payment, { alert_id: alertId, at: now })
  state.changed.payments.add(payment)
  state.timers.set('payment', now + PAYMENT_KNOWN, payment)
}

export function forgetPayment(state: AlertsState, payment: string): void {
  state.payments.delete(payment)
  state.changed.payments.add(payment)
}
