import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { connectClickhouse } from '../../infra/clickhouse/client.ts'
import type { Child } from '../../infra/local/child.ts'
import { emailCode } from '../../processors/alerts/secrets.ts'
import type { Given } from '../../processors/webhooks/channels/channel.ts'
import { startSmtp, type SmtpStandIn } from '../../processors/webhooks/channels/testing/smtp.ts'
import { answering, vendors, vendorSecrets } from '../../processors/webhooks/channels/testing/vendors.ts'
import { Certificates, startReceiver, type Receiver } from '../../processors/webhooks/testing/world.ts'
import { topics } from '../../schemas/topics.ts'
import { textOf } from '../testing/alert-calls.ts'
import { assertAlerts, call, priceAlert, startService } from '../testing/real-calls.ts'
import { surroundings, type Surroundings } from '../testing/surroundings.ts'

/** Channels from the request that makes an alert to the service that is told, which behaves as its documentation says. */

const PARTITIONS = 2
const PATIENCE = { timeout: 60_000, interval: 200 }
const SECRET = 'a-secret-of-the-tests-that-is-long-enough'
const secrets = { newest: 1, byVersion: new Map([[1, SECRET]]) }
const certificates = new Certificates()
const folder = mkdtempSync(path.join(tmpdir(), 'channels-'))
let surrounding: Surroundings
const taken = new Map<string, Buffer[]>()
const standIns: Receiver[] = []
let smtp: SmtpStandIn
let own: Receiver
let children: Child[] = []
let api: Child

beforeAll(async () => {
  await certificates.make()
  const certificate = certificates.of('good')
  for (const [name, vendor] of Object.entries(vendors)) {
    const bodies: Buffer[] = []
    taken.set(name, bodies)
    standIns.push(await startReceiver(certificate, answering(vendor, bodies, 1))) // the first is put off
  }
  smtp = await startSmtp(certificate)
  own = await startReceiver(certificate, (_, response) => void response.writeHead(204).end())
  const settings = {
    PROCESSORS: 'alerts',
    SERVICE_SECRET: SECRET,
    WEBHOOK_CA_FILE: certificates.caFile,
    CHANNEL_BASES: Object.keys(vendors)
      .map((name, index) => `${name}=${standIns[index]?.url ?? ''}`)
      .join(','),
    SMTP_URL: smtp.url.href,
    SMTP_FROM: 'Market data alerts <alerts@example.com>',
    LOG_LEVEL: 'debug',
  }
  surrounding = await surroundings(inject('parts'), { name: 'channels', partitions: PARTITIONS, settings })
  const { env } = surrounding
  children = await Promise.all([
    startService({ folder, env }, 'api', '../main.ts'),
    startService({ folder, env }, 'processors', '../../processors/main.ts'),
    startService({ folder, env }, 'webhooks', '../../processors/webhooks/main.ts'),
  ])
  const [first] = children
  if (first === undefined) throw new Error('the API is the first of them')
  api = first
  await vi.waitFor(() => assertAlerts(api), PATIENCE)
}, 180_000)

afterAll(async () => {
  await Promise.all(children.map((child) => child.stop()))
  await Promise.all([...standIns, own].map((receiver) => receiver?.close()))
  await smtp?.close()
  await surrounding.close()
  certificates.remove()
  rmSync(folder, { recursive: true, force: true })
})

const answers: string[] = []

/** The code that comes to a mailbox that is asked for; none comes to one that is not there, so its own is worked out. */
async function mailedCode(to: string): Promise<string> {
  const { status } = await call(api, 'POST', '/email-codes', { body: { to } })
  const mailed = smtp.taken.find((mail) => mail.to === to)?.data
  expect([status, mailed === undefined]).toEqual(to.startsWith('gone@') ? [400, true] : [200, false])
  return /\b(?:[0-9a-f]{4}-){3}[0-9a-f]{4}\b/.exec(mailed ?? '')?.[0] ?? emailCode(secrets, 1, to)
}

