import { randomUUID } from 'node:crypto'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  HOOK,
  priceBody,
  riskBody,
  startAlerts,
  textOf,
  type AlertHarness,
  type Answered,
} from '../testing/alert-calls.ts'
import { emptyFields } from '../../schemas/codec.ts'
import { NOW } from '../testing/harness.ts'
import { FakeLedger, fakePayments, payer, signPayment, type FakePayments } from '../testing/fake-payments.ts'

const SECONDS = NOW / 1e6
const CREATION = '40000'
const EXTENSION = '20000'

let ledger: FakeLedger
let payments: FakePayments
let api: AlertHarness

beforeEach(async () => {
  ledger = new FakeLedger()
  payments = await fakePayments(ledger)
  api = await startAlerts({ payments })
})
afterEach(async () => {
  await api.stop()
  await payments.stop()
})

async function signed(amount: string): Promise<Record<string, string>> {
  return { 'payment-signature': (await signPayment({ amount, now: SECONDS })).v2 }
}

async function paying(amount: string): Promise<Record<string, string>> {
  return { ...(await signed(amount)), 'idempotency-key': randomUUID() }
}

const create = (headers: Record<string, string>, change: object = {}): Promise<Answered> =>
  api.send('POST', '/price-alert', { body: priceBody(change), headers })

const countOf = async (): Promise<unknown> => (await api.get('/price-alerts')).body['count']

function isPaid({ headers }: Answered): boolean {
  return decodePaymentResponseHeader(headers.get('payment-response') ?? '').success
}

/** A paid alert: where it is, and its owner's token. */
async function paidAlert(): Promise<{ at: string; token: string }> {
  const { body } = await create(await paying(CREATION))
  return { at: `/price-alert/${textOf(body['alert_id'])}`, token: textOf(body['manage_token']) }
}

const extend = ({ at, token }: { at: string; token: string }, headers: Record<string, string>): Promise<Answered> =>
  api.send('POST', `${at}/extend`, { body: { add_hours: 24 }, token, headers })

describe('a creation', () => {
  it.each([
    ['/price-alert', priceBody(), CREATION],
    ['/liquidation/alert', riskBody(), '60000'],
  ])('by %s is asked for its price when it is valid, and before it says anything', async (path, body, amount) => {
    for (const sent of [{ body }, {}]) {
      const { status, body: told } = await api.send('POST', path, sent)
      expect(status).toBe(402)
      expect(told).toMatchObject({ error: 'payment_required', accepts: [{ maxAmountRequired: amount }] })
    }
    expect(await api.send('POST', path, { body: { ...body, webhook_url: 'http://a.example' } })).toMatchObject({
      status: 400,
      body: { error: 'invalid_webhook_url' },
    })
    expect(await api.send('POST', path, { body: '[]' })).toMatchObject({ status: 400, body: { error: 'invalid_body' } })
    expect(api.alerts.commands).toEqual([])
  })

  it('is made once, whatever becomes of its answer; its payer is one of its wallets', async () => {
    const headers = await paying(CREATION)
    const first = await create(headers)
    expect(first).toMatchObject({ status: 201, body: { status: 'active', webhook_url: HOOK } })
    api.advance(120_000)
    const again = await create(headers)
    expect(again.body).toEqual(first.body)
    expect([isPaid(first), isPaid(again), ledger.charged.length]).toEqual([true, true, 1])
    expect((await api.get(`/price-alerts?wallet=${payer.address}`)).body).toMatchObject({
      count: 1,
      alerts: [{ alert_id: first.body['alert_id'] }],
    })
  })

  it.each([{}, { 'idempotency-key': 'a-key-of-16-chars-or-more' }])(
    'leaves none of its secrets in the log: %j',
    async (key) => {
      const headers = { ...(await paying(CREATION)), ...key }
      for (let n = 0; n < 3; n += 1) expect((await create(headers)).status).toBe(201)
      expect(ledger.answers.size).toBe(0)
      expect(JSON.stringify(ledger.intents)).not.toContain('hooks.example.com')
    },
  )

  it('sent five times at once is one alert', async () => {
    const headers = await paying(CREATION)
    const answers = await Promise.all(Array.from({ length: 5 }, () => create(headers)))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    expect(new Set(answers.map(({ body }) => body['alert_id'])).size).toBe(1)
    expect([await countOf(), ledger.charged.length]).toEqual([1, 1])
  })

  it('with another body is not paid for by the same payment', async () => {
    const headers = await paying(CREATION)
    await create(headers)
    const other = await create(headers, { target_price: 200 })
    expect(other).toMatchObject({ status: 409, body: { error: 'payment_already_used' } })
    expect([await countOf(), ledger.charged.length]).toEqual([1, 1])
  })

  it('that cannot be made after the money came says so with the receipt, and is made with the same payment', async () => {
    const headers = await paying(CREATION)
    api.alerts.isSlow = true
    const lost = await create(headers)
    expect(lost).toMatchObject({ status: 503, body: { error: 'data_unavailable' } })
    expect(lost.body['message']).toContain('The payment stands')
    expect(isPaid(lost)).toBe(true)
    api.alerts.isSlow = false
    expect((await create(headers)).status).toBe(201)
    expect([await countOf(), ledger.charged.length]).toEqual([1, 1])
  })

  it('is not charged where alerts cannot be made at all', async () => {
    api.alerts.isAway = true
    const key = { 'idempotency-key': 'a-key-of-16-chars-or-more' }
    expect((await create({ ...(await paying(CREATION)), ...key })).status).toBe(503)
    expect(ledger.charged).toEqual([])
  })

  it('with an Idempotency-Key is charged once, however it is paid; the key is the payer’s own', async () => {
    const key = { 'idempotency-key': 'a-key-of-16-chars-or-more' }
    const first = await create({ ...(await paying(CREATION)), ...key })
    const second = await create({ ...(await paying(CREATION)), ...key })
    expect(second).toMatchObject({ status: 201, body: first.body })
    expect(second.headers.get('payment-response')).toBeNull()
    expect(ledger.charged.length).toBe(1)
    expect((await create(key)).status).toBe(402)
    const other = await create({ ...(await paying(CREATION)), ...key }, { target_price: 7 })
    expect(other).toMatchObject({ status: 409, body: { error: 'idempotency_conflict' } })
    expect(ledger.charged.length).toBe(1)
  })

  it('with an Idempotency-Key and two payments at once takes one of them', async () => {
    const key = { 'idempotency-key': 'a-key-of-16-chars-or-more' }
    const both = [
      { ...(await paying(CREATION)), ...key },
      { ...(await paying(CREATION)), ...key },
    ]
    const { promise, resolve } = Promise.withResolvers<void>()
    ledger.block = promise
    const first = create(both[0] ?? {})
    await expect.poll(() => ledger.intents.length).toBe(1)
    const second = await create(both[1] ?? {})
    expect(second).toMatchObject({ status: 503, body: { error: 'data_unavailable' } })
    resolve()
    const { status, body } = await first
    expect(status).toBe(201)
    for (const headers of both) expect(await create(headers)).toMatchObject({ status: 201, body })
    expect([ledger.charged.length, await countOf(), payments.inFlight.size]).toEqual([1, 1, 0])
  })

  it('is not told to who knows its payment and guesses its body, without its key', async () => {
    const payment = await signed(CREATION)
    const key = { 'idempotency-key': 'a-key-of-16-chars-or-more' }
    const first = await create({ ...payment, ...key })
    for (const guessed of [{}, { 'idempotency-key': randomUUID() }]) {
      const theirs = await create({ ...payment, ...guessed })
      expect(theirs).toMatchObject({ status: 409, body: { error: 'payment_already_used' } })
      expect(JSON.stringify(theirs.body)).not.toMatch(/mt_|whsec_/)
    }
    expect(await create({ ...payment, ...key })).toMatchObject({ status: 201, body: first.body })
    expect([await countOf(), ledger.charged.length]).toEqual([1, 1])
  })

  it('without a key that could not be made after the money came is made by the same request again, once', async () => {
    const payment = await signed(CREATION)
    api.alerts.isSlow = true
    const lost = await create(payment)
    expect([lost.status, isPaid(lost)]).toEqual([503, true])
    api.alerts.isSlow = false
    const made = await create(payment)
    expect([made.status, (await create(payment)).body]).toEqual([201, made.body])
    expect([await countOf(), ledger.charged.length]).toEqual([1, 1])
  })
})

