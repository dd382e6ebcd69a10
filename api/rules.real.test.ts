import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { dropDatabase } from '../infra/clickhouse/testing/database.ts'
import { clickhouseEnv } from '../infra/config/clickhouse.ts'
import { loadCodec, type RegistryCodec } from '../infra/kafka/codec.ts'
import { connectLog } from '../infra/kafka/kafkajs.ts'
import type { Log } from '../infra/kafka/seam.ts'
import type { Child } from '../infra/local/child.ts'
import { mark, SECOND, trade } from '../processors/cvd/testing/records.ts'
import { partitionOf } from '../schemas/catalogue.ts'
import type { Message, Trigger } from '../schemas/records.ts'
import { textOf } from './testing/alert-calls.ts'
import { assertAlerts, call, startService } from './testing/real-calls.ts'

const PARTITIONS = 2
const PATIENCE = { timeout: 40_000, interval: 50 }
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

let folder: string
let env: Record<string, string>
let log: Log
let codec: RegistryCodec
let processors: Child
let api: Child

beforeAll(async () => {
  const { brokers, registryUrl, clickhouse } = inject('parts')
  const id = randomUUID().slice(0, 8)
  folder = mkdtempSync(path.join(tmpdir(), 'api-rules-'))
  env = {
    MODE: 'live',
    NAMESPACE: `rules-${id}.`,
    PARTITIONS: String(PARTITIONS),
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    ...clickhouseEnv(clickhouse),
    CLICKHOUSE_DATABASE: `rules_${id}`,
    PROCESSORS: 'cvd,alerts',
    OPS_PORT: '0',
    API_PORT: '0',
    RATE_LIMIT_PER_SECOND: '0',
    SERVICE_SECRET: 'a-secret-of-the-tests-that-is-long-enough',
    LOG_FORMAT: 'json',
  }
  await promisify(execFile)(process.execPath, [file('../infra/prepare.ts')], { env: { ...process.env, ...env } })
  codec = await loadCodec(registryUrl)
  log = await connectLog({ brokers, namespace: env['NAMESPACE'] ?? '', clientId: 'api-rules-test' })
  ;[processors, api] = await Promise.all([
    startService({ folder, env }, 'processors', '../../processors/main.ts'),
    startService({ folder, env }, 'api', '../main.ts'),
  ])
  await vi.waitFor(() => assertAlerts(api), PATIENCE)
}, 180_000)

afterAll(async () => {
  await Promise.all([api, processors].map((child) => child?.stop()))
  await dropDatabase(inject('parts').clickhouse, env['CLICKHOUSE_DATABASE'] ?? '')
  await log?.close()
  rmSync(folder, { recursive: true, force: true })
})

async function write(...messages: readonly Message[]): Promise<void> {
  const records = messages.map(({ type, value }) => {
    return { key: 'btc', value: codec.encode('market.trades', type, value), time: Date.now() }
  })
  await log.writer().send('market.trades', partitionOf('btc', PARTITIONS), records)
}

async function triggers(): Promise<Trigger[]> {
  const found: Trigger[] = []
  const reader = log.reader()
  for (let partition = 0; partition < PARTITIONS; partition += 1)
    for await (const records of reader.toEnd('alerts.triggers', partition))
      for (const { value } of records) {
        const message = value === null ? undefined : codec.decode(value)
        if (message?.type === 'trigger') found.push(message.value)
      }
  await reader.close()
  return found
}

it('rings a rule on CVD from the trades on, and names the record that rang it', async () => {
  const webhook_url = 'https://hooks.example.com/secret-path'
  const when = { all: [{ metric: 'cvd', exchange: 'binance', operator: 'above', value: 5 }] }
  const made = await call(api, 'POST', '/alerts', { body: { symbol: 'BTC', when, note: 'end to end', webhook_url } })
  expect(made.body).toMatchObject({ status: 'active', note: 'end to end' })
  const id = textOf(made.body['alert_id'])
  const now = Date.now() * 1000 + SECOND
  await write(trade({ size: 4, time: now }), mark(now + 12 * SECOND))
  await write(trade({ size: 3, time: now + 20 * SECOND, first_id: 2 }), mark(now + 32 * SECOND))
  const [trigger] = await vi.waitFor(async () => {
    const rang = await triggers()
    expect(rang).toHaveLength(1)
    return rang
  }, PATIENCE)
  expect(trigger).toMatchObject({ alert_id: id, trigger_id: `${id}_1`, kind: 'rule' })
  expect(trigger?.condition_met).toBe('BTC: CVD on binance above 5; now CVD on binance 7')
  const record = await call(api, 'GET', `/records/${trigger?.record}`)
  expect(JSON.stringify(record.body)).toContain('"figure":"cvd","exchange":"binance","value":7')
  await vi.waitFor(async () => {
    expect((await call(api, 'GET', `/alerts/${id}`)).body).toMatchObject({ status: 'triggered', trigger_count: 1 })
  }, PATIENCE)
})
