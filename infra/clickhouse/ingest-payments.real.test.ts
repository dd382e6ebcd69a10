import { afterAll, beforeAll, expect, it } from 'vitest'
import { paymentId } from '../../schemas/keys.ts'
import { emptyFields } from '../../schemas/codec.ts'
import type { PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import { createWorld, iso, T, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('paid')
})
afterAll(() => world.end())

const PARTITION = 0
const ASSET = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'
const PAYER = '0x1111111111111111111111111111111111111111'
const SIGNATURE = `0x${'5a'.repeat(65)}`
const RAW = '0x02f8b1deadbeef'
const FINGERPRINT = 'what-the-request-was'
const idOf = (n: number): string => paymentId(84_532, ASSET, PAYER, `0x${String(n).padStart(64, '0')}`)
const seconds = (time: number): string => new Date(time * 1_000).toISOString().replace(/\.000Z$/, 'Z')

const intent: PaymentIntent = {
  payment_id: idOf(1),
  request_id: 'req_1',
  method: 'GET',
  route: '/cvd/:symbol',
  fingerprint: FINGERPRINT,
  price: '20000',
  version: 2,
  chain_id: 84_532,
  asset: ASSET,
  pay_to: '0x2222222222222222222222222222222222222222',
  from: PAYER,
  value: '20000',
  valid_after: 0,
  valid_before: 1_723_161_556,
  nonce: `0x${'1'.padStart(64, '0')}`,
  signature: SIGNATURE,
  created: T,
  purchase: null,
  credit: null,
}
const event: PaymentEvent = {
  ...emptyFields('payment_event'),
  payment_id: idOf(1),
  event: 'broadcast',
  request_id: 'req_1',
  method: 'GET',
  route: '/cvd/:symbol',
  fingerprint: FINGERPRINT,
  payer: PAYER,
  amount: '20000',
  tx: '0xaa',
  by: 'us',
  valid_before: 1_723_161_556,
  raw: RAW,
  time: T + 10,
  v: 7,
  stood: {},
}
const settled: PaymentEvent = { ...event, event: 'settled', block: 12, raw: null, time: T + 20 }

const append = (...events: Partial<PaymentEvent>[]): Promise<number> =>
  world.append(
    'payments.events',
    events.map((change) => world.codec.encode('payments.events', 'payment_event', { ...event, ...change })),
    PARTITION,
  )

it('tells which payments were brought, once however often the log says it', async () => {
  const encoded = world.codec.encode('payments.intents', 'payment_intent', intent)
  await world.append('payments.intents', [encoded, encoded], PARTITION)
  await world.soon('SELECT * EXCEPT (partition, offset) FROM payment_intents', [
    {
      payment_id: idOf(1),
      request_id: 'req_1',
      method: 'GET',
      route: '/cvd/:symbol',
      price_usd: 0.02,
      version: 2,
      chain_id: 84_532,
      asset: ASSET,
      pay_to: intent.pay_to,
      payer: PAYER,
      amount_usd: 0.02,
      valid_after: seconds(0),
      valid_before: seconds(intent.valid_before),
      created: iso(T),
    },
  ])
})

it('gives a payment as it stands, settled for good, with the requests that tried to use it too', async () => {
  await append(
    {},
    { event: 'pending', reason: 'settlement_pending', raw: null, time: T + 15 },
    settled,
    settled,
    { event: 'conflict', request_id: 'req_2', route: '/price/:symbol', tx: null, raw: null, time: T + 30, v: 8 },
    { payment_id: idOf(2), event: 'failed', tx: null, raw: null, reason: 'insufficient_funds', v: 9 },
    { payment_id: idOf(3), tx: '0xbb', v: 10 },
  )
  const rows = { chain_id: 84_532, asset: ASSET, payer: PAYER, method: 'GET', route: '/cvd/:symbol', amount_usd: 0.02 }
  const common = { ...rows, request_id: 'req_1', submitted_by: 'us', begun: iso(T + 10) }
  const done = { tx: '0xaa', block: 12, reason: null, time: iso(T + 20), conflicts: 1 }
  const failed = { tx: null, block: null, reason: 'insufficient_funds', time: iso(T + 10), conflicts: 0 }
  const open = { tx: '0xbb', block: null, reason: null, time: iso(T + 10), conflicts: 0 }
  await world.soon('SELECT * FROM payments ORDER BY payment_id', [
    { ...common, ...done, payment_id: idOf(1), state: 'settled' },
    { ...common, ...failed, payment_id: idOf(2), state: 'failed' },
    { ...common, ...open, payment_id: idOf(3), state: 'broadcast' },
  ])
  const steps = await world.rows(`SELECT event FROM payment_events WHERE payment_id = '${idOf(1)}' ORDER BY offset`)
  expect(steps.map((row) => row['event'])).toEqual(['broadcast', 'pending', 'settled', 'conflict'])
})

it('counts each settled payment once into its route’s revenue of the day', async () => {
  const DAY = 86_400_000_000
  const other = { ...settled, route: '/price/:symbol', amount: '5000' }
  await append(
    { ...settled, payment_id: idOf(4), v: 11 },
    { ...other, payment_id: idOf(5), v: 12 },
    { ...other, payment_id: idOf(6), payer: '0x3333333333333333333333333333333333333333', v: 13 },
    { ...settled, payment_id: idOf(7), time: T + DAY, v: 14 },
    { ...settled, payment_id: idOf(7), time: T + DAY, v: 14 },
  )
  const common = { chain_id: 84_532, asset: ASSET, method: 'GET' }
  await world.soon('SELECT * FROM revenue ORDER BY day, route', [
    { ...common, day: '2024-08-08', route: '/cvd/:symbol', payments: 2, payers: 1, usd: 0.04 },
    { ...common, day: '2024-08-08', route: '/price/:symbol', payments: 2, payers: 2, usd: 0.01 },
    { ...common, day: '2024-08-09', route: '/cvd/:symbol', payments: 1, payers: 1, usd: 0.02 },
  ])
})

it('holds no signature anywhere, not even of a record that cannot be read', async () => {
  const broken = world.codec.encode('payments.intents', 'payment_intent', intent)
  await world.append('payments.intents', [broken.subarray(0, broken.length - 8)], PARTITION)
  await world.soon('SELECT topic, raw FROM ingest_errors', [{ topic: 'payments.intents', raw: '' }])
  const tables = ['payment_intents', 'payment_events', 'ingest_errors']
  const all = await Promise.all(tables.map((table) => world.rows(`SELECT * FROM ${table}_log`)))
  expect(all.map((rows) => rows.length > 0)).toEqual(tables.map(() => true))
  for (const text of [SIGNATURE.slice(2), RAW, FINGERPRINT]) expect(JSON.stringify(all)).not.toContain(text)
})
