/** Commands, alerts, triggers and their deliveries. Documented field by field in `records/*.avsc`. */
import type { Micros } from './micros.ts'
import type { Stood } from './stood.ts'

export interface NewAlert {
  readonly kind: 'unknown' | 'price' | 'liquidation'
  readonly symbol: string
  readonly condition: string
  readonly target_price: number | null
  readonly threshold_pct: number | null
  readonly min_value_usd: number | null
  readonly expires_in_hours: number
  readonly wallets: readonly string[]
  readonly receiver: string
  readonly webhook: string
  readonly key_version: number
  readonly idempotency: string | null
  readonly body_hash: string | null
}

export interface Command {
  readonly request_id: string
  readonly action: 'unknown' | 'create' | 'extend' | 'cancel' | 'test' | 'resend'
  readonly asset: string
  readonly alert_id: string
  readonly alert: NewAlert | null
  readonly add_hours: number | null
  readonly trigger_id: string | null
  readonly trigger_partition: number | null
  readonly trigger_offset: number | null
  readonly payment: string | null
  readonly created: Micros
}

export interface AlertState {
  readonly alert_id: string
  readonly kind: 'unknown' | 'price' | 'liquidation'
  readonly asset: string
  readonly symbol: string
  readonly condition: string
  readonly target_price: number | null
  readonly threshold_pct: number | null
  readonly min_value_usd: number | null
  readonly status: 'unknown' | 'active' | 'triggered' | 'expired' | 'cancelled'
  readonly created_at: Micros
  readonly expires_at: Micros
  readonly expires_in_hours: number
  readonly ended_at: Micros
  readonly trigger_count: number
  readonly last_triggered: Micros
  readonly armed: boolean
  readonly wallets: readonly string[]
  readonly receiver: string
  readonly webhook: string
  readonly key_version: number
  readonly idempotency: string | null
  readonly body_hash: string | null
  readonly taken: Micros
}

export interface Alert extends AlertState {
  readonly time: Micros
  readonly v: number
}

export interface AlertEvent {
  readonly event:
    | 'unknown'
    | 'created'
    | 'triggered'
    | 'rearmed'
    | 'repeated'
    | 'extended'
    | 'cancelled'
    | 'expired'
    | 'tested'
    | 'resent'
    | 'rejected'
  readonly alert_id: string
  readonly request_id: string | null
  readonly error: string | null
  readonly message: string | null
  readonly trigger_id: string | null
  readonly alert: AlertState | null
  readonly time: Micros
  readonly v: number
}

export interface TriggerSource {
  readonly exchange: string
  readonly price: number | null
  readonly open_interest_usd: number | null
  readonly time: Micros
}

export interface Trigger {
  readonly trigger_id: string
  readonly alert_id: string
  readonly kind: 'unknown' | 'price' | 'liquidation'
  readonly asset: string
  readonly symbol: string
  readonly receiver: string
  readonly webhook: string
  readonly key_version: number
  readonly severity: string
  readonly test: boolean
  readonly current_price: number
  readonly target_price: number | null
  readonly condition: string
  readonly condition_met: string
  readonly oi_at_risk_usd: number | null
  readonly oi_at_risk_pct: number | null
  readonly cascade_risk: string | null
  readonly threshold_pct: number | null
  readonly sources: readonly TriggerSource[]
  readonly quality: string
  readonly late: boolean
  readonly trigger_count: number
  readonly record: string
  readonly time: Micros
  readonly v: number
}

export interface DeliveryOrder {
  readonly order: 'unknown' | 'stop' | 'resend'
  readonly alert_id: string
  readonly receiver: string
  readonly trigger_id: string | null
  readonly trigger_partition: number | null
  readonly trigger_offset: number | null
  readonly request_id: string | null
  readonly time: Micros
  readonly v: number
}

export interface Attempt {
  readonly trigger_id: string
  readonly alert_id: string
  readonly receiver: string
  readonly number: number
  readonly outcome: 'unknown' | 'delivered' | 'retry' | 'exhausted' | 'cancelled'
  readonly status: number | null
  readonly error: string | null
  readonly started: Micros
  readonly finished: Micros
  readonly due: Micros | null
  readonly test: boolean
  readonly triggered: Micros
}

export interface Pending {
  readonly trigger_id: string
  readonly alert_id: string
  readonly receiver: string
  readonly state: 'unknown' | 'due' | 'finished' | 'stopped' | 'position'
  readonly attempts: number
  readonly due: Micros
  readonly trigger_partition: number | null
  readonly trigger_offset: number | null
  readonly triggered: Micros
  readonly test: boolean
  readonly time: Micros
  /** By `topic/partition`. */
  readonly stood: Readonly<Record<string, Stood>>
}
