import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Caller, type Answer } from '../../../processors/webhooks/agent.ts'
import { signatureHeaders, signingKeys } from '../../../processors/webhooks/signature.ts'
import { vectors } from '../../../processors/webhooks/testing/vectors.ts'
import { asPages, guarded } from '../../http/testing/pages.ts'
import { receiverCertificate, type ReceiverCertificate } from './certificate.ts'
import { readManner, type Manner } from './misbehave.ts'
import {
  readLedger,
  startLocalReceiver,
  type Entry,
  type LocalReceiver,
  verify,
  checkedWords,
  eventWords,
} from './receiver.ts'

const SECRET = 'whsec_Z29sZGVuLXZlY3Rvci1vZi10aGUtd2ViaG9va3MhISE='
const folder = mkdtempSync(path.join(tmpdir(), 'receiver-'))
const ledger = path.join(folder, 'ledger.jsonl')
let certificate: ReceiverCertificate
let caller: Caller
let running: LocalReceiver | undefined
const events: Entry[] = []
const checked: Entry[] = []

beforeAll(async () => {
  certificate = await receiverCertificate(folder, new Date())
  caller = new Caller(certificate.caPem)
})

afterEach(async () => {
  await running?.close()
  events.length = 0
  checked.length = 0
})

afterAll(() => {
  caller.close()
  rmSync(folder, { recursive: true, force: true })
})

async function start(manner: Manner = 'ok', secrets: readonly string[] = []): Promise<string> {
  const given = { ...certificate, host: '127.0.0.1', port: 0, secrets, manner, ledger, now: () => new Date() }
  running = await startLocalReceiver({
    ...given,
    onEvent: (entry) => events.push(entry),
    onChecked: (entry) => checked.push(entry),
  })
  return running.url
}

function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { signal } = new AbortController()
  const onSent = (): void => undefined
  return caller.post({
    url: new URL(url),
    address: '127.0.0.1',
    headers,
    body: Buffer.from(body),
    signal,
    onSent,
  })
}

function deliver(url: string, id: string, secret = SECRET): Promise<Answer> {
  const body = JSON.stringify({ event: 'price_alert', alert_id: 'alert_btc_1_1', symbol: 'BTC', data: {} })
  const at = Date.now() * 1_000
  return post(url, body, signatureHeaders({ keys: signingKeys(secret), triggerId: id, body: Buffer.from(body), at }))
}

