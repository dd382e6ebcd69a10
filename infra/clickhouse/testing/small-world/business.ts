import { paymentId } from '../../../../schemas/keys.ts'
import { emptyFields } from '../../../../schemas/codec.ts'
import type { Attempt, PaymentEvent, Trigger } from '../../../../schemas/records.ts'
import { M, SECOND, type Fact } from './time.ts'

/** Alerts that rang, their deliveries, and payments. */
export function businessFacts(): Fact[] {
  return [
    ...triggers.map((value): Fact => ['alerts.triggers', { type: 'trigger', value }]),
    ...attempts.map((value): Fact => ['webhooks.attempts', { type: 'attempt', value }]),
    ...payments.map((value): Fact => ['payments.events', { type: 'payment_event', value }]),
  ]
}

export const trigger: Trigger = {
  ...emptyFields('trigger'),
  trigger_id: 'alert_btc_1_1',
  alert_id: 'alert_btc_1',
  kind: 'price',
  asset: 'btc',
  symbol: 'BTC',
  receiver: 'hooks.example.org:443',
  webhook: 'sealed',
  key_version: 1,
  severity: 'medium',
  test: false,
  current_price: 102,
  target_price: 101.5,
  condition: 'above',
  condition_met: 'BTC rose above 101.5 USD: at 102 USD',
  quality: 'good',
  late: false,
  trigger_count: 1,
  record: 'rec_x',
  time: M + 60 * SECOND,
  v: 8,
}
const fell = { trigger_id: 'alert_btc_2_1', alert_id: 'alert_btc_2', condition: 'below', target_price: 100 } as const
const unsent = { kind: 'rule', target_price: null, condition: 'price above 101.5' } as const
/** One above, one below, one that the owner asked for; one whose receiver was gone before it was sent, one that nobody took up. */
const triggers: readonly Trigger[] = [
  trigger,
  { ...trigger, ...fell, current_price: 99, time: M + 120 * SECOND, v: 9 },
  { ...trigger, trigger_id: 'alert_btc_1_test_r', test: true, v: 10 },
  { ...trigger, ...unsent, trigger_id: 'alert_btc_3_1', alert_id: 'alert_btc_3', v: 11 },
  { ...trigger, ...unsent, trigger_id: 'alert_btc_4_1', alert_id: 'alert_btc_4', v: 12 },
]

export const attempt: Attempt = {
  ...emptyFields('attempt'),
  trigger_id: 'alert_btc_1_1',
  alert_id: 'alert_btc_1',
  receiver: 'hooks.example.org:443',
  number: 1,
  outcome: 'delivered',
  status: 204,
  started: M + 60_100_000,
  finished: M + 60_300_000,
  test: false,
  triggered: M + 60 * SECOND,
}
const second = { trigger_id: 'alert_btc_2_1', alert_id: 'alert_btc_2', triggered: M + 120 * SECOND }
const ended = { trigger_id: 'alert_btc_3_1', alert_id: 'alert_btc_3' }
/** The first is taken at once, 300 ms after the price; the second at its second attempt, after 5.3 s; the third ends without. */
const attempts: readonly Attempt[] = [
  attempt,
  {
    ...attempt,
    ...second,
    outcome: 'retry',
    status: 503,
    error: 'status',
    started: M + 120_200_000,
    finished: M + 120_300_000,
    due: M + 125_000_000,
  },
  { ...attempt, ...second, number: 2, started: M + 125_200_000, finished: M + 125_300_000 },
  { ...attempt, ...ended, number: 0, outcome: 'cancelled', status: null, error: 'gone', finished: M + 60_100_000 },
]

const ASSET = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'
const payer = (n: number): string => `0x${String(n).repeat(40)}`
const settled = (n: number, route: string, amount: string): PaymentEvent => ({
  ...emptyFields('payment_event'),
  payment_id: paymentId(84_532, ASSET, payer(n), `0x${String(n).padStart(64, '0')}`),
  event: 'settled',
  request_id: `req_${n}`,
  method: 'GET',
  route,
  fingerprint: 'what-the-request-was',
  payer: payer(n),
  amount,
  tx: `0xa${n}`,
  block: n,
  by: 'us',
  valid_before: M / SECOND + 300,
  time: M + n * SECOND,
  v: n,
  stood: {},
})
const payments: readonly PaymentEvent[] = [
  settled(1, '/cvd/:symbol', '20000'),
  settled(2, '/cvd/:symbol', '20000'),
  settled(3, '/price/:symbol', '5000'),
  { ...settled(4, '/price/:symbol', '5000'), event: 'failed', tx: null, block: null, reason: 'insufficient_funds' },
]
