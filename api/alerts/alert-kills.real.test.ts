import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Child } from '../../infra/local/child.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { Message } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { textOf } from '../testing/alert-calls.ts'
import { ownLog, PARTITIONS, type OwnLog } from '../testing/own-log.ts'
import { assertAlerts, call, priceMessages, type Answer } from '../testing/real-calls.ts'

/** Changes of an alert around kills of who decides and of who answers. */

const PATIENCE = { timeout: 60_000, interval: 50 }

let own: OwnLog
let processors: Child
let api: Child
let started = 0

beforeAll(async () => {
  own = await ownLog('kills', 'alerts', [])
  await Promise.all([startProcessors(), startApi()])
}, 180_000)

afterAll(() => own.close(api, processors))

async function startProcessors(): Promise<void> {
  processors = await own.start(`processors-${started++}`, 'processors')
}

async function startApi(): Promise<void> {
  api = await own.start(`api-${started++}`, 'api')
  await vi.waitFor(() => assertAlerts(api), PATIENCE)
}

async function kill(child: Child): Promise<void> {
  process.kill(child.pid, 'SIGKILL')
  await child.exited
}

/** BTC costs this, as of now; resolves when it has been decided on. */
async function price(usd: number): Promise<void> {
  const records = priceMessages(usd).map(({ type, value }) => {
    return { key: 'btc', value: own.codec.encode('alerts.inputs', type, value), time: Date.now() }
  })
  await own.log.writer().send('alerts.inputs', partitionOf('btc', PARTITIONS), records)
}

async function read(topic: TopicName): Promise<Message[]> {
  const found: Message[] = []
  const reader = own.log.reader()
  for (let partition = 0; partition < PARTITIONS; partition += 1)
    for await (const records of reader.toEnd(topic, partition))
      for (const { value } of records) if (value !== null) found.push(own.codec.decode(value))
  await reader.close()
  return found
}

const rings = async (): Promise<string[]> =>
  (await read('alerts.triggers')).flatMap(({ type, value }) => (type === 'trigger' ? [value.condition_met] : []))

const above = (value: number): object => ({ when: { metric: 'price', operator: 'crosses_above', value } })

/** The change as its owner makes it: asked for again until it is answered. */
async function change(method: string, target: string, token: unknown, body?: object): Promise<Answer['body']> {
  return vi.waitFor(async () => {
    const answer = await call(api, method, target, { token, ...(body && { body }) })
    expect([answer.status, answer.body]).toEqual([200, expect.anything()])
    return answer.body
  }, PATIENCE)
}

it('keeps what was acknowledged of a PATCH, a pause and a resume, whoever is killed around them', async () => {
  const asked = { symbol: 'BTC', webhook_url: 'https://hooks.example.com/secret-path', ...above(100_000) }
  const { alert_id, manage_token: token } = (await call(api, 'POST', '/alerts', { body: asked })).body
  const target = `/alerts/${textOf(alert_id)}`
  const shown = async (): Promise<unknown> => (await call(api, 'GET', target)).body
  const steps = [
    ['PATCH', target, above(90_000), { ...above(90_000), paused: false }],
    ['POST', `${target}/pause`, undefined, { ...above(90_000), paused: true }],
    ['PATCH', target, above(80_000), { ...above(80_000), paused: true }],
    ['POST', `${target}/resume`, undefined, { ...above(80_000), paused: false }],
  ] as const
  await price(70_000)
  for (const [method, path, body, wanted] of steps) {
    // Killed while the change is on its way, and again as soon as it is acknowledged.
    const answer = change(method, path, token, body)
    await kill(processors)
    await startProcessors()
    expect(await answer).toMatchObject(wanted)
    await Promise.all([kill(processors), kill(api)])
    await Promise.all([startProcessors(), startApi()])
    expect(await shown()).toMatchObject({ status: 'active', trigger_count: 0, ...wanted })
    if (wanted.paused) {
      await price(95_000)
      await price(70_000)
    }
  }
  await vi.waitFor(async () => {
    await price(70_000)
    await price(85_000)
    expect(await shown()).toMatchObject({ trigger_count: 1 })
  }, PATIENCE)
  expect(await rings()).toEqual([expect.stringContaining('now price 85,000 USD')])
}, 180_000)
