import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webhookSecret } from '../alerts/secrets.ts'
import { Caller } from './agent.ts'
import { signatureHeaders, signingKeys } from './signature.ts'
import { Certificates, secrets, senderTo, startReceiver, status, triggerTo, type Got } from './testing/world.ts'
import { vectors } from './testing/vectors.ts'

const python = fileURLToPath(new URL('testing/receiver.py', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0

describe.each(vectors)('the golden vector $id', ({ secret, id, timestamp, body, standard, svc }) => {
  it('is what we sign', () => {
    const at = timestamp * 1_000_000 + 999_999
    expect(signatureHeaders({ keys: signingKeys(secret), triggerId: id, body: Buffer.from(body), at })).toEqual({
      'X-SVC-Signature': svc,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': standard,
    })
  })

  it('is what the official library signs', () => {
    expect(new Webhook(secret).sign(id, new Date(timestamp * 1_000), body)).toBe(standard)
  })
})

it('signs with HMAC-SHA256, whatever the secret and the body', () => {
  const bytes = fc.uint8Array({ maxLength: 200 })
  fc.assert(
    fc.property(bytes, bytes, (secret, content) => {
      const body = Buffer.from(content)
      const text = `whsec_${Buffer.from(secret).toString('base64')}`
      const headers = signatureHeaders({ keys: signingKeys(text), triggerId: 'a_1', body, at: 7_000_000 })
      const svc = createHmac('sha256', text).update(body).digest('hex')
      const standard = createHmac('sha256', secret).update('a_1.7.').update(body).digest('base64')
      expect(headers).toMatchObject({ 'X-SVC-Signature': `sha256=${svc}`, 'webhook-signature': `v1,${standard}` })
    }),
  )
})

it('names and signs the id in ASCII, whatever its asset is called', () => {
  const signed = (triggerId: string): Record<string, string> =>
    signatureHeaders({
      keys: signingKeys(vectors[1].secret),
      triggerId,
      body: Buffer.from('{}'),
      at: Date.now() * 1_000,
    })
  const usual = "alert_1-2.a0.xyz:B$c/d@e+f&g=h,i;j?k#l~m!n*o'(p)_1_over"
  expect(signed(usual)['webhook-id']).toBe(usual)
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (asset) => {
      const headers = signed(`alert_1.a0.${asset}_1`)
      expect(headers['webhook-id']).toMatch(/^[!-~]+$/)
      expect(decodeURIComponent(headers['webhook-id'] ?? '')).toBe(`alert_1.a0.${asset}_1`)
      expect(new Webhook(vectors[1].secret).verify('{}', headers)).toEqual({})
    }),
  )
})

describe('a webhook that arrived', () => {
  const certificates = new Certificates()
  const trigger = triggerTo('https://localhost/', { symbol: 'BTC', condition_met: 'über 70 000 €' })
  const secret = webhookSecret(secrets, 1, trigger.alert_id)
  let got: Got

  beforeAll(async () => {
    await certificates.make()
    const caller = new Caller(certificates.authorities)
    const receiver = await startReceiver(certificates.of('good'), status(200))
    await senderTo(caller)(triggerTo(receiver.url, { condition_met: trigger.condition_met }), 1, () => undefined)
    caller.close()
    await receiver.close()
    const [first] = receiver.got
    if (first === undefined) throw new Error('nothing arrived')
    got = first
  })

  afterAll(() => certificates.remove())

  it('is verified by the official library, and refused when a byte differs', () => {
    const { headers, body } = got
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ event: 'price_alert' })
    expect(() => new Webhook(secret).verify(Buffer.concat([body, Buffer.from(' ')]), headers)).toThrow()
  })

  it.runIf(hasPython)('is verified by a receiver in Python that was written from the specification', () => {
    const { headers, body } = got
    const given = [body, Buffer.concat([body, Buffer.from(' ')])].map((bytes) =>
      JSON.stringify({ secret, headers, body: bytes.toString('base64') }),
    )
    const { stdout } = spawnSync('python3', [python], { input: `${given.join('\n')}\n`, encoding: 'utf8' })
    const [right, wrong] = stdout.trim().split('\n')
    expect(right).toBe('{"svc": true, "standard": true}')
    expect(wrong).toBe('{"svc": false, "standard": false}')
  })

  it.runIf(!hasPython)('would be verified by a receiver in Python, but this machine has no python3', () => {
    expect(hasPython).toBe(false)
  })
})
