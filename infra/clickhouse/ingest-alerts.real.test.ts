import { afterAll, beforeAll, expect, it } from 'vitest'
import { emptyFields } from '../../schemas/codec.ts'
import type { AlertEvent, AlertState, Attempt, Command, DeliveryOrder, Trigger } from '../../schemas/records.ts'
import { createWorld, iso, T, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('alerted')
})
afterAll(() => world.end())

const id = 'alert_btc_1723161256_1'
const SEALED = 'c2VhbGVkLXVybA=='
const HOST = 'hooks.example.org:443'
const WALLET = '0x1111111111111111111111111111111111111111'
const KEY = 'hash-of-an-idempotency-key'
const hidden = {
  wallets: [WALLET],
  owner: WALLET,
  receiver: HOST,
  webhook: SEALED,
  key_version: 1,
  idempotency: KEY,
  body_hash: KEY,
  delivery: null,
  paused_until: 0,
}

const state: AlertState = {
  alert_id: id,
  kind: 'price',
  asset: 'btc',
  symbol: 'BTC',
  condition: 'above',
  target_price: 60_000,
  threshold_pct: null,
  min_value_usd: null,
  status: 'active',
  created_at: T,
  expires_at: T + 3_600_000_000,
  expires_in_hours: 1,
  ended_at: 0,
  trigger_count: 0,
  last_triggered: 0,
  armed: false,
  taken: T + 3,
  ...hidden,
}
const command: Command = {
  ...emptyFields('command'),
  request_id: 'req_1',
  action: 'create',
  asset: 'btc',
  alert_id: id,
  alert: { ...state, expires_in_hours: 1 },
  payment: `eip155:8453/${WALLET}/1`,
  created: T,
}
const created: AlertEvent = {
  event: 'created',
  alert_id: id,
  request_id: 'req_1',
  error: null,
  message: null,
  trigger_id: null,
  alert: state,
  time: T,
  v: 7,
}
const trigger: Trigger = {
  ...emptyFields('trigger'),
  trigger_id: `${id}_1`,
  alert_id: id,
  kind: 'price',
  asset: 'btc',
  symbol: 'BTC',
  receiver: HOST,
  webhook: SEALED,
  key_version: 1,
  severity: 'medium',
  test: false,
  current_price: 60_001,
  target_price: 60_000,
  condition: 'above',
  condition_met: 'price above 60000',
  sources: [{ exchange: 'kraken', price: 60_001, open_interest_usd: null, time: T - 3 }],
  quality: 'good',
  late: false,
  trigger_count: 1,
  record: 'rec_x',
  time: T,
  v: 8,
}
const order: DeliveryOrder = {
  ...emptyFields('delivery_order'),
  order: 'stop',
  alert_id: id,
  receiver: HOST,
  request_id: 'req_2',
  time: T + 1,
  v: 9,
}
const attempt: Attempt = {
  trigger_id: `${id}_1`,
  alert_id: id,
  receiver: HOST,
  number: 1,
  outcome: 'retry',
  status: 503,
  error: 'status',
  started: T + 10,
  finished: T + 20,
  due: T + 5_000_000,
  test: false,
  triggered: T,
  digest: null,
}

it('tells what was asked of alerts and what happened to them, once however often it comes', async () => {
  const encoded = world.codec.encode('alerts.inputs', 'command', command)
  const first = await world.append('alerts.inputs', [encoded, encoded])
  await world.soon('SELECT * EXCEPT (partition, offset) FROM alert_commands', [
    { alert_id: id, request_id: 'req_1', asset: 'btc', action: 'create', add_hours: null, created: iso(T) },
  ])
  expect(first).toBe(0)
  const encode = (change: Partial<AlertEvent>): Buffer =>
    world.codec.encode('alerts.events', 'alert_event', { ...created, ...change })
  // One of before there was the field.
  const triggered = { ...state, status: 'triggered' as const, trigger_count: 1, last_triggered: T + 2, taken: 0 }
  await world.append('alerts.events', [
    encode({}),
    encode({ event: 'triggered', alert: triggered, trigger_id: `${id}_1`, request_id: null, time: T + 2, v: 8 }),
    encode({}),
    encode({ event: 'rejected', alert_id: 'alert_x', alert: null, error: 'alert_not_found', message: SEALED, v: 10 }),
    world.mark('alerts.events', { writer: 'alerts', run: 0, time: T + 9 }),
  ])
  await world.soon("SELECT time FROM partition_times WHERE topic = 'alerts.events'", [{ time: iso(T + 9) }])
  await world.soon('SELECT count() AS events FROM alert_events', [{ events: 3 }])
  const { armed: _a, expires_in_hours: _h, ...visible } = state
  const shown = Object.fromEntries(Object.entries(visible).filter(([name]) => !(name in hidden)))
  const times = { created_at: iso(T), taken: iso(T + 3), expires_at: iso(state.expires_at), ended_at: null }
  const rows = await world.rows("SELECT * EXCEPT (partition, offset) FROM alert_events WHERE symbol != '' ORDER BY v")
  const event = { request_id: null, error: null, trigger_id: null }
  expect(rows).toEqual([
    { ...shown, ...times, ...event, event: 'created', request_id: 'req_1', last_triggered: null, time: iso(T), v: 7 },
    {
      ...shown,
      ...times,
      ...event,
      event: 'triggered',
      taken: iso(T),
      trigger_id: `${id}_1`,
      status: 'triggered',
      trigger_count: 1,
      last_triggered: iso(T + 2),
      time: iso(T + 2),
      v: 8,
    },
  ])
  expect(
    await world.rows(
      "SELECT event, error, kind, created_at, taken, expires_at FROM alert_events WHERE alert_id = 'alert_x'",
    ),
  ).toEqual([
    { event: 'rejected', error: 'alert_not_found', kind: '', created_at: null, taken: null, expires_at: null },
  ])
})