/** Makes an alert that tells a channel, sends it a test, and gives how its delivery ended. */
async function tell(channel: Given): Promise<{ shown: unknown; outcome: unknown; error: unknown; attempts: number }> {
  const made = await call(api, 'POST', '/price-alert', { body: priceAlert({ webhook_url: undefined, channel }) })
  expect(made.status).toBe(201)
  const { alert_id, manage_token: token } = made.body
  const target = `/price-alert/${textOf(alert_id)}`
  expect((await call(api, 'POST', `${target}/test`, { token })).status).toBe(200)
  const ended = await vi.waitFor(async () => {
    const page = await call(api, 'GET', `${target}/deliveries`, { token })
    const [last, ...before] = page.body['deliveries'] as Record<string, unknown>[]
    expect(last?.['outcome']).toMatch(/delivered|cancelled|exhausted/)
    return { outcome: last?.['outcome'], error: last?.['error'], attempts: before.length + 1, page }
  }, PATIENCE)
  const seen = await call(api, 'GET', target)
  answers.push(JSON.stringify([made.body, seen.body, ended.page.body]))
  const { outcome, error, attempts } = ended
  return { shown: seen.body['channel'], outcome, error, attempts }
}

/** All rows of all tables, as text. */
async function rowsOfAll(): Promise<string[]> {
  const { database } = surrounding
  const server = connectClickhouse({ ...inject('parts').clickhouse, database })
  const named = `SELECT name FROM system.tables WHERE database = '${database}' AND engine LIKE '%MergeTree'`
  const tables = await server.rows(named)
  const found: string[] = []
  for (const { name } of tables as { name: string }[])
    found.push(JSON.stringify(await server.rows(`SELECT * FROM ${name}`)))
  await server.close()
  return found
}

/** All records of all topics, as bytes. */
async function bytesOfAll(): Promise<string[]> {
  const reader = surrounding.log.reader()
  const found: string[] = []
  for (const { name, partitions } of topics)
    for (let partition = 0; partition < (partitions === 'one' ? 1 : PARTITIONS); partition += 1)
      for await (const records of reader.toEnd(name, partition))
        found.push(...records.map(({ value }) => String(value)))
  await reader.close()
  return found
}

it('every channel is told, what is dead ends, and nothing secret is in answers, logs, tables or the log', async () => {
  const mailTo = async (to: string): Promise<Given> => ({ type: 'email', to, code: await mailedCode(to) })
  const good: Given[] = [
    ...Object.values(vendors).map(({ given }) => given),
    await mailTo('me@example.com'),
    { type: 'template', url: own.url, body: '{"said": "{{title}}", "price": {{current_price}}}' },
  ]
  const told = await Promise.all(good.map(tell))
  expect(told.map(({ outcome }) => outcome)).toEqual(good.map(() => 'delivered'))
  expect(told.map(({ attempts }) => attempts)).toEqual([2, 2, 2, 2, 2, 1, 1]) // those of vendors after a 429
  expect(told.map(({ shown }) => Object(shown)['type'] as unknown)).toEqual(good.map(({ type }) => type))
  const dead = [...Object.values(vendors).map((vendor) => vendor.dead), await mailTo('gone@example.com')]
  const ended = await Promise.all(dead.map(tell))
  expect(ended.map(({ outcome, error }) => [outcome, error])).toEqual(dead.map(() => ['cancelled', 'gone']))
  expect([...taken.values()].map((bodies) => bodies.length)).toEqual(Object.keys(vendors).map(() => 1))
  expect(smtp.taken.map(({ to }) => to)).toEqual(['me@example.com', 'me@example.com']) // its code, and the test
  expect(JSON.parse(own.got[0]?.body.toString() ?? '')).toMatchObject({ said: 'Test: Demo: BTC price alert' })
  const logs = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'))
  const metrics = await Promise.all(children.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()))
  const rows = await rowsOfAll()
  const seen = [...answers, ...logs, ...metrics, ...rows, ...(await bytesOfAll())].join('\n')
  const code = emailCode(secrets, 1, 'me@example.com')
  for (const secret of [...vendorSecrets, 'smtp-secret', 'me@example.com', code, own.url])
    expect(seen).not.toContain(secret)
  console.log(
    `${told.length} channels told, ${ended.length} dead ends; looked for secrets in ${seen.length} characters, ${rows.length} tables`,
  )
})
