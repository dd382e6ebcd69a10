import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from 'vitest'
import { type RegistryCodec } from '../../infra/kafka/codec.ts'
import { ownTopics, type OwnTopics } from '../../infra/kafka/testing/topics.ts'
import type { Log } from '../../infra/kafka/seam.ts'
import { startChild, type Child } from '../../infra/local/child.ts'
import { receiverPartition } from '../../schemas/keys.ts'
import type { Attempt, Trigger } from '../../schemas/records.ts'
import { webhookSecret } from '../alerts/secrets.ts'
import {
  Certificates,
  secrets,
  startReceiver,
  status,
  stopOrder,
  triggerFor,
  triggerTo,
  type Answering,
  type Receiver,
} from './testing/world.ts'

const PARTITIONS = 2
const POLL = { timeout: 40_000, interval: 50 }
const main = fileURLToPath(new URL('main.ts', import.meta.url))
const certificates = new Certificates()

let own: OwnTopics
let folder: string
let codec: RegistryCodec
let log: Log
let hosts: Child[]
let receivers: Receiver[]

beforeAll(() => certificates.make())
afterAll(() => certificates.remove())

beforeEach(async () => {
  own = await ownTopics(inject('parts'), 'webhooks', PARTITIONS)
  ;({ log, codec } = own)
  folder = mkdtempSync(path.join(tmpdir(), 'webhooks-'))
  hosts = []
  receivers = []
})

afterEach(async () => {
  await Promise.all(hosts.map((host) => host.stop()))
  await Promise.all(receivers.map((each) => each.close()))
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

async function host(env: Readonly<Record<string, string>> = {}): Promise<Child> {
  const started = await startChild({
    name: 'webhooks',
    command: [process.execPath, main],
    env: {
      ...own.env,
      SERVICE_SECRET: secrets.byVersion.get(1) ?? '',
      WEBHOOK_CA_FILE: certificates.caFile,
      ...env,
    },
    logFile: path.join(folder, `webhooks-${hosts.length}.log`),
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 12_000,
  })
  hosts.push(started)
  return started
}

async function receiver(answer: Answering): Promise<Receiver> {
  const started = await startReceiver(certificates.of('good'), answer)
  receivers.push(started)
  return started
}

function numbered(n: number, { url }: Receiver): Trigger {
  const alert = `alert_btc_1786060800_${n}`
  return triggerTo(url, { alert_id: alert, trigger_id: `${alert}_1`, time: Date.now() * 1_000 })
}

async function ring(...triggers: readonly Trigger[]): Promise<void> {
  const writer = log.writer()
  await Promise.all(
    triggers.map((trigger) => {
      const value = codec.encode('alerts.triggers', 'trigger', trigger)
      const records = [{ key: trigger.trigger_id, value, time: Date.now() }]
      return writer.send('alerts.triggers', receiverPartition(trigger.receiver, PARTITIONS), records)
    }),
  )
  await writer.close()
}

async function attempts(): Promise<Attempt[]> {
  const found: Attempt[] = []
  const reader = log.reader()
  for (let partition = 0; partition < PARTITIONS; partition++) {
    for await (const records of reader.toEnd('webhooks.attempts', partition)) {
      for (const { value } of records) {
        const message = value === null ? undefined : codec.decode(value)
        if (message?.type === 'attempt') found.push(message.value)
      }
    }
  }
  await reader.close()
  return found
}

async function outcomes(outcome: Attempt['outcome']): Promise<Set<string>> {
  return new Set((await attempts()).flatMap((each) => (each.outcome === outcome ? [each.trigger_id] : [])))
}

async function metric(child: Child, name: string): Promise<number> {
  const text = await (await fetch(`${child.url}/metrics`)).text()
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  )
}

it('delivers what is in the log, signed and marked as a demo, and says how it is', async () => {
  const good = await receiver(status(204))
  const child = await host()
  const all = Array.from({ length: 100 }, (_, n) => numbered(n, good))
  await ring(...all)
  await expect.poll(async () => (await outcomes('delivered')).size, POLL).toBe(100)
  expect(new Set(good.got.map(({ id }) => id))).toEqual(new Set(all.map(({ trigger_id }) => trigger_id)))
  const [first] = good.got
  const alert = first?.id.replace(/_1$/, '') ?? ''
  const verified = new Webhook(webhookSecret(secrets, 1, alert)).verify(first?.body ?? '', first?.headers ?? {})
  expect(verified).toMatchObject({ event: 'price_alert', alert_id: alert, demo: true, data: { triggered: true } })
  expect(await (await fetch(`${child.url}/healthz`)).json()).toMatchObject({ ok: true, open: 0 })
  expect(await metric(child, 'mda_webhook_oldest_undelivered_seconds')).toBe(0)
  expect(await metric(child, 'mda_webhook_first_byte_seconds_count')).toBe(100)
})

it('loses nothing over kill -9, and repeats only under an equal id', async () => {
  const good = await receiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 30))
  const first = await host()
  const all = Array.from({ length: 600 }, (_, n) => numbered(n, good))
  await ring(...all.slice(0, 400))
  await expect.poll(() => good.got.length, POLL).toBeGreaterThan(100)
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  await ring(...all.slice(400))
  const second = await host()
  await expect.poll(() => good.got.length, POLL).toBeGreaterThan(300)
  await second.stop()
  await host()
  await expect.poll(async () => (await outcomes('delivered')).size, POLL).toBe(600)
  const bodies = new Map<string, Set<string>>()
  for (const { id, body } of good.got) bodies.set(id, (bodies.get(id) ?? new Set()).add(body.toString()))
  expect([...bodies.keys()].sort()).toEqual(all.map(({ trigger_id }) => trigger_id).sort())
  expect([...bodies.values()].every(({ size }) => size === 1)).toBe(true)
  console.log(`600 triggers, one kill -9, one restart: ${good.got.length - 600} repeated, 0 lost`)
})

