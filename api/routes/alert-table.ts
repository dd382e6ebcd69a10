import { callerRoute, jsonOutput, type BodyRule, type Output, type Route } from '../request/route.ts'
import { channelSchema, channelShownSchema, deliverySchemas, deliveryShownSchemas } from '../alerts/destination.ts'
import type { ApiKind } from '../alerts/kinds/kind.ts'
import { HOURS_MAX, LONG_HOURS_MAX, SYMBOLS_MAX } from '../alerts/fields.ts'
import { apiKinds } from '../alerts/kinds/kinds.ts'
import type { Body } from '../request/body.ts'
import * as params from './parameters.ts'
import {
  alertStatus,
  cancelAlert,
  createAlert,
  editAlert,
  extendAlert,
  listAlerts,
  pauseAlert,
  resumeAlert,
} from './alerts.ts'
import { alertDeliveries, resendTrigger, testAlert } from './deliveries.ts'
import { recordRoute } from './records.ts'
import { emailCodeRoute } from './email-code.ts'
import { walletRoutes } from './wallet.ts'
import { alertBacktest } from './what-if.ts'
import {
  array,
  boolean,
  instant,
  integer,
  nullable,
  nullableInstant,
  nullableInteger,
  nullableText,
  object,
  oneOf,
  type Schema,
  text,
} from '../request/schema.ts'

const statuses = ['active', 'triggered', 'expired', 'cancelled']

const alertId = text('alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...')
const expiresAt = instant('When it expires')

function endOf({ mayLastForever }: ApiKind): Schema {
  return mayLastForever === true ? nullableInstant('When it expires; null: it has no end') : expiresAt
}

function lifetimeOf({ mayLastForever }: ApiKind): Schema {
  if (mayLastForever !== true) return integer('Lifetime', { minimum: 1, maximum: HOURS_MAX, default: 24 })
  return integer('Lifetime; 0: no end, where payments are off', { minimum: 0, maximum: LONG_HOURS_MAX, default: 24 })
}

const symbolsSchema: Schema = {
  description: 'Of a rule for several, in place of symbol: a list, or all, those too that are listed later',
  oneOf: [
    { ...array(text('A symbol', { pattern: '^[A-Za-z0-9]{1,20}$' }), 'Symbols'), minItems: 1, maxItems: SYMBOLS_MAX },
    oneOf(['all'], 'All'),
  ],
}

/** What answers say of a kind that may be for several symbols. */
function severalOf({ mayBeForSeveral }: ApiKind): Readonly<Record<string, Schema>> {
  if (mayBeForSeveral !== true) return {}
  const state = {
    symbol: text('Which'),
    status: oneOf(statuses, 'Where it is'),
    trigger_count: integer('Triggers so far'),
  }
  const by_symbol = array(object('A symbol of it', state), 'Of several: each of a list, of all those that have rung')
  return { symbols: symbolsSchema, by_symbol }
}

/** What a creation takes. */
function creationBody(kind: ApiKind): BodyRule {
  const { body, optional, example } = kind
  const isForSeveral = kind.mayBeForSeveral === true
  const schema = object(
    'A new alert',
    {
      symbol: text('Any symbol of the catalogue, in any case', { pattern: '^[A-Za-z0-9]{1,20}$' }),
      ...(isForSeveral && { symbols: symbolsSchema }),
      ...body,
      webhook_url: text('HTTPS URL that is called, signed; this or channel', { format: 'uri', maxLength: 2048 }),
      channel: channelSchema,
      ...deliverySchemas,
      agent_wallet: text('EVM or Solana address that lists find the alert by'),
      expires_in_hours: lifetimeOf(kind),
    },
    [
      'webhook_url',
      'channel',
      'quiet_hours',
      'digest',
      'agent_wallet',
      'expires_in_hours',
      ...optional,
      ...(isForSeveral ? ['symbol', 'symbols'] : []),
    ],
  )
  const common = { webhook_url: 'https://hooks.example.com/btc', expires_in_hours: 24 }
  return { schema, example: { symbol: 'BTC', ...example, ...common }, optional: false }
}

const extensionBody: BodyRule = {
  schema: object('How much longer', { add_hours: integer('Hours', { minimum: 1, maximum: 168, default: 24 }) }, [
    'add_hours',
  ]),
  example: { add_hours: 24 },
  optional: true,
}

