import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { loadCodec, type RegistryCodec } from '../../../infra/kafka/codec.ts'
import { connectLog } from '../../../infra/kafka/kafkajs.ts'
import type { Log } from '../../../infra/kafka/seam.ts'
import { prepareTopics } from '../../../infra/kafka/setup.ts'
import { startChild, type Child } from '../../../infra/local/child.ts'
import { receiverPartition } from '../../../schemas/keys.ts'
import type { Attempt, Trigger } from '../../../schemas/records.ts'
import { Certificates, secrets, startReceiver, triggerFor, type Receiver } from '../test-world.ts'
import type { Given } from './channel.ts'
import { startSmtp, type SmtpStandIn } from './testing/smtp.ts'
import { answering, vendors, vendorSecrets } from './testing/vendors.ts'

/** The process on the real log, and every channel's service as its documentation says it behaves. */

const PARTITIONS = 2
const POLL = { timeout: 60_000, interval: 100 }
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const certificates = new Certificates()
const folder = mkdtempSync(path.join(tmpdir(), 'channels-'))
const logFile = path.join(folder, 'webhooks.log')
const namespace = `channels-${randomUUID().slice(0, 8)}.`
const taken = new Map<string, Buffer[]>()
const standIns: Receiver[] = []
let smtp: SmtpStandIn
let own: Receiver
let codec: RegistryCodec
let log: Log
let child: Child

beforeAll(async () => {
  const { brokers, registryUrl } = inject('parts')
  await certificates.make()
  const certificate = certificates.of('good')
  for (const [name, vendor] of Object.entries(vendors)) {
    const bodies: Buffer[] = []
    taken.set(name, bodies)
    standIns.push(await startReceiver(certificate, answering(vendor, bodies, 1))) // the first is put off
  }
  smtp = await startSmtp(certificate)
  own = await startReceiver(certificate, (_, response) => void response.writeHead(204).end())
  codec = await loadCodec(registryUrl)
  log = await connectLog({ brokers, namespace, clientId: 'channels-test' })
  await prepareTopics({
    brokers,
    namespace,
    log,
    codec,
    partitions: PARTITIONS,
    replicationFactor: 1,
    retentionBytes: 1e9,
  })
  child = await startChild({
    name: 'webhooks',
    command: [process.execPath, main],
    env: {
      MODE: 'demo',
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      NAMESPACE: namespace,
      PARTITIONS: String(PARTITIONS),
      SERVICE_SECRET: secrets.byVersion.get(1) ?? '',
      WEBHOOK_CA_FILE: certificates.caFile,
      CHANNEL_BASES: Object.keys(vendors)
        .map((name, index) => `${name}=${standIns[index]?.url ?? ''}`)
        .join(','),
      SMTP_URL: smtp.url.href,
      SMTP_FROM: 'Market data alerts <alerts@example.com>',
      LOG_LEVEL: 'debug',
      OPS_PORT: '0',
    },
    logFile,
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 12_000,
  })
})

afterAll(async () => {
  await child?.stop()
  await Promise.all([...standIns, own].map((receiver) => receiver?.close()))
  await smtp?.close()
  await log?.close()
  certificates.remove()
  rmSync(folder, { recursive: true, force: true })
})

async function ring(triggers: readonly Trigger[]): Promise<void> {
  const writer = log.writer()
  for (const trigger of triggers) {
    const value = codec.encode('alerts.triggers', 'trigger', trigger)
    const partition = receiverPartition(trigger.receiver, PARTITIONS)
    await writer.send('alerts.triggers', partition, [{ key: trigger.trigger_id, value, time: Date.now() }])
  }
  await writer.close()
}

/** All that a topic holds, as bytes. */
async function bytesOf(topic: 'webhooks.attempts' | 'webhooks.pending' | 'alerts.triggers'): Promise<Buffer[]> {
  const found: Buffer[] = []
  const reader = log.reader()
  for (let partition = 0; partition < PARTITIONS; partition++)
    for await (const records of reader.toEnd(topic, partition))
      found.push(...records.flatMap(({ value }) => (value === null ? [] : [value])))
  await reader.close()
  return found
}

async function attempts(): Promise<Attempt[]> {
  return (await bytesOf('webhooks.attempts')).flatMap((value) => {
    const message = codec.decode(value)
    return message?.type === 'attempt' ? [message.value] : []
  })
}

function numbered(given: Given, n: number): Trigger {
  const alert = `alert_btc_1786060800_${n}`
  return triggerFor(given, { alert_id: alert, trigger_id: `${alert}_1`, time: Date.now() * 1_000 })
}

it('tells every channel once it takes it, ends what is dead, and names no secret', async () => {
  const good: Given[] = [
    ...Object.values(vendors).map(({ given }) => given),
    { type: 'email', to: 'me@example.com' },
    { type: 'template', url: own.url, body: '{"said": "{{text}}", "price": {{current_price}}}' },
  ]
  const dead: Given[] = [
    ...Object.values(vendors).map((vendor) => vendor.dead),
    { type: 'email', to: 'gone@example.com' },
  ]
  const alive = good.map((given, n) => numbered(given, n + 1))
  const ended = dead.map((given, n) => numbered(given, n + 101))
  await ring([...alive, ...ended])
  const ends = async (outcome: Attempt['outcome']): Promise<Set<string>> =>
    new Set((await attempts()).flatMap((one) => (one.outcome === outcome ? [one.trigger_id] : [])))
  await expect.poll(() => ends('delivered'), POLL).toEqual(new Set(alive.map(({ trigger_id }) => trigger_id)))
  await expect.poll(() => ends('cancelled'), POLL).toEqual(new Set(ended.map(({ trigger_id }) => trigger_id)))
  const journal = await attempts()
  const putOff = journal.filter(({ outcome }) => outcome === 'retry')
  expect(putOff.map(({ status }) => status)).toEqual(putOff.map(() => 429))
  expect(putOff.length).toBe(Object.keys(vendors).length)
  expect(journal.filter(({ outcome }) => outcome === 'cancelled').every(({ error }) => error === 'gone')).toBe(true)
  expect([...taken.values()].map((bodies) => bodies.length)).toEqual(Object.keys(vendors).map(() => 1))
  expect(smtp.taken.map(({ to }) => to)).toEqual(['me@example.com'])
  expect(JSON.parse(own.got[0]?.body.toString() ?? '')).toEqual({
    said: 'BTC rose above 70000 USD: it is 70001.5 USD',
    price: 70_001.5,
  })
  const metrics = await (await fetch(`${child.url}/metrics`)).text()
  const topics = ['webhooks.attempts', 'webhooks.pending', 'alerts.triggers'] as const
  const written = (await Promise.all(topics.map(bytesOf))).flat()
  const seen = [metrics, readFileSync(logFile, 'utf8'), ...written.map(String)].join('\n')
  for (const secret of [...vendorSecrets, 'smtp-secret', 'me@example.com', own.url]) expect(seen).not.toContain(secret)
  console.log(
    `${alive.length} channels told, ${putOff.length} of them after a 429, ${ended.length} dead ends in the journal`,
  )
})
