import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { manageToken, webhookSecret, type ServiceSecrets, isManageToken } from '../../processors/alerts/secrets.ts'
import type { AlertState, Micros } from '../../schemas/records.ts'
import { FOREVER_HOURS, NEVER } from '../../processors/alerts/state.ts'
import { isEverywhere, ownersId } from '../../processors/alerts/parts.ts'
import { iso } from '../views/time.ts'
import { bearerOf, ownerByKey } from '../credit/tokens.ts'
import { ApiError } from '../request/errors.ts'
import type { Call } from '../request/route.ts'
import type { AlertHistory } from './alert-history.ts'
import { type CachedAlert, kindOf } from './alert-store.ts'
import type { Creation } from './creation.ts'
import { deliveryShown, channelAnswer } from './destination.ts'
import { termsShown } from './kinds/kinds.ts'

type Shown = Omit<AlertState, 'webhook'>

/** Symbols of which an alert for all says where they are; those that have rung. */
const SHOWN_MAX = 500
const HOUR: Micros = 3_600_000_000

/**
 * What a creation answers. It follows from the request and from how the alert began, not from what became of it since:
 * the same creation sent again gets the same answer.
 */
export function createdAnswer(creation: Creation, alert: Shown, secrets: ServiceSecrets): object {
  const { key_version: version, created_at: created, expires_in_hours: hours } = alert
  const id = ownersId(alert.alert_id)
  const expires = hours === FOREVER_HOURS ? null : iso(created + hours * HOUR)
  const { terms, delivery, symbol } = creation
  const made = { ...alert, ...alertKinds.of(terms).write(terms), delivery } // it may have been changed since
  const { fields, words } = termsShown(made)
  return {
    alert_id: id,
    symbol,
    ...(creation.symbols !== undefined && { symbols: creation.symbols }),
    ...fields,
    status: 'active',
    created_at: iso(created),
    expires_at: expires,
    expires_in_hours: hours,
    ...creation.destination.shown,
    ...deliveryShown(made),
    trigger_count: 0,
    delivery_attempts: 0,
    message: `The alert watches ${symbol} for ${words}${expires === null ? '' : ` until ${expires}`}; keep manage_token and webhook_secret.`,
    manage_token: manageToken(secrets, version, id),
    webhook_secret: webhookSecret(secrets, version, id),
  }
}

/** An alert as anyone may see it: no URL, no wallet, no secret. */
export function statusAnswer(alert: CachedAlert, { attempts, gaps }: AlertHistory): object {
  return {
    alert_id: alert.alert_id,
    symbol: alert.symbol,
    ...symbolsOf(alert),
    ...termsShown(alert).fields,
    ...channelAnswer(alert.receiver),
    ...deliveryShown(alert),
    status: alert.status,
    created_at: iso(alert.created_at),
    expires_at: endOf(alert),
    ...restOf(alert),
    trigger_count: alert.trigger_count,
    delivery_attempts: attempts,
    gaps: gaps === null ? null : gaps.map(({ from, to }) => ({ from: iso(from), to: iso(to) })),
  }
}

/** Whether it rests, and until when. */
function restOf({ paused_until: until }: Shown): object {
  const end = until === 0 || until === NEVER ? null : iso(until)
  return { paused: until > 0, paused_until: end }
}

/** Null: it has no end. */
function endOf({ expires_at: end }: Pick<AlertState, 'expires_at'>): string | null {
  return end === NEVER ? null : iso(end)
}

/** Of one for several: which, and where each of them is, of all those that are somewhere else than at the beginning. */
function symbolsOf({ parts }: CachedAlert): object {
  if (parts === undefined) return {}
  const own = parts.filter(({ asset }) => !isEverywhere(asset))
  const isForAll = own.length < parts.length
  const shown = own.filter(({ trigger_count: count }) => !isForAll || count > 0).slice(0, SHOWN_MAX)
  const by_symbol = shown.map(({ symbol, status, trigger_count }) => ({ symbol, status, trigger_count }))
  return { symbols: isForAll ? 'all' : own.map(({ symbol }) => symbol), by_symbol }
}

export function cancelledAnswer({ alert_id: id }: AlertState): object {
  const alert_id = ownersId(id)
  return { alert_id, status: 'cancelled', message: 'The alert is cancelled; nothing more will be sent for it.' }
}

export function extendedAnswer({ alert_id: id, status, expires_at }: AlertState, addHours: number): object {
  const alert_id = ownersId(id)
  const until = iso(expires_at)
  return { alert_id, status, expires_at: until, add_hours: addHours, message: `The alert now ends at ${until}.` }
}

type Asking = Pick<Call, 'services' | 'header'>

/** The alert, as every API instance sees it; throws `alert_not_found`. */
export async function existing({ services }: Pick<Call, 'services'>, kind: string, id: string): Promise<CachedAlert> {
  const alert = (await services.alerts.log.book()).find(id)
  if (alert !== undefined && kindOf(alert) === kind) return alert
  throw new ApiError('alert_not_found', `There is no ${kind} alert of this id; ended ones are told of for 7 days.`, {
    field: 'id',
  })
}

/** The alert, asked for by its owner; throws `alert_not_found`, then `unauthorized`, then `forbidden`. */
export async function owned(call: Asking, kind: string, id: string): Promise<CachedAlert> {
  const alert = await existing(call, kind, id)
  const { control, secrets } = call.services.alerts
  if (control === 'open') return alert
  const owner = await ownerByKey(call)
  if (owner !== undefined && owner === alert.owner) return alert
  const token = bearerOf(call.header)
  if (token === undefined)
    throw new ApiError('unauthorized', 'Send Authorization: Bearer and the manage_token that the creation gave.')
  if (!secrets.byVersion.has(alert.key_version))
    throw new ApiError(
      'forbidden',
      'The service no longer has the secret that this alert’s manage_token was made from; an API key of the wallet that paid controls it.',
    )
  if (!isManageToken(secrets, alert.key_version, id, token))
    throw new ApiError('forbidden', 'This is not the manage_token of the alert.')
  return alert
}
