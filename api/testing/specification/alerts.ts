import type { FieldType } from './endpoint.ts'

/** One route of alerts, as the specification and the decisions tell it; `:id` stands for an alert that is there. */
export interface AlertEndpoint {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly priceUsdc: number
  readonly status: 200 | 201
  readonly body?: object
  readonly fields: Readonly<Record<string, FieldType>>
}

const status = {
  alert_id: 'string',
  symbol: 'string',
  condition: 'string',
  status: 'string',
  created_at: 'timestamp',
  expires_at: 'timestamp',
  trigger_count: 'int',
  delivery_attempts: 'int',
} as const

const created = {
  alert_id: 'string',
  symbol: 'string',
  status: 'string',
  expires_at: 'timestamp',
  webhook_url: 'string',
  message: 'string',
  manage_token: 'string',
  webhook_secret: 'string',
} as const

const price = { ...status, target_price: 'number' } as const
const liquidation = { ...status, threshold_pct: 'number', min_value_usd: 'number' } as const
const list = { count: 'int', alerts: 'array' } as const
const cancelled = { alert_id: 'string', status: 'string', message: 'string' } as const
const extended = { ...cancelled, expires_at: 'timestamp', add_hours: 'int' } as const

export const alertEndpoints: readonly AlertEndpoint[] = [
  {
    method: 'POST',
    path: '/price-alert',
    priceUsdc: 0.04,
    status: 201,
    body: { symbol: 'BTC', condition: 'above', target_price: 1, webhook_url: 'https://example.com/hook' },
    fields: {
      ...created,
      condition: 'string',
      target_price: 'number',
      created_at: 'timestamp',
      expires_in_hours: 'int',
      trigger_count: 'int',
      delivery_attempts: 'int',
    },
  },
  { method: 'GET', path: '/price-alert/:id', priceUsdc: 0, status: 200, fields: price },
  { method: 'GET', path: '/price-alerts', priceUsdc: 0, status: 200, fields: { ...list, ...inList(price) } },
  { method: 'DELETE', path: '/price-alert/:id', priceUsdc: 0, status: 200, fields: cancelled },
  { method: 'POST', path: '/price-alert/:id/extend', priceUsdc: 0.02, status: 200, body: {}, fields: extended },
  {
    method: 'POST',
    path: '/liquidation/alert',
    priceUsdc: 0.06,
    status: 201,
    body: { symbol: 'BTC', webhook_url: 'https://example.com/hook' },
    fields: { ...created, threshold_pct: 'number', min_value_usd: 'number' },
  },
  { method: 'GET', path: '/liquidation/alert/:id', priceUsdc: 0, status: 200, fields: liquidation },
  {
    method: 'GET',
    path: '/liquidation/alerts',
    priceUsdc: 0,
    status: 200,
    fields: { ...list, ...inList(liquidation) },
  },
  { method: 'DELETE', path: '/liquidation/alert/:id', priceUsdc: 0, status: 200, fields: cancelled },
  { method: 'POST', path: '/liquidation/alert/:id/extend', priceUsdc: 0.03, status: 200, body: {}, fields: extended },
]

function inList(fields: Readonly<Record<string, FieldType>>): Readonly<Record<string, FieldType>> {
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [`alerts.[].${name}`, type]))
}