it('gives each trigger once, with its place, and the orders beside them', async () => {
  const encode = (change: Partial<Trigger>): Buffer =>
    world.codec.encode('alerts.triggers', 'trigger', { ...trigger, ...change })
  await world.append('alerts.triggers', [
    encode({}),
    world.codec.encode('alerts.triggers', 'delivery_order', order),
    encode({ trigger_id: `${id}_2`, trigger_count: 2, v: 11 }),
    encode({}),
  ])
  await world.soon('SELECT trigger_id, v FROM triggers ORDER BY v', [
    { trigger_id: `${id}_1`, v: 8 },
    { trigger_id: `${id}_2`, v: 11 },
  ])
  const shown = Object.fromEntries(Object.entries(trigger).filter(([name]) => !(name in hidden)))
  expect(await world.rows(`SELECT * EXCEPT offset FROM triggers WHERE trigger_id = '${id}_1'`)).toEqual(
    [{ ...shown, sources: [{ exchange: 'kraken', price: 60_001, open_interest_usd: null, time: iso(T - 3) }] }].map(
      (row) => ({ ...row, time: iso(T), partition: 2 }),
    ),
  )
  await world.soon('SELECT * EXCEPT (partition, offset) FROM delivery_orders', [
    { alert_id: id, order: 'stop', trigger_id: null, time: iso(T + 1), v: 9 },
  ])
})

it('gives the attempts of an alert in their order, each once', async () => {
  const encode = (change: Partial<Attempt>): Buffer =>
    world.codec.encode('webhooks.attempts', 'attempt', { ...attempt, ...change })
  const first = await world.append('webhooks.attempts', [
    encode({ number: 2, outcome: 'delivered', status: 204, error: null, due: null, started: T + 30, finished: T + 40 }),
    encode({}),
    encode({ alert_id: 'alert_y', status: null, error: 'timeout' }),
  ])
  const shown = Object.fromEntries(Object.entries(attempt).filter(([name]) => !(name in hidden)))
  const times = { triggered: iso(T), partition: 2 }
  await world.soon(`SELECT * FROM webhook_attempts WHERE alert_id = '${id}' ORDER BY started`, [
    { ...shown, ...times, started: iso(T + 10), finished: iso(T + 20), due: iso(T + 5_000_000), offset: first + 1 },
    {
      ...shown,
      ...times,
      number: 2,
      outcome: 'delivered',
      status: 204,
      error: null,
      due: null,
      started: iso(T + 30),
      finished: iso(T + 40),
      offset: first,
    },
  ])
  expect(await world.rows(`SELECT count() AS attempts FROM webhook_attempts WHERE alert_id = '${id}'`)).toEqual([
    { attempts: 2 },
  ])
})

it('holds no address, wallet or key anywhere, not even of a record that cannot be read', async () => {
  const broken = world.codec.encode('alerts.triggers', 'trigger', trigger)
  for (const topic of ['alerts.inputs', 'alerts.events', 'alerts.triggers', 'webhooks.attempts'] as const)
    await world.append(topic, [broken.subarray(0, broken.length - 40)], 0)
  await world.soon('SELECT topic, raw FROM ingest_errors ORDER BY topic', [
    { topic: 'alerts.events', raw: '' },
    { topic: 'alerts.inputs', raw: '' },
    { topic: 'alerts.triggers', raw: '' },
    { topic: 'webhooks.attempts', raw: '' },
  ])
  const tables = ['alert_commands', 'alert_events', 'triggers', 'delivery_orders', 'webhook_attempts', 'ingest_errors']
  const all = await Promise.all(tables.map((table) => world.rows(`SELECT * FROM ${table}_log`)))
  expect(all.map((rows) => rows.length > 0)).toEqual(tables.map(() => true))
  for (const text of [SEALED, HOST, WALLET, KEY]) expect(JSON.stringify(all)).not.toContain(text)
})
