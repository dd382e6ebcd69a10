import type { AlertState, Micros, NewAlert } from '../../schemas/records.ts'
import { nowhere } from './figure-book.ts'
import type { Kinds, StoredAlert, Terms, WireTerms } from './kinds/kind.ts'

/** An alert in the shape of the log, with what snapshots hold beside it. */
export interface AlertRecord extends AlertState {
  readonly since: Micros
  /** Left out where nothing is held. */
  readonly held?: Micros
  /** Left out where it is not. */
  readonly anew?: boolean
}

/** Of an alert that nobody made, and of whose ringing nobody is told. */
export const nobody: Omit<NewAlert, keyof WireTerms | 'symbol' | 'expires_in_hours'> = {
  wallets: [],
  receiver: '',
  webhook: '',
  key_version: 0,
  idempotency: null,
  body_hash: null,
  owner: null,
  delivery: null,
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
    owner: alert.owner,
    delivery: alert.delivery,
    paused_until: alert.paused_until,
    ...(alert.held > 0 ? { held: alert.held } : {}),
    ...(alert.anew ? { anew: true } : {}),
  }
}

/** What a snapshot leaves out where it says nothing: states of before there were such fields are the same. */
const unsaid = { owner: null, delivery: null, paused_until: 0, taken: 0, held: 0, anew: false } as const
export type SavedAlert = Omit<AlertRecord, keyof typeof unsaid> & Partial<AlertRecord>

/** The alert as a snapshot has it. */
export function savedOf(kinds: Kinds, alert: StoredAlert): SavedAlert {
  const { owner, delivery, paused_until, ...record } = recordOf(kinds, alert)
  return {
    ...record,
    ...(owner !== null && { owner }),
    ...(delivery !== null && { delivery }),
    ...(paused_until > 0 && { paused_until }),
  }
}

/**
 * The alert of a snapshot: the one place where fields of records become terms, beside creations. `shared`: one copy of a
 * text that many alerts have.
 */
export function alertOf(kinds: Kinds, record: SavedAlert, shared = (text: string): string => text): StoredAlert {
  const terms = kinds.read(record)
  if (terms === undefined) throw new Error(`this version does not know what alert ${record.alert_id} waits for`)
  return storedAlert(terms, record, shared)
}

/** Field by field: a million of them have one shape, and nothing of the record that they do not need. */
export function storedAlert(
  terms: Terms,
  alert: Omit<StoredAlert, 'terms' | 'stands' | keyof typeof unsaid> & Partial<StoredAlert>,
  shared = (text: string): string => text,
): StoredAlert {
  return {
    terms,
    symbol: shared(alert.symbol),
    expires_in_hours: alert.expires_in_hours,
    wallets: alert.wallets,
    receiver: alert.receiver,
    webhook: alert.webhook,
    key_version: alert.key_version,
    idempotency: alert.idempotency,
    body_hash: alert.body_hash,
    alert_id: alert.alert_id,
    asset: shared(alert.asset),
    status: alert.status,
    created_at: alert.created_at,
    expires_at: alert.expires_at,
    ended_at: alert.ended_at,
    trigger_count: alert.trigger_count,
    last_triggered: alert.last_triggered,
    armed: alert.armed,
    since: alert.since,
    taken: alert.taken ?? unsaid.taken,
    held: alert.held ?? unsaid.held,
    anew: alert.anew ?? unsaid.anew,
    owner: alert.owner ?? unsaid.owner,
    delivery: alert.delivery ?? unsaid.delivery,
    paused_until: alert.paused_until ?? unsaid.paused_until,
    stands: nowhere,
  }
}
