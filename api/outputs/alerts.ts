import type { Kind } from '../alerts/book.ts'
import type { Body, BodyRule, Output } from '../route.ts'
import {
  array,
  boolean,
  instant,
  integer,
  nullableInstant,
  nullableInteger,
  nullableText,
  number,
  object,
  oneOf,
  text,
  type Schema,
} from '../schema.ts'

const conditions = ['above', 'below', 'crosses_above', 'crosses_below']
const statuses = ['active', 'triggered', 'expired', 'cancelled']

const alertId = text('alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...')
const expiresAt = instant('When it expires')

function terms(kind: Kind): Readonly<Record<string, Schema>> {
  return kind === 'price'
    ? {
        condition: oneOf(conditions, 'What it waits for; crosses_* ring once'),
        target_price: number('USD'),
      }
    : {
        condition: oneOf(['cascade_risk'], 'Always cascade_risk'),
        threshold_pct: number('Percent of open interest at risk within 5 % of the price'),
        min_value_usd: number('Least open interest at risk, USD'),
      }
}

/** What a creation takes. */
export function creationBody(kind: Kind): BodyRule {
  const own: Readonly<Record<string, Schema>> =
    kind === 'price'
      ? {
          condition: oneOf(conditions, 'above and below are levels, crosses_above and crosses_below ring once'),
          target_price: number('USD', { exclusiveMinimum: 0 }),
        }
      : {
          condition: { ...oneOf(['cascade_risk'], 'The only one'), default: 'cascade_risk' },
          threshold_pct: number('Percent', { exclusiveMinimum: 0, maximum: 100, default: 5 }),
          min_value_usd: number('USD', { minimum: 0, default: 0 }),
        }
  const schema = object(
    'A new alert',
    {
      symbol: text('Any symbol of the catalogue, in any case', { pattern: '^[A-Za-z0-9]{1,20}$' }),
      ...own,
      webhook_url: text('HTTPS URL that is called', { format: 'uri', maxLength: 2048 }),
      agent_wallet: text('EVM or Solana address that lists find the alert by'),
      expires_in_hours: integer('Lifetime', { minimum: 1, maximum: 168, default: 24 }),
    },
    ['agent_wallet', 'expires_in_hours', ...(kind === 'price' ? [] : Object.keys(own))],
  )
  return { schema, example: creationExample(kind), optional: false }
}

function creationExample(kind: Kind): Body {
  const own =
    kind === 'price' ? { condition: 'above', target_price: 100_000 } : { threshold_pct: 5, min_value_usd: 1_000_000 }
  return { symbol: 'BTC', ...own, webhook_url: 'https://hooks.example.com/btc', expires_in_hours: 24 }
}

export const extensionBody: BodyRule = {
  schema: object('How much longer', { add_hours: integer('Hours', { minimum: 1, maximum: 168, default: 24 }) }, [
    'add_hours',
  ]),
  example: { add_hours: 24 },
  optional: true,
}

export function createdOutput(kind: Kind): Output {
  return {
    says: 'The alert is in the log; the same Idempotency-Key gives this answer again for 24 h',
    type: 'application/json',
    schema: object('A new alert', {
      alert_id: alertId,
      symbol: text('As submitted, in upper case'),
      ...terms(kind),
      status: oneOf(['active'], 'Always active'),
      created_at: instant('When it was made'),
      expires_at: expiresAt,
      expires_in_hours: integer('Lifetime, hours'),
      webhook_url: text('As submitted; no other answer shows it'),
      trigger_count: integer('Always 0'),
      delivery_attempts: integer('Always 0'),
      message: text('What it does'),
      manage_token: text('Bearer token that cancels and extends the alert; only here'),
      webhook_secret: text('What its webhooks are signed with: whsec_ and base64; only here'),
    }),
  }
}

function alertSchema(kind: Kind): Schema {
  return object('An alert', {
    alert_id: alertId,
    symbol: text('As submitted, in upper case'),
    ...terms(kind),
    status: oneOf(statuses, 'Where it is in its life'),
    created_at: instant('When it was made'),
    expires_at: expiresAt,
    trigger_count: integer('Triggers so far'),
    delivery_attempts: nullableInteger('Attempts to deliver them; null: ClickHouse does not say just now'),
  })
}

export function statusOutput(kind: Kind): Output {
  return { says: 'The alert as it is now', type: 'application/json', schema: alertSchema(kind) }
}

export function listOutput(kind: Kind): Output {
  return {
    says: 'Active alerts, newest first',
    type: 'application/json',
    schema: object('A page of alerts', {
      count: integer('Alerts of this page'),
      alerts: array(alertSchema(kind), 'Newest first'),
      next_cursor: nullableText('What `cursor` the next page has; null: this is the last'),
    }),
  }
}

export const cancelledOutput: Output = {
  says: 'The alert is cancelled',
  type: 'application/json',
  schema: object('A cancelled alert', {
    alert_id: alertId,
    status: oneOf(['cancelled'], 'Always cancelled'),
    message: text('What that means'),
  }),
}

export const extendedOutput: Output = {
  says: 'The alert ends later',
  type: 'application/json',
  schema: object('An extended alert', {
    alert_id: alertId,
    status: oneOf(statuses, 'Where it is in its life'),
    expires_at: expiresAt,
    add_hours: integer('Hours that were added'),
    message: text('What that means'),
  }),
}

export const deliveriesOutput: Output = {
  says: 'Attempts to deliver the alert’s triggers, newest first',
  type: 'application/json',
  schema: object('A page of attempts', {
    alert_id: alertId,
    count: integer('Attempts of this page'),
    deliveries: array(
      object('An attempt', {
        trigger_id: text('The same on every attempt: the webhook-id'),
        attempt: integer('1 for the first one of a delivery or a resending; 0: it ended without one'),
        outcome: oneOf(['delivered', 'retry', 'exhausted', 'cancelled', 'unknown'], 'What became of the trigger by it'),
        status: nullableInteger('HTTP status; null: none came'),
        error: nullableText('Why, where it is known: timeout, dns, refused, tls, gone, ...'),
        test: boolean('A test event'),
        triggered_at: instant('When the condition was met'),
        started_at: instant('When the attempt began'),
        finished_at: instant('When it was over'),
        duration_ms: integer('How long it took, milliseconds'),
        next_attempt_at: nullableInstant('For retry'),
      }),
      'Newest first',
    ),
    next_cursor: nullableText('What `cursor` the next page has; null: this is the last'),
  }),
}

export const sentOutput: Output = {
  says: 'The delivery is in the log',
  type: 'application/json',
  schema: object('A delivery', {
    alert_id: alertId,
    trigger_id: text('What its webhook-id is'),
    message: text('Where to see what becomes of it'),
  }),
}

export const recordOutput: Output = {
  says: 'The record of the log that a trigger names',
  type: 'application/json',
  schema: object('A record', {
    id: text('As asked for'),
    topic: text('Its topic'),
    partition: integer('Its partition'),
    offset: integer('Its offset'),
    time: instant('Kafka record timestamp'),
    type: text('What kind of record it is'),
    record: { type: 'object', description: 'As it is in the log; times are microseconds since the Unix epoch' },
  }),
}
