import { createHmac } from 'node:crypto'
import { request } from 'node:https'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { digestPayload, payloadOf } from '../../../processors/webhooks/payload.ts'
import { Certificates, triggerTo } from '../../../processors/webhooks/testing/world.ts'
import type { Trigger } from '../../../schemas/records.ts'
import { startReceiver, type Receiver } from './receiver.ts'

const certificates = new Certificates()
const SECRET = 'whsec_known'
let receiver: Receiver
beforeAll(() => certificates.make())
afterAll(() => certificates.remove())
beforeEach(async () => {
  receiver = await startReceiver(certificates.of('good'), false)
  receiver.know('alert_1', SECRET)
})
afterEach(() => receiver.close())

const ring = (symbol: string, change: Partial<Trigger> = {}): Trigger => {
  const id = `alert_1.1.${symbol.toLowerCase()}`
  return triggerTo('https://localhost/', { alert_id: id, trigger_id: `${id}_1`, symbol, ...change })
}

/** As the dispatcher sends it, signed for the alert that its owner knows. */
async function send(id: string, body: Buffer, secret = SECRET): Promise<number | undefined> {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const headers = { 'webhook-id': id, 'x-svc-signature': signature }
  return new Promise((resolve, reject) => {
    const sent = request(receiver.url, { method: 'POST', headers, ca: certificates.authorities }, (answer) => {
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
  await send('d2', digestPayload({ id: 'd2', triggers: [one] }, 'demo'), 'whsec_other')
  expect(receiver.wrong).toEqual([
    'alert_1.1.btc_1: another body under the same id',
    'd1: it tells alert_2 too',
    'd2: a digest of 1 that has 1',
    "d2: its signature is not the alert's",
  ])
})
