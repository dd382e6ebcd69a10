import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { receiverCaFile } from '../../../infra/local/receiver/certificate.ts'
import { writeRunFile } from '../../../infra/local/run-file.ts'
import { digestPayload, payloadOf } from '../../../processors/webhooks/payload.ts'
import { signatureHeaders, signingKeys } from '../../../processors/webhooks/signature.ts'
import { triggerTo } from '../../../processors/webhooks/testing/world.ts'
import type { Trigger } from '../../../schemas/records.ts'
import { startReceiver, type Receiver } from './receiver.ts'

const SECRET = 'whsec_a25vd24='
const OTHER = 'whsec_b3RoZXI='
const START_MS = 60_000
const folder = mkdtempSync(path.join(tmpdir(), 'receiver-'))
let receiver: Receiver
beforeAll(() => {
  mkdirSync(path.join(folder, 'logs'))
  writeRunFile(folder, { mode: 'demo', data: folder, partitions: 1, parts: [] })
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  receiver = await startReceiver(folder)
  receiver.know('alert_1', SECRET)
}, START_MS)
afterEach(() => receiver.close())

const ring = (symbol: string, change: Partial<Trigger> = {}): Trigger => {
  const id = `alert_1.1.${symbol.toLowerCase()}`
  return triggerTo('https://localhost/', { alert_id: id, trigger_id: `${id}_1`, symbol, ...change })
}

/** As the dispatcher sends it, signed for the alert that its owner knows. */
async function send(triggerId: string, body: Buffer, secret = SECRET): Promise<number | undefined> {
  const headers = signatureHeaders({ keys: signingKeys(secret), triggerId, body, at: Date.now() * 1_000 })
  return new Promise((resolve, reject) => {
    const ca = readFileSync(receiverCaFile(folder))
    const sent = request(receiver.url, { method: 'POST', headers, ca }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

it('counts what a digest tells as if each had come by itself, also where it comes again so', async () => {
  const triggers = ['BTC', 'ETH', 'SOL'].map((symbol) => ring(symbol))
  const digest = { id: 'alert_1_digest', triggers }
  expect(await send(digest.id, digestPayload(digest, 'demo'))).toBe(204)
  expect(await send('alert_1.1.btc_1', payloadOf(ring('BTC'), 'demo'))).toBe(204)
  const came = [...receiver.deliveries].map(([id, { symbol, taken, isDigested }]) => [
    id,
    symbol,
    taken.length,
    isDigested,
  ])
  expect(came).toEqual([
    ['alert_1.1.btc_1', 'BTC', 2, true],
    ['alert_1.1.eth_1', 'ETH', 1, true],
    ['alert_1.1.sol_1', 'SOL', 1, true],
  ])
  expect(receiver.wrong).toEqual([])
})

it('names another body under an id, a digest of two alerts, of one alone, and a signature that is not the alert’s', async () => {
  const [one, other] = [ring('BTC'), ring('ETH', { alert_id: 'alert_2' })]
  await send('alert_1.1.btc_1', payloadOf(one, 'demo'))
  await send('alert_1.1.btc_1', payloadOf({ ...one, current_price: 1 }, 'demo'))
  await send('d1', digestPayload({ id: 'd1', triggers: [one, other] }, 'demo'))
  await send('d2', digestPayload({ id: 'd2', triggers: [one] }, 'demo'), OTHER)
  expect(receiver.wrong).toEqual([
    'alert_1.1.btc_1: another body under the same id',
    'd1: it tells alert_2 too',
    'd2: a digest of 1 that has 1',
    "d2: its signatures are not the alert's",
  ])
})

it('takes what comes while nobody reads it, and checks what came before its secret', async () => {
  await send('alert_2_1', payloadOf(ring('BTC', { alert_id: 'alert_2', trigger_id: 'alert_2_1' }), 'demo'), OTHER)
  await send('alert_2_2', payloadOf(ring('BTC', { alert_id: 'alert_2', trigger_id: 'alert_2_2' }), 'demo'))
  await send('alert_2_3', Buffer.from('nothing'))
  const ended = performance.timeOrigin + performance.now()
  const times = [...receiver.deliveries.values()].flatMap(({ taken }) => taken)
  expect(times).toHaveLength(2)
  expect(Math.max(...times)).toBeLessThan(ended)
  expect(receiver.wrong).toEqual([expect.stringMatching(/^alert_2_3: it cannot be read/)])
  receiver.know('alert_2', OTHER)
  expect(receiver.wrong.slice(1)).toEqual(["alert_2_2: its signatures are not the alert's"])
})