const pauseBody: BodyRule = {
  schema: object('How long', { until: nullableInstant('When it ends by itself; left out: when it is resumed') }, [
    'until',
  ]),
  example: { until: '2030-01-01T06:00:00Z' },
  optional: true,
}

function createdOutput(kind: ApiKind): Output {
  return {
    description: 'The alert is in the log; the same Idempotency-Key gives this answer again for 24 h',
    type: 'application/json',
    schema: object(
      'A new alert',
      {
        alert_id: alertId,
        symbol: text('As submitted, in upper case; of several joined by commas, or all'),
        ...(kind.mayBeForSeveral === true && { symbols: symbolsSchema }),
        ...kind.answer,
        status: oneOf(['active'], 'Always active'),
        created_at: instant('When it was made'),
        expires_at: endOf(kind),
        expires_in_hours: integer('Lifetime, hours'),
        webhook_url: text('As submitted; no other answer shows it'),
        channel: channelShownSchema,
        ...deliveryShownSchemas,
        trigger_count: integer('Always 0'),
        delivery_attempts: integer('Always 0'),
        message: text('What it does'),
        manage_token: text('Bearer token that cancels and extends the alert; only here'),
        webhook_secret: text('What its webhooks are signed with: whsec_ and base64; only here'),
      },
      ['webhook_url', 'channel', 'symbols'],
    ),
  }
}

function alertSchema(kind: ApiKind): Schema {
  return object(
    'An alert',
    {
      alert_id: alertId,
      symbol: text('As submitted, in upper case; of several joined by commas, or all'),
      ...severalOf(kind),
      ...kind.answer,
      channel: channelShownSchema,
      ...deliveryShownSchemas,
      status: oneOf(statuses, 'Where it is in its life'),
      created_at: instant('When it was made'),
      expires_at: endOf(kind),
      paused: boolean('It rests: it neither rings nor tells that something is over'),
      paused_until: nullableInstant('When that ends by itself; null: at a word of its owner'),
      trigger_count: integer('Triggers so far'),
      delivery_attempts: nullableInteger('Attempts to deliver them; null: ClickHouse does not say just now'),
      gaps: nullable(
        array(
          object('What it watches was lost with a part of the log', {
            from: instant('Last record before'),
            to: instant('First record after'),
          }),
          'Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now',
        ),
      ),
    },
    ['channel', ...Object.keys(severalOf(kind))],
  )
}

function statusOutput(kind: ApiKind): Output {
  return { description: 'The alert as it is now', type: 'application/json', schema: alertSchema(kind) }
}

function listOutput(kind: ApiKind): Output {
  return {
    description: 'Active alerts, newest first',
    type: 'application/json',
    schema: object('A page of alerts', {
      count: integer('Alerts of this page'),
      alerts: array(alertSchema(kind), 'Newest first'),
      next_cursor: nullableText('What `cursor` the next page has; null: this is the last'),
    }),
  }
}

const cancelledOutput = jsonOutput(
  'The alert is cancelled',
  object('A cancelled alert', {
    alert_id: alertId,
    status: oneOf(['cancelled'], 'Always cancelled'),
    message: text('What that means'),
  }),
)

const extendedOutput = jsonOutput(
  'The alert ends later',
  object('An extended alert', {
    alert_id: alertId,
    status: oneOf(statuses, 'Where it is in its life'),
    expires_at: expiresAt,
    add_hours: integer('Hours that were added'),
    message: text('What that means'),
  }),
)

const deliveriesOutput = jsonOutput(
  'Attempts to deliver the alert’s triggers, newest first',
  object('A page of attempts', {
    alert_id: alertId,
    count: integer('Attempts of this page'),
    deliveries: array(
      object('An attempt', {
        trigger_id: text('The same on every attempt: the webhook-id'),
        attempt: integer(
          '1 for the first one of a delivery or a resending; 0: it ended without one, or waits for its digest',
        ),
        outcome: oneOf(
          ['delivered', 'retry', 'exhausted', 'cancelled', 'digested', 'unknown'],
          'What became of the trigger by it; digested: it waits for its digest',
        ),
        status: nullableInteger('HTTP status, of email the reply code of SMTP; null: none came'),
        error: nullableText('Why, where it is known: timeout, dns, refused, tls, gone, rejected, ...'),
        digest: nullableText('The digest that it is, or is to be, told in: its webhook-id; null: by itself'),
        test: boolean('A test event'),
        triggered_at: instant('When the condition was met'),
        started_at: instant('When the attempt began'),
        finished_at: instant('When it was over'),
        duration_ms: integer('How long it took, milliseconds'),
        next_attempt_at: nullableInstant('For retry and digested'),
      }),
      'Newest first',
    ),
    next_cursor: nullableText('What `cursor` the next page has; null: this is the last'),
  }),
)

