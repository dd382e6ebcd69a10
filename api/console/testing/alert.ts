import { emptyFields } from '../../../schemas/codec.ts'
import type { Alert, Micros } from '../../../schemas/records.ts'

/** When it was created. */
export const CREATED: Micros = 1_767_323_045_000_000

/** An alert on a price, with all that a page must not show of one. */
export const alert: Alert = {
  ...emptyFields('alert'),
  alert_id: 'alert_btc_1_2',
  kind: 'price',
  asset: 'btc',
  symbol: 'BTC',
  condition: 'above',
  target_price: 100,
  status: 'active',
  created_at: CREATED,
  expires_at: CREATED + 1_000_000,
  expires_in_hours: 24,
  ended_at: 0,
  trigger_count: 0,
  last_triggered: 0,
  armed: true,
  wallets: ['0xsecret-wallet'],
  receiver: 'secret-receiver',
  webhook: 'secret-webhook',
  key_version: 1,
  idempotency: 'secret-key',
  body_hash: 'secret-hash',
  taken: CREATED + 7,
  owner: 'secret-owner',
  paused_until: 0,
  time: CREATED,
  v: 1,
}