describe('the local receiver', () => {
  it('checks what came before its secret as soon as it is told, once', async () => {
    const url = await start()
    await deliver(url, 'early')
    await deliver(url, 'forged', 'whsec_b3RoZXI=')
    expect(events.map(({ verdict }) => verdict)).toEqual(['unknown-secret', 'unknown-secret'])
    const told = (alert: string): string => JSON.stringify({ alert_id: alert, webhook_secret: SECRET })
    await post(`${url}/secrets`, told('alert_btc_1_2'))
    expect(checked).toEqual([])
    for (const _ of [1, 2]) await post(`${url}/secrets`, told('alert_btc_1_1'))
    expect(checked.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['early', 'verified'],
      ['forged', 'wrong'],
    ])
    expect(checked.map(checkedWords)[0]).toBe('Its secret came: both signatures verified; webhook-id early')
  })

  it('verifies what it has a secret for, told at its start or later', async () => {
    const url = await start()
    await deliver(url, 'a')
    const told = JSON.stringify({ alert_id: 'alert_btc_1_1', webhook_secret: SECRET, status: 'active' })
    expect(await post(`${url}/secrets`, told)).toMatchObject({ status: 200 })
    await deliver(url, 'b')
    await deliver(url, 'c', 'whsec_b3RoZXI=')
    expect(events.map(({ verdict }) => verdict)).toEqual(['unknown-secret', 'verified', 'wrong'])
  })

  it('keeps a ledger that goes on after a restart', async () => {
    await deliver(await start('ok', [SECRET]), 'once')
    await running?.close()
    await deliver(await start('ok', [SECRET]), 'once')
    const entries = readLedger(ledger).filter(({ id }) => id === 'once')
    expect(entries).toMatchObject([
      { alert_id: 'alert_btc_1_1', verdict: 'verified', attempt: 1 },
      { alert_id: 'alert_btc_1_1', verdict: 'verified', attempt: 2 },
    ])
  })

  it('misbehaves as it is told', async () => {
    const url = await start(429)
    expect(await deliver(url, 'd')).toMatchObject({ status: 429, retryAfter: '7' })
    expect(await post(`${url}/misbehave`, '{"manner":"410"}')).toMatchObject({ status: 200 })
    expect(await deliver(url, 'e')).toMatchObject({ status: 410 })
    await post(`${url}/misbehave`, '{"manner":"endless"}')
    expect(await deliver(url, 'f')).toMatchObject({ status: 200, body: 'cut' })
    await post(`${url}/misbehave`, '{"manner":"reset"}')
    await expect(deliver(url, 'g')).rejects.toMatchObject({ code: 'ECONNRESET' })
    await post(`${url}/misbehave`, '{"manner":"half"}')
    expect(await deliver(url, 'h')).toMatchObject({ status: 200, body: { error: { code: 'ECONNRESET' } } })
  })

  it('is flaky: refuses some at their first attempt, never at a later one, and its ledger says which', async () => {
    const url = await start('flaky')
    const ids = Array.from({ length: 20 }, (_, index) => `flaky-${index}`)
    const firsts = await Promise.all(ids.map(async (id) => (await deliver(url, id)).status))
    const refused = firsts.filter((status) => status === 500).length
    expect(refused).toBeGreaterThan(0)
    expect(firsts.filter((status) => status === 204)).toHaveLength(ids.length - refused)
    for (const id of ids) expect(await deliver(url, id)).toMatchObject({ status: 204 })
    const entries = readLedger(ledger).filter(({ id }) => id.startsWith('flaky-'))
    expect(entries.filter(({ manner, attempt }) => manner === 500 && attempt === 1)).toHaveLength(refused)
    expect(entries.filter(({ manner }) => manner === 'ok')).toHaveLength(2 * ids.length - refused)
  })

  it.each([
    ['/misbehave', '{"manner":"nicely"}'],
    ['/secrets', '{"alert_id":"x"}'],
    ['/secrets', 'nothing'],
  ])('does not understand at %s: %s', async (at, body) => {
    expect(await post(`${await start()}${at}`, body)).toMatchObject({ status: 400 })
  })
})

it.each(vectors)('verifies the golden vector $id', ({ secret, id, timestamp, body, standard, svc }) => {
  const headers = {
    'x-svc-signature': svc,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,other ${standard}`,
  }
  expect(verify(headers, Buffer.from(body), [secret], timestamp + 10)).toBe('verified')
  expect(verify(headers, Buffer.from(body), [secret], timestamp + 301)).toBe('stale')
  expect(verify(headers, Buffer.from(`${body} `), [secret], timestamp)).toBe('wrong')
  expect(new Webhook(secret).sign(id, new Date(timestamp * 1_000), body)).toBe(standard)
})

it('takes nothing from a web page of another site', async () => {
  const url = await start()
  for (const path of ['/', 'secrets', 'misbehave'])
    expect(await asPages(new URL(path, url).href, '{"manner":"500"}')).toEqual(guarded)
  expect(events).toEqual([])
})

it('knows its manners', () => {
  expect(['ok', '503', 'slow', '99', 'nicely'].map(readManner)).toEqual(['ok', 503, 'slow', undefined, undefined])
})

it('says what came as a person reads it', () => {
  const entry: Entry = {
    id: 'alert_btc_1_1_1',
    time: '2026-01-02T03:04:05.000Z',
    alert_id: 'alert_btc_1_1',
    verdict: 'verified',
    attempt: 2,
    manner: 500,
    began: 0,
    headers: {},
    body: 'plain',
  }
  const body = { event: 'price_alert', symbol: 'BTC', demo: true, data: { condition_met: 'BTC rose' } }
  const lines = eventWords({ ...entry, body: JSON.stringify(body) }).split('\n')
  expect(lines.slice(0, 4)).toEqual([
    '2026-01-02T03:04:05.000Z  price_alert BTC demo again, 2.',
    '  BTC rose',
    '  both signatures verified; webhook-id alert_btc_1_1_1',
    '  answered with: 500',
  ])
  expect(eventWords(entry)).toContain('not JSON')
})