const sentOutput = jsonOutput(
  'The delivery is in the log',
  object('A delivery', {
    alert_id: alertId,
    trigger_id: text('What its webhook-id is'),
    message: text('Where to see what becomes of it'),
  }),
)

const bearer = {
  Authorization: 'Bearer and the manage_token that the creation gave',
  'X-API-Key': 'An API key of the wallet that paid, with the scope alerts, in its place',
}
const ownerErrors = ['unauthorized', 'forbidden', 'data_unavailable'] as const
const { alertId: id, cursor } = params

/** The routes of alerts; a part of the table in `routes.ts`. Kinds differ in paths, prices and terms only. */
export const alertRoutes: readonly Route[] = [
  ...apiKinds.flatMap(routesOf),
  ...walletRoutes,
  emailCodeRoute,
  alertBacktest,
  recordRoute,
]

function routesOf(row: ApiKind): Route[] {
  return [
    ...openRoutes(row),
    ...ownerRoutes(row),
    ...restRoutes(row),
    ...(row.isEditable === true ? [editRoute(row)] : []),
    ...deliveryRoutes(row),
  ]
}

/** The base price covers a week; what a body asks for beyond is paid by the day. A lifetime that is refused costs nothing. */
function creationPrice({ priceUsdc, perDayUsdc = 0 }: ApiKind, { expires_in_hours: hours }: Body): number {
  const beyond = typeof hours === 'number' && hours <= LONG_HOURS_MAX ? Math.max(0, hours - HOURS_MAX) : 0
  return Math.round((priceUsdc.create + Math.ceil(beyond / 24) * perDayUsdc) * USDC_UNITS) / USDC_UNITS
}

const USDC_UNITS = 1_000_000

function openRoutes(row: ApiKind): Route[] {
  const { kind, paths, named, priceUsdc, errors } = row
  const { alert, alerts } = paths
  return [
    callerRoute({
      method: 'POST',
      path: alert,
      name: `${kind}_alert_create`,
      description: `Create ${named}`,
      priceUsdc: priceUsdc.create,
      ...(row.perDayUsdc === undefined ? {} : { priceOf: (asked: Body) => creationPrice(row, asked) }),
      isIdempotent: true,
      input: {},
      body: creationBody(row),
      headers: {
        'Idempotency-Key':
          '16 to 128 characters that only you know; the same key and body give the same answer for 24 h, a payment that had one under it alone',
      },
      outputs: { 201: createdOutput(row) },
      errors: [
        ...(['invalid_symbol', 'invalid_condition', ...errors, 'invalid_webhook_url', 'invalid_channel'] as const),
        ...(['invalid_quiet_hours', 'invalid_digest'] as const),
        'invalid_agent_wallet',
        ...(['expires_in_hours_too_long', 'invalid_expires_in_hours', 'invalid_idempotency_key'] as const),
        ...(['symbol_not_found', 'idempotency_conflict', 'data_unavailable'] as const),
      ],
      prepare: (call) => createAlert(call, row),
    }),
    callerRoute({
      method: 'GET',
      path: `${alert}/:id`,
      name: `${kind}_alert`,
      description: `Status of ${named}`,
      input: { id },
      outputs: { 200: statusOutput(row) },
      errors: ['data_unavailable'],
      prepare: (call) => alertStatus(call, kind, call.input.id),
    }),
    callerRoute({
      method: 'GET',
      path: alerts,
      name: `${kind}_alerts`,
      description: `Active ${kind} alerts`,
      input: { wallet: params.wallet, symbol: params.symbolFilter, limit: params.limitOf(100), cursor },
      outputs: { 200: listOutput(row) },
      errors: ['symbol_not_found', 'data_unavailable'],
      prepare: (call) => listAlerts(call, kind, call.input),
    }),
  ]
}

