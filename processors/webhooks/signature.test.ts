import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { signatureHeaders } from './signature.ts'

const golden = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  triggerId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  body: Buffer.from('{"test": 2432232314}'),
  at: 1_614_265_330_000_000,
}

/** The vector that Standard Webhooks publishes with its specification and libraries. */
it('signs as Standard Webhooks’ own vector says', () => {
  expect(signatureHeaders(golden)).toMatchObject({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

it('signs the raw body under the whole secret’s text', () => {
  const hex = createHmac('sha256', Buffer.from(golden.secret, 'utf8')).update(golden.body).digest('hex')
  expect(signatureHeaders(golden)['X-SVC-Signature']).toBe(`sha256=${hex}`)
  expect(hex).toMatch(/^[0-9a-f]{64}$/)
})
