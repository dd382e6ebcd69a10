import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Child } from '../../infra/local/child.ts'
import { mark, SECOND, trade } from '../../processors/cvd/testing/records.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { Message, Trigger } from '../../schemas/records.ts'
import { textOf } from '../testing/alert-calls.ts'
import { ownLog, PARTITIONS, type OwnLog } from '../testing/own-log.ts'
import { assertAlerts, call } from '../testing/real-calls.ts'

const PATIENCE = { timeout: 40_000, interval: 50 }
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

let own: OwnLog
let processors: Child
let api: Child

beforeAll(async () => {
  own = await ownLog('rules', 'cvd,alerts')
  ;[processors, api] = await Promise.all([own.start('processors', 'processors'), own.start('api', 'api')])
  await vi.waitFor(() => assertAlerts(api), PATIENCE)
}, 180_000)

afterAll(() => own.close(api, processors))

async function write(...messages: readonly Message[]): Promise<void> {
  const records = messages.map(({ type, value }) => {
    return { key: 'btc', value: own.codec.encode('market.trades', type, value), time: Date.now() }
  })
  await own.log.writer().send('market.trades', partitionOf('btc', PARTITIONS), records)
}

async function triggers(): Promise<Trigger[]> {
  const found: Trigger[] = []
  const reader = own.log.reader()
  for (let partition = 0; partition < PARTITIONS; partition += 1)
    for await (const records of reader.toEnd('alerts.triggers', partition))
      for (const { value } of records) {
        const message = value === null ? undefined : own.codec.decode(value)
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

it('has the rules of files, and those for all symbols ring with them', async () => {
  const rule = { name: 'everywhere', symbols: 'all', when: { metric: 'cvd', operator: 'above', value: 5 } }
  const rules = path.join(own.folder, 'rules.json')
  writeFileSync(rules, JSON.stringify({ rules: [{ ...rule, webhook_url: 'https://hooks.example.com/other-path' }] }))
  const apply = (...more: string[]): Promise<{ stdout: string }> =>
    promisify(execFile)(process.execPath, [
      file('../../scripts/alert-rules.ts'),
      'apply',
      rules,
      '--api',
      api.url,
      ...more,
    ])
  expect((await apply()).stdout).toBe('+ everywhere: it is new\n')
  expect((await apply()).stdout).toBe('= everywhere: it is the same\n')
  const now = Date.now() * 1000 + 120 * SECOND
  await write(trade({ size: 4, time: now, first_id: 3 }), mark(now + 12 * SECOND))
  const trigger = await vi.waitFor(async () => {
    const rang = (await triggers()).find(({ alert_id: id }) => id.startsWith('alert_rule_all_'))
    expect(rang).toBeDefined()
    return rang
  }, PATIENCE)
  expect(trigger).toMatchObject({ asset: 'btc', symbol: 'BTC' })
  const id = textOf(trigger?.alert_id).split('.')[0]
  await vi.waitFor(async () => {
    const { body } = await call(api, 'GET', `/alerts/${id}`)
    expect(body).toMatchObject({ symbols: 'all', trigger_count: 1, by_symbol: [{ symbol: 'BTC', trigger_count: 1 }] })
  }, PATIENCE)
  writeFileSync(rules, JSON.stringify({ rules: [] }))
  expect((await apply('--prune')).stdout).toBe('- everywhere: no file has it\n')
  expect((await call(api, 'GET', `/alerts/${id}`)).body).toMatchObject({ status: 'cancelled' })
})