function ownerRoutes({ kind, paths: { alert }, named, priceUsdc }: ApiKind): Route[] {
  return [
    callerRoute({
      method: 'DELETE',
      path: `${alert}/:id`,
      name: `${kind}_alert_cancel`,
      description: `Cancel ${named}`,
      input: { id },
      headers: bearer,
      outputs: { 200: cancelledOutput },
      errors: [...ownerErrors, 'alert_not_active'],
      prepare: (call) => cancelAlert(call, kind, call.input.id),
    }),
    callerRoute({
      method: 'POST',
      path: `${alert}/:id/extend`,
      name: `${kind}_alert_extend`,
      description: `Extend ${named}`,
      priceUsdc: priceUsdc.extend,
      input: { id },
      body: extensionBody,
      headers: {
        ...bearer,
        'Idempotency-Key': '16 to 128 characters that only you know; the same key and body extend it once within 24 h',
      },
      outputs: { 200: extendedOutput },
      errors: [...ownerErrors, 'invalid_add_hours', 'invalid_idempotency_key', 'alert_not_active'],
      prepare: (call) => extendAlert(call, kind, call.input.id),
    }),
  ]
}

function restRoutes(row: ApiKind): Route[] {
  const { kind, paths, named } = row
  const rest = { method: 'POST', input: { id }, headers: bearer, outputs: { 200: statusOutput(row) } } as const
  return [
    callerRoute({
      ...rest,
      path: `${paths.alert}/:id/pause`,
      name: `${kind}_alert_pause`,
      description: `Pause ${named}, until a time or until it is resumed`,
      body: pauseBody,
      errors: [...ownerErrors, 'invalid_until', 'alert_not_active'],
      prepare: (call) => pauseAlert(call, kind, call.input.id),
    }),
    callerRoute({
      ...rest,
      path: `${paths.alert}/:id/resume`,
      name: `${kind}_alert_resume`,
      description: `Resume ${named}`,
      errors: [...ownerErrors, 'alert_not_active'],
      prepare: (call) => resumeAlert(call, kind, call.input.id),
    }),
  ]
}

function editRoute(row: ApiKind): Route {
  const { kind, paths, named, body, optional, example, errors } = row
  return callerRoute({
    method: 'PATCH',
    path: `${paths.alert}/:id`,
    name: `${kind}_alert_edit`,
    description: `Change ${named}`,
    input: { id },
    body: {
      schema: object('The terms, whole: what is left out has its default', { ...body, ...deliverySchemas }, [
        ...optional,
        'quiet_hours',
        'digest',
      ]),
      example,
      optional: false,
    },
    headers: bearer,
    outputs: { 200: statusOutput(row) },
    errors: [
      ...ownerErrors,
      ...errors,
      'invalid_quiet_hours',
      'invalid_digest',
      'symbol_not_found',
      'alert_not_active',
    ],
    prepare: (call) => editAlert(call, row, call.input.id),
  })
}

function deliveryRoutes({ kind, paths: { alert }, named }: ApiKind): Route[] {
  return [
    callerRoute({
      method: 'GET',
      path: `${alert}/:id/deliveries`,
      name: `${kind}_alert_deliveries`,
      description: `Deliveries of ${named}`,
      input: { id, limit: params.limitOf(100), cursor },
      headers: bearer,
      outputs: { 200: deliveriesOutput },
      errors: ownerErrors,
      prepare: (call) => alertDeliveries(call, kind, call.input.id, call.input),
    }),
    callerRoute({
      method: 'POST',
      path: `${alert}/:id/test`,
      name: `${kind}_alert_test`,
      description: `Send a test event of ${named}`,
      input: { id },
      headers: bearer,
      outputs: { 200: sentOutput },
      errors: [...ownerErrors, 'alert_not_active'],
      prepare: (call) => testAlert(call, kind, call.input.id),
    }),
    callerRoute({
      method: 'POST',
      path: `${alert}/:id/deliveries/:trigger_id/resend`,
      name: `${kind}_alert_resend`,
      description: `Send a delivery of ${named} again`,
      input: { id, trigger_id: params.triggerId },
      headers: bearer,
      outputs: { 200: sentOutput },
      errors: ownerErrors,
      prepare: (call) => resendTrigger(call, kind, call.input.id, call.input.trigger_id),
    }),
  ]
}

/** Nothing of alerts is shared between callers, and reading them is free. */