it('knows after a restart what is to be tried again, and what was cancelled', async () => {
  let code = 500
  const other = await receiver((request, response, got) => status(code)(request, response, got))
  const child = await host()
  const [kept, cancelled] = [numbered(1, other), numbered(2, other)]
  await ring(kept, cancelled)
  await expect.poll(async () => (await outcomes('retry')).size, POLL).toBe(2)
  const age = await metric(child, 'mda_webhook_oldest_undelivered_seconds')
  expect(age).toBeGreaterThan(0)
  process.kill(child.pid, 'SIGKILL')
  await child.exited
  const toldBefore = other.got.filter(({ id }) => id === cancelled.trigger_id).length
  code = 204
  const writer = log.writer()
  const stop = codec.encode('alerts.triggers', 'delivery_order', stopOrder(cancelled.alert_id))
  const partition = receiverPartition(cancelled.receiver, PARTITIONS)
  await writer.send('alerts.triggers', partition, [{ key: cancelled.alert_id, value: stop, time: Date.now() }])
  await writer.close()
  await host()
  await expect.poll(() => outcomes('delivered'), POLL).toEqual(new Set([kept.trigger_id]))
  await expect.poll(() => outcomes('cancelled'), POLL).toEqual(new Set([cancelled.trigger_id]))
  expect(other.got.filter(({ id }) => id === cancelled.trigger_id)).toHaveLength(toldBefore)
})

it('leaves a chat alone over kill -9 as long as it has asked for, whatever else rings there', async () => {
  const [asked, webhook] = [6, 'https://hooks.slack.com/services/T000/B000/XXXX']
  let isLimited = true
  const chat = await receiver((request, response, got) => {
    const answer = isLimited ? status(429, { 'retry-after': String(asked) }) : status(200)
    isLimited = false
    answer(request, response, got)
  })
  const env = { CHANNEL_BASES: `slack=${chat.url}` }
  const toChat = (n: number): Trigger =>
    triggerFor({ type: 'slack', url: webhook }, { alert_id: `alert_${n}`, time: Date.now() * 1_000 })
  const first = await host(env)
  await ring(toChat(1))
  await expect.poll(() => outcomes('retry'), POLL).toEqual(new Set(['alert_1_1']))
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  await ring(toChat(2), toChat(3))
  await host(env)
  await expect.poll(async () => (await outcomes('delivered')).size, POLL).toBe(3)
  const [limited = 0, ...told] = chat.got.map(({ at }) => at)
  expect(told).toHaveLength(3)
  expect(Math.min(...told) - limited).toBeGreaterThanOrEqual(asked * 1_000)
})

it('lets a second owner of a partition take over from a first that does not know', async () => {
  const good = await receiver(status(204))
  await host()
  await ring(numbered(1, good))
  await expect.poll(async () => (await outcomes('delivered')).size, POLL).toBe(1)
  await host()
  await ring(...Array.from({ length: 50 }, (_, n) => numbered(n + 2, good)))
  await expect.poll(async () => (await outcomes('delivered')).size, POLL).toBe(51)
  expect(new Set(good.got.map(({ id }) => id))).toEqual(await outcomes('delivered'))
})
