import type { AlertState, Micros } from '../../schemas/records.ts'
import { nowhere } from './figure-book.ts'
import type { Kinds, StoredAlert, Terms } from './kinds/kind.ts'

/** An alert in the shape of the log, with what snapshots hold beside it. */
export interface AlertRecord extends AlertState {
  readonly since: Micros
  /** Left out where nothing is held. */
  readonly held?: Micros
}

/** The alert as log and snapshots have it: the one place where terms become the fields of records. Snapshots keep this order. */
export function recordOf(kinds: Kinds, alert: StoredAlert): AlertRecord {
  const { kind, condition, target_price, threshold_pct, min_value_usd } = kinds.of(alert.terms).write(alert.terms)
  return {
    kind,
    symbol: alert.symbol,
    condition,
    target_price,
    threshold_pct,
    min_value_usd,
    expires_in_hours: alert.expires_in_hours,
    wallets: alert.wallets,
    receiver: alert.receiver,
    webhook: alert.webhook,
    key_version: alert.key_version,
    idempotency: alert.idempotency,
    body_hash: alert.body_hash,
    alert_id: alert.alert_id,
    asset: alert.asset,
    status: alert.status,
    created_at: alert.created_at,
    expires_at: alert.expires_at,
    ended_at: alert.ended_at,
    trigger_count: alert.trigger_count,
    last_triggered: alert.last_triggered,
    armed: alert.armed,
    since: alert.since,
    taken: alert.taken,
    ...(alert.held > 0 ? { held: alert.held } : {}),
  }
}

/** The alert of a snapshot: the one place where fields of records become terms, beside creations. */
export function alertOf(kinds: Kinds, record: Omit<AlertRecord, 'taken'> & { readonly taken?: Micros }): StoredAlert {
  const terms = kinds.read(record)
  if (terms === undefined) throw new Error(`this version does not know what alert ${record.alert_id} waits for`)
  // States of before there was the field do not say when the creation was taken.
  return storedAlert(terms, { ...record, taken: record.taken ?? 0, held: record.held ?? 0 })
}

/** Field by field: a million of them have one shape, and nothing of the record that they do not need. */
export function storedAlert(terms: Terms, alert: Omit<StoredAlert, 'terms' | 'stands'>): StoredAlert {
  return {
    terms,
    symbol: alert.symbol,
    expires_in_hours: alert.expires_in_hours,
    wallets: alert.wallets,
    receiver: alert.receiver,
    webhook: alert.webhook,
    key_version: alert.key_version,
    idempotency: alert.idempotency,
    body_hash: alert.body_hash,
    alert_id: alert.alert_id,
    asset: alert.asset,
    status: alert.status,
    created_at: alert.created_at,
    expires_at: alert.expires_at,
    ended_at: alert.ended_at,
    trigger_count: alert.trigger_count,
    last_triggered: alert.last_triggered,
    armed: alert.armed,
    since: alert.since,
    taken: alert.taken,
    held: alert.held,
    stands: nowhere,
  }
}
