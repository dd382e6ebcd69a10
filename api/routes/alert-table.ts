import type { Kind } from '../alerts/book.ts'
import * as outputs from '../outputs/alerts.ts'
import { whatIfBody, whatIfOutput } from '../outputs/what-if.ts'
import * as params from '../parameters.ts'
import type { Params } from '../params.ts'
import { route, type Route } from '../route.ts'
import { alertStatus, cancelAlert, createAlert, extendAlert, listAlerts } from './alerts.ts'
import { alertDeliveries, resendTrigger, testAlert } from './deliveries.ts'
import { recordAnswer } from './records.ts'
import { whatIfAnswer } from './what-if.ts'

const bearer = { Authorization: 'Bearer and the manage_token that the creation gave' }
const ownerErrors = ['unauthorized', 'forbidden', 'data_unavailable'] as const
const { alertId: id, cursor } = params

/** The routes of alerts; a part of the table in `routes.ts`. The two kinds differ in paths, prices and terms only. */
export const alertRoutes: readonly Route[] = [
  ...routesOf({
    kind: 'price',
    alert: '/price-alert',
    alerts: '/price-alerts',
    named: 'a price alert',
    priceUsdc: { create: 0.04, extend: 0.02 },
    refuses: ['invalid_target_price'],
  }),
  ...routesOf({
    kind: 'liquidation',
    alert: '/liquidation/alert',
    alerts: '/liquidation/alerts',
    named: 'a liquidation alert',
    priceUsdc: { create: 0.06, extend: 0.03 },
    refuses: ['invalid_threshold_pct', 'invalid_min_value_usd'],
  }),
  alertRoute({
    method: 'POST',
    path: '/alerts/backtest',
    name: 'alert_backtest',
    says: 'How often an alert would have rung in the last 7 days, before buying it',
    input: {},
    body: whatIfBody,
    outputs: { 200: whatIfOutput },
    errors: [
      ...(['invalid_body', 'invalid_symbol', 'invalid_condition', 'invalid_target_price'] as const),
      ...(['invalid_threshold_pct', 'invalid_min_value_usd', 'symbol_not_found', 'data_unavailable'] as const),
    ],
    handle: (call) => whatIfAnswer(call),
  }),
  alertRoute({
    method: 'GET',
    path: '/records/:id',
    name: 'record',
    says: 'The log record that a trigger names, to check it against',
    input: { id: params.recordId },
    outputs: { 200: outputs.recordOutput },
    errors: ['data_unavailable'],
    handle: (call) => recordAnswer(call, call.input.id),
  }),
]

interface KindRow {
  readonly kind: Kind
  readonly alert: string
  readonly alerts: string
  readonly named: string
  readonly priceUsdc: { readonly create: number; readonly extend: number }
  readonly refuses: Route['errors']
}

function routesOf(row: KindRow): Route[] {
  return [...openRoutes(row), ...ownerRoutes(row), ...deliveryRoutes(row)]
}

function openRoutes({ kind, alert, alerts, named, priceUsdc, refuses }: KindRow): Route[] {
  return [
    alertRoute({
      method: 'POST',
      path: alert,
      name: `${kind}_alert_create`,
      says: `Create ${named}`,
      priceUsdc: priceUsdc.create,
      input: {},
      body: outputs.creationBody(kind),
      headers: { 'Idempotency-Key': '16 to 128 characters; the same key and body give the same answer for 24 h' },
      outputs: { 201: outputs.createdOutput(kind) },
      errors: [
        ...([
          'invalid_symbol',
          'invalid_condition',
          ...refuses,
          'invalid_webhook_url',
          'invalid_agent_wallet',
        ] as const),
        ...(['expires_in_hours_too_long', 'invalid_expires_in_hours', 'invalid_idempotency_key'] as const),
        ...(['symbol_not_found', 'idempotency_conflict', 'data_unavailable'] as const),
      ],
      handle: (call) => createAlert(call, kind),
    }),
    alertRoute({
      method: 'GET',
      path: `${alert}/:id`,
      name: `${kind}_alert`,
      says: `Status of ${named}`,
      input: { id },
      outputs: { 200: outputs.statusOutput(kind) },
      errors: ['data_unavailable'],
      handle: (call) => alertStatus(call, kind, call.input.id),
    }),
    alertRoute({
      method: 'GET',
      path: alerts,
      name: `${kind}_alerts`,
      says: `Active ${kind} alerts`,
      input: { wallet: params.wallet, symbol: params.symbolFilter, limit: params.limitOf(100), cursor },
      outputs: { 200: outputs.listOutput(kind) },
      errors: ['symbol_not_found', 'data_unavailable'],
      handle: (call) => listAlerts(call, kind, call.input),
    }),
  ]
}

function ownerRoutes({ kind, alert, named, priceUsdc }: KindRow): Route[] {
  return [
    alertRoute({
      method: 'DELETE',
      path: `${alert}/:id`,
      name: `${kind}_alert_cancel`,
      says: `Cancel ${named}`,
      input: { id },
      headers: bearer,
      outputs: { 200: outputs.cancelledOutput },
      errors: [...ownerErrors, 'alert_not_active'],
      handle: (call) => cancelAlert(call, kind, call.input.id),
    }),
    alertRoute({
      method: 'POST',
      path: `${alert}/:id/extend`,
      name: `${kind}_alert_extend`,
      says: `Extend ${named}`,
      priceUsdc: priceUsdc.extend,
      input: { id },
      body: outputs.extensionBody,
      headers: bearer,
      outputs: { 200: outputs.extendedOutput },
      errors: [...ownerErrors, 'invalid_add_hours', 'alert_not_active'],
      handle: (call) => extendAlert(call, kind, call.input.id),
    }),
  ]
}

function deliveryRoutes({ kind, alert, named }: KindRow): Route[] {
  return [
    alertRoute({
      method: 'GET',
      path: `${alert}/:id/deliveries`,
      name: `${kind}_alert_deliveries`,
      says: `Deliveries of ${named}`,
      input: { id, limit: params.limitOf(100), cursor },
      headers: bearer,
      outputs: { 200: outputs.deliveriesOutput },
      errors: ownerErrors,
      handle: (call) => alertDeliveries(call, kind, call.input.id, call.input),
    }),
    alertRoute({
      method: 'POST',
      path: `${alert}/:id/test`,
      name: `${kind}_alert_test`,
      says: `Send a test event of ${named}`,
      input: { id },
      headers: bearer,
      outputs: { 200: outputs.sentOutput },
      errors: [...ownerErrors, 'alert_not_active'],
      handle: (call) => testAlert(call, kind, call.input.id),
    }),
    alertRoute({
      method: 'POST',
      path: `${alert}/:id/deliveries/:trigger_id/resend`,
      name: `${kind}_alert_resend`,
      says: `Send a delivery of ${named} again`,
      input: { id, trigger_id: params.triggerId },
      headers: bearer,
      outputs: { 200: outputs.sentOutput },
      errors: ownerErrors,
      handle: (call) => resendTrigger(call, kind, call.input.id, call.input.trigger_id),
    }),
  ]
}

/** Nothing of alerts is shared between callers, and reading them is free. */
function alertRoute<const Input extends Params>(
  row: Omit<Route<Input>, 'limit' | 'ttlMs' | 'priceUsdc'> & { readonly priceUsdc?: number },
): Route {
  return route<Input>({ priceUsdc: 0, ...row, limit: 'caller', ttlMs: 0 })
}
