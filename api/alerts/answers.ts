import { manageToken, webhookSecret, type ServiceSecrets } from '../../processors/alerts/secrets.ts'
import type { AlertState } from '../../schemas/alerts.ts'
import type { Micros } from '../../schemas/records.ts'
import { iso } from '../views/time.ts'
import type { Held } from './book.ts'
import type { Creation } from './creation.ts'

type Shown = Omit<AlertState, 'webhook'>

const HOUR: Micros = 3_600_000_000

/**
 * What a creation answers. It follows from the request and from how the alert began, not from what became of it since:
 * the same creation sent again gets the same answer.
 */
export function createdAnswer(creation: Creation, alert: Shown, secrets: ServiceSecrets): object {
  const { alert_id: id, key_version: version, created_at: created, expires_in_hours: hours } = alert
  const expires = iso(created + hours * HOUR)
  return {
    alert_id: id,
    symbol: creation.symbol,
    ...termsOf(alert),
    status: 'active',
    created_at: iso(created),
    expires_at: expires,
    expires_in_hours: hours,
    webhook_url: creation.webhook_url,
    trigger_count: 0,
    delivery_attempts: 0,
    message: `The alert watches ${watchedText(alert)} until ${expires}; keep manage_token and webhook_secret.`,
    manage_token: manageToken(secrets, version, id),
    webhook_secret: webhookSecret(secrets, version, id),
  }
}

function termsOf(alert: Shown): object {
  const { kind, condition, target_price, threshold_pct, min_value_usd } = alert
  return kind === 'price' ? { condition, target_price } : { condition, threshold_pct, min_value_usd }
}

function watchedText({ kind, symbol, condition, target_price, threshold_pct, min_value_usd }: Shown): string {
  return kind === 'price'
    ? `${symbol} for ${condition.replace('_', ' ')} ${String(target_price)} USD`
    : `${symbol} for over ${String(threshold_pct)} % of open interest, ${String(min_value_usd)} USD or more, at risk`
}

/** An alert as anyone may see it: no URL, no wallet, no secret. */
export function statusAnswer(alert: Held, deliveryAttempts: number | null): object {
  return {
    alert_id: alert.alert_id,
    symbol: alert.symbol,
    ...termsOf(alert),
    status: alert.status,
    created_at: iso(alert.created_at),
    expires_at: iso(alert.expires_at),
    trigger_count: alert.trigger_count,
    delivery_attempts: deliveryAttempts,
  }
}

export function cancelledAnswer({ alert_id }: AlertState): object {
  return { alert_id, status: 'cancelled', message: 'The alert is cancelled; nothing more will be sent for it.' }
}

export function extendedAnswer({ alert_id, status, expires_at }: AlertState, addHours: number): object {
  const until = iso(expires_at)
  return { alert_id, status, expires_at: until, add_hours: addHours, message: `The alert now ends at ${until}.` }
}
