import avro from 'avsc'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { avroType, HEADER_BYTES, schemaText } from '../../schemas/codec.ts'
import type { Message, RecordType } from '../../schemas/records.ts'
import { CoreTestDriver } from '../kernel/testing/core-test-driver.ts'
import type { Output } from '../kernel/processor.ts'
import { payloadOf } from '../webhooks/payload.ts'
import { alerts } from './alerts.ts'
import { command, latePrice, mark, newAlert, newLiquidationAlert, price, risk } from './testing/records.ts'
import type { AlertsState } from './state.ts'

/**
 * What the log, the snapshots and the webhooks hold of the two kinds of alerts of the specification, byte by byte: whoever
 * has read them once must be able to read them always. `fixtures/golden.json` is written once and never again.
 */
interface Golden {
  /** Outputs in their order: topic, key, and the record's Avro body; a registry gives its schemas the ids before it. */
  readonly outputs: readonly (readonly [topic: string, key: string, bytes: string | null])[]
  /** Snapshot parts before the restart and at the end. */
  readonly snapshots: readonly Readonly<Record<string, string | null>>[]
  /** Webhook bodies. */
  readonly payloads: readonly string[]
}

let requests = 0
const ask = (fields: Parameters<typeof command>[0]): Message =>
  command({ request_id: `golden_${requests++}`, ...fields })

const before = (): Message[] => [
  mark(0),
  ask({
    alert_id: 'level',
    alert: newAlert({ idempotency: 'k', body_hash: 'h', wallets: ['0xabc'] }),
    payment: 'paid',
  }),
  ask({ alert_id: 'below', alert: newAlert({ condition: 'below', target_price: 90.5, expires_in_hours: 1 }) }),
  ask({ alert_id: 'cross', alert: newAlert({ condition: 'crosses_above', target_price: 101 }) }),
  ask({ alert_id: 'cross-down', alert: newAlert({ condition: 'crosses_below', target_price: 99 }) }),
  ask({ alert_id: 'cascade', alert: newLiquidationAlert() }),
  ask({ alert_id: 'cascade-large', alert: newLiquidationAlert({ threshold_pct: 2.5, min_value_usd: 20_000 }) }),
  ask({ alert_id: 'wrong', alert: newAlert({ condition: 'near' }) }),
  price(1, 99.5),
  price(12, 100.25, { quality: 'degraded' }),
  price(13, 101.5, { high: 103 }),
  risk(14, 12),
  risk(15, 3, { at_risk_5_usd: 30_000 }),
  ask({ action: 'test', alert_id: 'below' }),
  ask({ action: 'test', alert_id: 'cascade' }),
  mark(20),
]

const after = (): Message[] => [
  price(21, 98),
  risk(22, 1),
  mark(80),
  price(81, 104, { low: 90, high: 105 }),
  risk(82, 30),
  ask({ action: 'extend', alert_id: 'level', add_hours: 2 }),
  ask({ action: 'cancel', alert_id: 'cascade' }),
  ask({ action: 'resend', alert_id: 'level', trigger_id: 'level_1', trigger_partition: 0, trigger_offset: 3 }),
  mark(3_601),
  price(3_700, 98),
  latePrice(3_650, 80, 120),
  mark(3_760),
]

/** Fields that came later: whoever wrote before did not know them, and who reads what was written then has their defaults. */
const later = new Set(['owner', 'delivery', 'paused_until'])

/** A schema as it was when the fixture was written. */
function typeOfThen(record: RecordType): avro.Type {
  const before = (_: string, value: unknown): unknown =>
    Array.isArray(value) ? value.filter((field) => !later.has(String(Object(field).name))) : value
  return avro.Type.forSchema(JSON.parse(schemaText(record), before) as avro.Schema)
}

/** The key of this processor's marks. */
const MARKS = 'alerts'

function writtenOf({ topic, key, message }: Output): Golden['outputs'][number] {
  return [topic, key, message === null ? null : typeOfThen(message.type).toBuffer(message.value).toString('hex')]
}

function snapshotOf(state: AlertsState): Record<string, string | null> {
  const parts = [...alerts.save(state)].map(([key, part]) => [key, part === null ? null : textOfThen(part)] as const)
  return Object.fromEntries(parts.filter(([key]) => !key.startsWith('risk|'))) // these came later
}

function textOfThen(part: Buffer): string {
  return part
    .toString()
    .replace('"bounds_from":0,', '') // this came later
    .replace(/("kind":"price",.*})}}$/, '$1,"silentSince":null}}') // and this is gone
}

function ran(): { readonly emitted: readonly Output[]; readonly snapshots: Golden['snapshots'] } {
  requests = 0
  const fed = new CoreTestDriver(alerts, 'alerts.inputs').batch(...before())
  const first = snapshotOf(fed.state)
  fed.state = loaded(first)
  fed.batch(...after())
  return {
    emitted: fed.emitted.filter(({ message }) => message?.type !== 'mark'),
    snapshots: [first, snapshotOf(fed.state)],
  }
}

function written(): Golden {
  const { emitted, snapshots } = ran()
  return {
    outputs: emitted.map(writtenOf),
    snapshots,
    payloads: emitted.flatMap(({ message }) =>
      message?.type === 'trigger' ? [payloadOf(message.value, 'live').toString()] : [],
    ),
  }
}

function loaded(snapshot: Golden['snapshots'][number]): AlertsState {
  const parts = Object.entries(snapshot).flatMap(([key, part]) =>
    part === null ? [] : [[key, Buffer.from(part)] as const],
  )
  return alerts.load(new Map(parts))
}

const fixture = JSON.parse(readFileSync(new URL('fixtures/golden.json', import.meta.url), 'utf8')) as Golden
/** The fixture was written with the ids of its time, and with marks, which are the same for all processors. */
const golden: Golden = {
  ...fixture,
  outputs: fixture.outputs
    .filter(([, key]) => key !== MARKS)
    .map(([topic, key, bytes]) => [topic, key, bytes?.slice(2 * HEADER_BYTES) ?? null]),
}

it('writes outputs, snapshots and webhooks of both kinds as ever, to the byte', () => {
  expect(written()).toEqual(golden)
})

it('reads the outputs of before', () => {
  const { emitted } = ran()
  expect(golden.outputs).toHaveLength(emitted.length)
  for (const [index, { message }] of emitted.entries()) {
    if (message === null) continue
    const now = avroType(message.type)
    const body = Buffer.from(golden.outputs[index]?.[2] ?? '', 'hex')
    expect(now.fromBuffer(body, now.createResolver(typeOfThen(message.type)))).toEqual(
      now.fromBuffer(now.toBuffer(message.value)),
    )
  }
})

it('goes on from a snapshot of before as from its own', () => {
  const [first = {}, last] = golden.snapshots
  requests = 0
  const fed = new CoreTestDriver(alerts, 'alerts.inputs').batch(...before().map(() => mark(0)))
  fed.state = loaded(first)
  fed.batch(...after())
  expect(snapshotOf(fed.state)).toEqual(last)
})