describe('an extension', () => {
  it('is applied once, and told the same again', async () => {
    const alert = await paidAlert()
    const headers = await signed(EXTENSION)
    const first = await extend(alert, headers)
    expect(first).toMatchObject({ status: 200, body: { add_hours: 24, status: 'active' } })
    const more = await extend(alert, await signed(EXTENSION))
    expect(Date.parse(textOf(more.body['expires_at'])) - Date.parse(textOf(first.body['expires_at']))).toBe(86_400_000)
    expect((await extend(alert, headers)).body).toEqual(first.body)
    expect(ledger.charged.length).toBe(3)
    expect((await api.get(alert.at)).body['expires_at']).toBe(more.body['expires_at'])
  })

  it('that was paid for is applied even if the alert has ended meanwhile', async () => {
    const alert = await paidAlert()
    const headers = await signed(EXTENSION)
    const command = api.alerts.command.bind(api.alerts)
    api.alerts.command = () => Promise.reject(new Error('the broker is away'))
    const lost = await extend(alert, headers)
    expect(lost).toMatchObject({ status: 500, body: { error: 'internal_error' } })
    expect(isPaid(lost)).toBe(true)
    api.alerts.command = command
    const after = NOW + 25 * 3_600_000_000
    api.advance(25 * 3_600_000)
    api.alerts.take({
      type: 'mark',
      value: { ...emptyFields('mark'), writer: 'prices', run: 0, time: after },
    })
    expect((await api.get(alert.at)).body['status']).toBe('expired')
    expect(await extend(alert, headers)).toMatchObject({ status: 200, body: { status: 'active' } })
    expect(ledger.charged.length).toBe(2)
  })

  it('is not charged where it is not the owner’s, or cannot be', async () => {
    const alert = await paidAlert()
    const charged = ledger.charged.length
    expect((await extend({ ...alert, token: 'x' }, await signed(EXTENSION))).status).toBe(403)
    const far = { body: { add_hours: 900 }, token: alert.token, headers: await signed(EXTENSION) }
    expect((await api.send('POST', `${alert.at}/extend`, far)).status).toBe(400)
    await api.send('DELETE', alert.at, { token: alert.token })
    expect((await extend(alert, await signed(EXTENSION))).status).toBe(409)
    expect(ledger.charged.length).toBe(charged)
  })
})
