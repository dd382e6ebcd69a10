import { randomUUID } from 'node:crypto'
import { decodeFunctionData, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { transferCall } from '../../processors/payments/token.ts'
import { encodeHeader } from '../../processors/payments/wire/headers.ts'
import { offerV2 } from '../../processors/payments/wire/offer.ts'
import { emptyFields } from '../../schemas/codec.ts'
import type { PaymentIntent } from '../../schemas/records.ts'
import { ApiError } from '../request/errors.ts'
import { RateLimiter } from '../request/limits.ts'
import { fakeCredit } from '../testing/fake-credit.ts'
import { creditedKey, manageTokenOf } from './tokens.ts'
import {
  errorOf,
  priceBody,
  ruleBody,
  startAlerts,
  textOf,
  type AlertHarness,
  type Answered,
} from '../testing/alert-calls.ts'
import { FakeLedger, fakePayments, payer, seller, signPayment, type FakePayments } from '../testing/fake-payments.ts'
import { listAsset, NOW } from '../testing/harness.ts'

const CVD = '/cvd/BTC'
const USDC = 1_000_000
const DAY_MS = 86_400_000

let ledger: FakeLedger
let payments: FakePayments
let api: AlertHarness
let now = NOW / 1_000

beforeEach(async () => {
  now = NOW / 1_000
  ledger = new FakeLedger()
  payments = await fakePayments(ledger, () => now)
  api = await startAlerts({ payments })
})
afterEach(async () => {
  await api.stop()
  await payments.stop()
})

function advance(ms: number): void {
  now += ms
  api.advance(ms)
}

interface Buying extends Record<string, unknown> {
  readonly amount_usdc?: number
}

const bring = (headers: Record<string, string>, body?: object): Promise<Answered> =>
  api.send('POST', '/credit', { headers, ...(body && { body }) })

const paying = async (amount: number): Promise<Record<string, string>> => ({
  'payment-signature': (await signPayment({ amount: String(amount * USDC), now: now / 1_000 })).v2,
})

const named = (): Record<string, string> => ({ 'idempotency-key': randomUUID() })

async function buy(body: Buying = {}): Promise<Answered> {
  return bring({ ...(await paying(body.amount_usdc ?? 1)), ...named() }, body)
}

/** A settled payment as everybody reads it in its transaction. */
function seenOnChain(charged: PaymentIntent): Record<string, string> {
  const names = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce', 'v', 'r', 's']
  const types = ['address', 'address', 'uint256', 'uint256', 'uint256', 'bytes32', 'uint8', 'bytes32', 'bytes32']
  const inputs = types.map((type, index) => `${type} ${names[index]}`).join(', ')
  const abi = parseAbi([`function transferWithAuthorization(${inputs})`])
  const { args } = decodeFunctionData({ abi, data: transferCall(charged) })
  const [from, to, value, validAfter, validBefore, nonce, v, r, s] = (args as readonly unknown[]).map(String)
  const authorization = { from, to, value, validAfter, validBefore, nonce }
  const signature = `${r}${String(s).slice(2)}${Number(v).toString(16)}`
  const payload = { authorization, signature }
  return { 'payment-signature': encodeHeader({ x402Version: 2, payload, accepted: offerV2(seller, String(value)) }) }
}

async function keyed(body: Buying = {}): Promise<{ id: string; token: string }> {
  const { body: said } = await buy(body)
  return { id: textOf(said['key_id']), token: textOf(said['api_key']) }
}

const ask = (token: string, path = CVD): Promise<Answered> => api.get(path, { headers: { 'x-api-key': token } })

async function balanceOf({ id, token }: { id: string; token: string }): Promise<unknown> {
  await payments.credit.purses.flush()
  return (await api.send('GET', `/keys/${id}`, { token })).body['balance_usdc']
}

describe('a purchase of credit', () => {
  it('is priced by its amount, and gives a key once', async () => {
    expect((await bring(named(), { amount_usdc: 2.5 })).body).toMatchObject({
      accepts: [{ maxAmountRequired: '2500000' }],
    })
    const bought = await buy({ amount_usdc: 2.5, label: 'bot', scopes: ['read'], daily_max_usdc: 1 })
    expect([bought.status, bought.body]).toMatchObject([
      201,
      { label: 'bot', scopes: ['read'], balance_usdc: 2.5, daily_max_usdc: 1, amount_usdc: 2.5, status: 'active' },
    ])
    expect(ledger.charged[0]?.credit).toBe(bought.body['key_id'])
    const shown = await api.send('GET', `/keys/${textOf(bought.body['key_id'])}`, {
      token: textOf(bought.body['api_key']),
    })
    expect(shown.body).not.toHaveProperty('api_key')
  })

  it('sent again gives the same answer, and counts once', async () => {
    const headers = { ...(await paying(1)), ...named() }
    const answers = [await bring(headers), await bring(headers)]
    expect(answers[1]?.body).toEqual(answers[0]?.body)
    expect([ledger.charged.length, answers[1]?.body['bought_usdc']]).toEqual([1, 1])
    expect(ledger.answers.size).toBe(0)
  })

  it('without an Idempotency-Key is refused before any payment is asked for, or taken', async () => {
    const refused = await bring({}, { amount_usdc: 1 })
    expect(errorOf(refused)).toBe('400 invalid_idempotency_key Idempotency-Key')
    expect(refused.body['message']).toMatch(/random UUID.*POST \/wallet\/keys/)
    const payment = await paying(1)
    expect(errorOf(await bring(payment))).toBe('400 invalid_idempotency_key Idempotency-Key')
    expect(errorOf(await bring({ ...payment, 'idempotency-key': 'short' }))).toBe(
      '400 invalid_idempotency_key Idempotency-Key',
    )
    expect(ledger.intents).toEqual([])
    // Who looks for prices sends nothing at all.
    const probed = await bring({})
    expect([probed.status, probed.body['message']]).toEqual([402, expect.stringContaining('Idempotency-Key')])
    expect((await bring({ ...payment, ...named() })).status).toBe(201)
  })

  it('is told to nobody who knows its payment alone, while it settles and when it has', async () => {
    const body = { amount_usdc: 5 }
    const own = { ...(await paying(5)), ...named() }
    const { promise, resolve } = Promise.withResolvers<void>()
    ledger.block = promise
    const buying = bring(own, body)
    await expect.poll(() => ledger.intents.length).toBe(1)
    const [intent] = ledger.intents
    if (intent === undefined) throw new Error('nothing was asked for')
    const seen = seenOnChain(intent)
    const guess = async (): Promise<string[]> => {
      const tried = [bring(seen, body), bring({ ...seen, ...named() }, body), bring({ ...seen, ...named() })]
      return (await Promise.all(tried)).map(errorOf)
    }
    const refusals = [
      '400 invalid_idempotency_key Idempotency-Key',
      '409 payment_already_used',
      '402 invalid_payment_requirements',
    ]
    expect(await guess()).toEqual(refusals)
    resolve()
    const bought = await buying
    expect(bought.status).toBe(201)
    expect(await guess()).toEqual(refusals)
    expect((await bring(own, body)).body).toEqual(bought.body)
  })

  it('is not paid for by credit', async () => {
    const key = await keyed()
    const asked = await bring({ ...named(), 'x-api-key': key.token }, { amount_usdc: 1 })
    expect([asked.status, await balanceOf(key)]).toEqual([402, 1])
  })

  it('is not paid for twice under one Idempotency-Key', async () => {
    const once = named()
    const [first, second] = [await paying(1), await paying(1)]
    expect((await bring({ ...first, ...once })).status).toBe(201)
    const refused = await bring({ ...second, ...once })
    expect(errorOf(refused)).toBe('409 idempotency_conflict Idempotency-Key')
    expect(refused.body['message']).toMatch(/nothing was taken.*POST \/wallet\/keys/)
    expect(ledger.charged.length).toBe(1)
    expect((await bring({ ...second, ...named() })).status).toBe(201)
  })

  it('for a key that is there adds to its credit and shows no secret', async () => {
    const key = await keyed()
    const more = await buy({ amount_usdc: 3, key_id: key.id })
    expect([more.status, more.body]).toMatchObject([201, { key_id: key.id, balance_usdc: 4, api_key: null }])
  })

  it('for another’s key tells nothing of it, but to who has the key or its manage_token', async () => {
    const key = await keyed({ label: 'mine' })
    const stranger = privateKeyToAccount(generatePrivateKey())
    const payIn = async (headers: Record<string, string>): Promise<Answered> => {
      const { v2 } = await signPayment({ amount: String(USDC), now: now / 1_000, account: stranger })
      return bring({ 'payment-signature': v2, ...named(), ...headers }, { key_id: key.id })
    }
    const told = await payIn({})
    expect([told.status, told.body]).toEqual([201, { key_id: key.id, amount_usdc: 1, api_key: null }])
    expect((await payIn({ 'x-api-key': key.token })).body).toMatchObject({ label: 'mine', balance_usdc: 3 })
    const [first] = await payments.credit.log.book().then((keys) => keys.of(payer.address.toLowerCase()))
    if (first === undefined) throw new Error('the key is not there')
    const authorization = `Bearer ${manageTokenOf(api.services.alerts.secrets, first)}`
    expect((await payIn({ authorization })).body).toMatchObject({ label: 'mine', balance_usdc: 4 })
    expect(await balanceOf(key)).toBe(4)
  })

  it('for a key that has ended is refused as for one that never was', async () => {
    const key = await keyed()
    await api.send('DELETE', `/keys/${key.id}`, { token: key.token })
    const [ended, unknown] = [await buy({ key_id: key.id }), await buy({ key_id: '0'.repeat(20) })]
    expect(errorOf(ended)).toBe('404 key_not_found key_id')
    expect([ended.status, ended.body['message']]).toEqual([unknown.status, unknown.body['message']])
  })

  it('gives a key whose id nobody reads from its payment: another Idempotency-Key makes another', async () => {
    const ids = [randomUUID(), randomUUID()].map((sent) => creditedKey(undefined, 'a payment', sent))
    expect(new Set(ids).size).toBe(2)
  })

  it.each([
    [{ key_id: 'nobody' }, '404 key_not_found key_id'],
    [{ scopes: ['all'] }, '400 invalid_body scopes'],
    [{ expires_in_days: 0 }, '400 invalid_body expires_in_days'],
    [{ daily_max_usdc: -1 }, '400 invalid_body daily_max_usdc'],
  ])('%j costs nothing', async (body, error) => {
    expect(errorOf(await buy(body))).toBe(error)
    expect(ledger.charged).toEqual([])
  })
})

it.each([0.1, 1_001, 1.0000001, '1'])('an amount of %j is refused before it is paid', async (amount_usdc) => {
  expect(errorOf(await bring(named(), { amount_usdc }))).toBe('400 invalid_amount amount_usdc')
})

describe('a request with a key', () => {
  it('is answered by one round to the log for many, and charged its price', async () => {
    const key = await keyed()
    const writes = payments.credit.log.commands.length
    for (let n = 0; n < 10; n++) {
      const answer = await ask(key.token)
      expect([answer.status, answer.headers.get('credit-charged')]).toEqual([200, '0.02'])
    }
    expect(payments.credit.log.commands.length - writes).toBe(1)
    expect(await balanceOf(key)).toBe(0.8)
    const { body } = await api.send('GET', `/keys/${key.id}`, { token: key.token })
    expect(body).toMatchObject({ charged_usdc: 0.2, charged_today_usdc: 0.2, bought_usdc: 1 })
  })

  it('costs nothing where it is not answered', async () => {
    const key = await keyed()
    expect((await ask(key.token, '/cvd/BTC?period=x')).status).toBe(400)
    expect((await ask(key.token, '/cvd/NOPE')).status).toBe(404)
    expect((await api.get(CVD, { method: 'HEAD', headers: { 'x-api-key': key.token } })).status).toBe(402)
    api.hang(60_000)
    const stale = await ask(key.token)
    expect([stale.status, stale.body['stale'], stale.headers.has('credit-charged')]).toEqual([200, true, false])
    expect(await balanceOf(key)).toBe(1)
  })

  it('is offered x402 where too little is left, and a payment beside the key is taken instead of it', async () => {
    const key = await keyed({ amount_usdc: 0.5 })
    for (let n = 0; n < 25; n++) expect((await ask(key.token)).status).toBe(200)
    const refused = await ask(key.token)
    expect([refused.status, refused.body['error']]).toEqual([402, 'insufficient_credit'])
    expect(refused.headers.get('payment-required')).not.toBe(null)
    const signed = (await signPayment({ amount: '20000', now: now / 1_000 })).v2
    const paid = await api.get(CVD, { headers: { 'x-api-key': key.token, 'payment-signature': signed } })
    expect([paid.status, paid.headers.has('payment-response'), paid.headers.has('credit-charged')]).toEqual([
      200,
      true,
      false,
    ])
    expect(await balanceOf(key)).toBe(0)
  })

  it('stops at the daily limit until midnight UTC', async () => {
    const key = await keyed({ daily_max_usdc: 0.05 })
    for (let n = 0; n < 2; n++) expect((await ask(key.token)).status).toBe(200)
    const refused = await ask(key.token)
    expect(errorOf(refused)).toBe('429 quota_reached')
    expect(Number(refused.headers.get('retry-after'))).toBe(86_400 - ((now / 1_000) % 86_400))
    advance(DAY_MS)
    expect((await ask(key.token)).status).toBe(200)
  })

  it('is asked to come again, not tomorrow, where the rest of a day is set aside for other requests', async () => {
    const key = await keyed({ daily_max_usdc: 0.05 })
    const another = fakeCredit(() => now, payments.credit.log).purses
    for (const charged of [0, 0.02]) {
      const charge = await another.reserve({ key_id: key.id, daily_max: 50_000 }, 40_000 - charged * USDC)
      if (typeof charge === 'string') throw new Error(charge)
      const told = await ask(key.token)
      expect([errorOf(told), told.headers.get('retry-after')]).toEqual(['503 data_unavailable', '2'])
      charge.release()
      await another.close()
      expect((await ask(key.token)).status).toBe(200)
      await payments.credit.purses.close()
    }
    expect(errorOf(await ask(key.token))).toBe('429 quota_reached')
    advance(DAY_MS)
    await another.reserve({ key_id: key.id, daily_max: 50_000 }, 40_000)
    expect(errorOf(await ask(key.token))).toBe('503 data_unavailable')
  })

  it('is held to a lower daily limit from the change on, also by an instance that has more set aside', async () => {
    const key = await keyed()
    const another = fakeCredit(() => now, payments.credit.log).purses
    const spend = async (): Promise<boolean> => {
      const known = payments.credit.log.newest.find(key.id)
      const charge = known === undefined ? 'ended' : await another.reserve(known, 20_000)
      if (typeof charge !== 'string') charge.commit('GET /cvd/:symbol')
      return typeof charge !== 'string'
    }
    expect([(await ask(key.token)).status, await spend()]).toEqual([200, true])
    for (const purses of [another, payments.credit.purses]) await purses.flush()
    await api.send('PATCH', `/keys/${key.id}`, { body: { daily_max_usdc: 0.07 }, token: key.token })
    // the first gives back what it held, the other holds more than the day has left
    expect([await spend(), (await ask(key.token)).status]).toEqual([false, 200])
    expect([await spend(), errorOf(await ask(key.token))]).toEqual([false, '429 quota_reached'])
    expect((await api.send('GET', `/keys/${key.id}`, { token: key.token })).body['charged_today_usdc']).toBe(0.06)
  })

  it('counts against a rate of its own', async () => {
    await api.stop()
    const { credit } = payments
    const rate = new RateLimiter({ perSecond: 1, burst: 2, callersMax: 10 })
    api = await startAlerts({
      payments: { ...payments, credit: { ...credit, rate } },
      limit: { perSecond: 1, burst: 5 },
    })
    const key = await keyed()
    const statuses = [await ask(key.token), await ask(key.token), await ask(key.token)].map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 429])
    expect((await ask((await keyed()).token)).status).toBe(200)
    expect((await api.get('/healthz')).status).toBe(200)
  })

  it('is looked up in the log within the limit of its address, where it is not known here', async () => {
    await api.stop()
    api = await startAlerts({ payments, limit: { perSecond: 1, burst: 2 } })
    const key = await keyed()
    const log = vi.spyOn(payments.credit.log, 'book')
    const unknown = (): Promise<Answered> => ask(`mda_${'0'.repeat(20)}_${'a'.repeat(43)}`)
    const errors = [await unknown(), await unknown(), await unknown()].map(errorOf)
    expect(errors).toEqual(['401 unauthorized', '401 unauthorized', '429 rate_limited'])
    expect(log).toHaveBeenCalledTimes(2)
    expect((await ask(key.token)).status).toBe(200)
  })

  it.each(['mda_', 'mda_00000000000000000000_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'x'])(
    '%s is none',
    async (token) => {
      expect(errorOf(await ask(token))).toBe('401 unauthorized')
    },
  )

  it('may do what its scopes say, and nothing behind its end', async () => {
    const reader = await keyed({ scopes: ['read'], expires_in_days: 1 })
    const create = (token: string): Promise<Answered> =>
      api.send('POST', '/price-alert', { body: priceBody(), headers: { 'x-api-key': token } })
    expect(errorOf(await create(reader.token))).toBe('403 forbidden')
    expect(errorOf(await api.send('DELETE', `/keys/${reader.id}`, { token: reader.token }))).toBe('403 forbidden')
    expect((await api.send('GET', `/keys/${reader.id}`, { token: reader.token })).status).toBe(200)
    expect((await api.get(CVD, { headers: { authorization: 'Bearer of-something-else' } })).status).toBe(402)
    expect((await ask(reader.token)).status).toBe(200)
    advance(DAY_MS)
    expect(errorOf(await ask(reader.token))).toBe('401 unauthorized')
  })

  it('makes alerts that its wallet owns, once for an Idempotency-Key, and controls them', async () => {
    const key = await keyed()
    const headers = { 'x-api-key': key.token, 'idempotency-key': 'a-key-of-16-chars-or-more' }
    const made = await api.send('POST', '/price-alert', { body: priceBody(), headers })
    const again = await api.send('POST', '/price-alert', { body: priceBody(), headers })
    expect([made.status, again.body['alert_id']]).toEqual([201, made.body['alert_id']])
    expect(await balanceOf(key)).toBe(0.96)
    const mine = await api.send('POST', '/wallet/alerts', { token: key.token })
    expect(mine.body).toMatchObject({ count: 1, alerts: [{ alert_id: made.body['alert_id'] }] })
    const at = `/price-alert/${textOf(made.body['alert_id'])}`
    expect((await api.send('DELETE', at, { token: (await keyed({ scopes: ['read'] })).token })).status).toBe(403)
    expect((await api.send('DELETE', at, { token: key.token })).status).toBe(200)
  })

  it('opens the stream once, which it begins again for nothing', async () => {
    const key = await keyed()
    const stream = '/stream?symbols=BTC&channels=price&seconds=1'
    const first = await ask(key.token, stream)
    const again = await ask(key.token, stream)
    expect([first.headers.has('credit-charged'), again.headers.has('credit-charged')]).toEqual([true, false])
    expect([first.status, again.status]).toEqual([200, 200])
  })

  it('has one reader of the stream for an hour’s price, and until that hour is over', async () => {
    const key = await keyed()
    const open = (): Promise<Response> =>
      fetch(`${api.url}/stream?symbols=BTC&channels=price`, { headers: { 'x-api-key': key.token } })
    const first = await open()
    const second = await open()
    expect([first, second].map(({ headers }) => headers.get('credit-charged'))).toEqual(['0.1', null])
    expect(await first.text()).toMatch(/event: end\ndata: \{"reason":"replaced"/)
    expect(await balanceOf(key)).toBe(0.9)
    advance(3_600_000 - 500)
    const third = await open()
    expect([await second.text(), await third.text()]).toEqual([
      expect.stringContaining('"reason":"replaced"'),
      expect.stringContaining('"reason":"time_over"'),
    ])
    advance(500)
    const paidAnew = await open()
    await paidAnew.body?.cancel()
    expect([paidAnew.headers.get('credit-charged'), await balanceOf(key)]).toEqual(['0.1', 0.8])
  })
})

describe('one Idempotency-Key', () => {
  const key = { 'idempotency-key': 'a-key-of-16-chars-or-more' }
  const create = (headers: Record<string, string>): Promise<Answered> =>
    api.send('POST', '/price-alert', { body: priceBody(), headers: { ...key, ...headers } })
  /** Payments and credit that the creations cost, and alerts that there are. */
  const account = async (held: { id: string; token: string }): Promise<unknown[]> => [
    ledger.charged.filter(({ credit }) => credit === null).length,
    await balanceOf(held),
    (await api.get('/price-alerts')).body['count'],
  ]

  it('sent five times at once by credit is charged once', async () => {
    const held = await keyed()
    const answers = await Promise.all(Array.from({ length: 5 }, () => create({ 'x-api-key': held.token })))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    expect(answers.filter(({ headers }) => headers.has('credit-charged')).length).toBe(1)
    expect(await account(held)).toEqual([0, 0.96, 1])
  })

  it('is not charged to credit while a payment for it is being settled', async () => {
    const held = await keyed()
    const { promise, resolve } = Promise.withResolvers<void>()
    ledger.block = promise
    const { length } = ledger.intents
    const paid = create(await paying(0.04))
    await expect.poll(() => ledger.intents.length).toBe(length + 1)
    const refused = await create({ 'x-api-key': held.token })
    resolve()
    const { status, body } = await paid
    expect([status, errorOf(refused), refused.headers.get('retry-after')]).toEqual([201, '503 data_unavailable', '2'])
    expect(await create({ 'x-api-key': held.token })).toMatchObject({ status: 201, body })
    expect(await account(held)).toEqual([1, 1, 1])
  })

  it('is not paid for while it is being charged to credit', async () => {
    const held = await keyed()
    const { promise, resolve } = Promise.withResolvers<void>()
    const command = api.alerts.command.bind(api.alerts)
    let isAsked = false
    api.alerts.command = async (asked) => {
      isAsked = true
      await promise
      return command(asked)
    }
    const charged = create({ 'x-api-key': held.token })
    await expect.poll(() => isAsked).toBe(true)
    const paying1 = await paying(0.04)
    const refused = create(paying1)
    await expect
      .poll(() => ledger.intents.filter(({ version, credit }) => version > 0 && credit === null).length)
      .toBe(1)
    resolve()
    expect([errorOf(await refused), (await charged).status]).toEqual(['503 data_unavailable', 201])
    expect(await create(paying1)).toMatchObject({ status: 201, body: (await charged).body })
    expect(await account(held)).toEqual([0, 0.96, 1])
  })

  it('that too little credit is left for can be paid for', async () => {
    const held = await keyed({ daily_max_usdc: 0.01 })
    expect(errorOf(await create({ 'x-api-key': held.token }))).toBe('429 quota_reached')
    expect((await create(await paying(0.04))).status).toBe(201)
    expect(await account(held)).toEqual([1, 1, 1])
  })

  it('whose payment has settled and whose alert was not made is not charged again', async () => {
    const held = await keyed()
    const headers = await paying(0.04)
    api.alerts.isAway = false
    const command = api.alerts.command.bind(api.alerts)
    api.alerts.command = () => Promise.reject(new Error('the broker is away'))
    expect((await create(headers)).status).toBe(500)
    api.alerts.command = command
    expect(errorOf(await create({ 'x-api-key': held.token }))).toBe('503 data_unavailable')
    expect((await create(headers)).status).toBe(201)
    expect(await account(held)).toEqual([1, 1, 1])
  })
})

describe('what is made by credit and answered late', () => {
  const balanceAnd = async (held: { id: string; token: string }, answer: Answered): Promise<unknown[]> => [
    answer.status,
    answer.headers.get('credit-charged'),
    await balanceOf(held),
  ]
  const by = ({ token }: { token: string }): Record<string, string> => ({ 'x-api-key': token, ...named() })

  it('is charged once, when the same request is sent again', async () => {
    const held = await keyed()
    const headers = by(held)
    const create = (): Promise<Answered> => api.send('POST', '/price-alert', { body: priceBody(), headers })
    api.alerts.isSlow = true
    expect(await balanceAnd(held, await create())).toEqual([503, null, 1])
    api.alerts.isSlow = false
    expect(await balanceAnd(held, await create())).toEqual([201, '0.04', 0.96])
    expect(await balanceAnd(held, await create())).toEqual([201, null, 0.96])
    expect((await api.get('/price-alerts')).body['count']).toBe(1)
  })

  it('is not had for nothing with a payment beside its key', async () => {
    const held = await keyed()
    const once = named()
    const create = (headers: Record<string, string>): Promise<Answered> =>
      api.send('POST', '/price-alert', { body: priceBody(), headers: { ...once, ...headers } })
    api.alerts.isSlow = true
    expect((await create({ 'x-api-key': held.token })).status).toBe(503)
    api.alerts.isSlow = false
    const payment = await paying(0.04)
    expect(errorOf(await create(payment))).toBe('503 data_unavailable')
    expect(await balanceAnd(held, await create({ 'x-api-key': held.token }))).toEqual([201, '0.04', 0.96])
    expect((await create(payment)).status).toBe(201)
    expect(ledger.charged.length).toBe(1)
  })

  it('is charged once where the instance that made it was killed before it had charged it', async () => {
    const held = await keyed()
    const headers = by(held)
    const create = (): Promise<Answered> => api.send('POST', '/price-alert', { body: priceBody(), headers })
    const settle = ledger.settle.bind(ledger)
    ledger.settle = async (intent) => {
      if (api.alerts.commands.length > 0) throw new Error('it is killed here')
      return settle(intent)
    }
    expect((await create()).status).toBe(500)
    ledger.settle = settle
    expect(await balanceAnd(held, await create())).toEqual([201, '0.04', 0.96])
    expect(await balanceAnd(held, await create())).toEqual([201, null, 0.96])
  })

  it('and was not made in the end holds nothing back, and is charged when it is made', async () => {
    const held = await keyed({ amount_usdc: 0.5 })
    const headers = by(held)
    const create = (): Promise<Answered> => api.send('POST', '/price-alert', { body: priceBody(), headers })
    api.alerts.isAway = true
    expect(await balanceAnd(held, await create())).toEqual([503, null, 0.5])
    api.alerts.isAway = false
    advance(5_000)
    await balanceOf(held)
    const { body } = await api.send('GET', `/keys/${held.id}`, { token: held.token })
    expect(body).toMatchObject({ balance_usdc: 0.5, held_usdc: 0 })
    expect(await balanceAnd(held, await create())).toEqual([201, '0.04', 0.46])
  })

  it('is not given where no credit is left to charge it to, until there is more', async () => {
    const held = await keyed({ amount_usdc: 0.5 })
    const headers = by(held)
    const create = (): Promise<Answered> => api.send('POST', '/price-alert', { body: priceBody(), headers })
    api.alerts.isSlow = true
    expect((await create()).status).toBe(503)
    api.alerts.isSlow = false
    for (let n = 0; n < 25; n++) expect((await ask(held.token)).status).toBe(200)
    expect((await create()).body['error']).toBe('insufficient_credit')
    await buy({ amount_usdc: 0.5, key_id: held.id })
    expect(await balanceAnd(held, await create())).toEqual([201, '0.04', 0.46])
  })

  it('is charged anew for what the same key makes a day later', async () => {
    const held = await keyed()
    const headers = by(held)
    const create = (): Promise<Answered> => api.send('POST', '/price-alert', { body: priceBody(), headers })
    expect(await balanceAnd(held, await create())).toEqual([201, '0.04', 0.96])
    advance(DAY_MS + 60_000)
    const time = (NOW / 1_000 + DAY_MS + 60_000) * 1_000
    api.alerts.take({ type: 'mark', value: { ...emptyFields('mark'), writer: 'prices', run: 0, time } })
    expect(await balanceAnd(held, await create())).toEqual([201, '0.04', 0.92])
    expect(await balanceAnd(held, await create())).toEqual([201, null, 0.92])
  })

  it('as a rule for several symbols that was cut short is completed and charged once', async () => {
    listAsset(api.database, 'eth')
    const held = await keyed()
    const headers = by(held)
    const { symbol: _, ...rule } = ruleBody() as Record<string, unknown>
    const body = { ...rule, symbols: ['BTC', 'ETH'] }
    const create = (): Promise<Answered> => api.send('POST', '/alerts', { body, headers })
    const command = api.alerts.command.bind(api.alerts)
    api.alerts.command = async (asked) => {
      if (asked.asset !== 'btc') throw new ApiError('overloaded', 'Too many.', { retryAfterSeconds: 1 })
      return command(asked)
    }
    const half = await create()
    expect(await balanceAnd(held, half)).toEqual([503, null, 1])
    expect(half.body['message']).toMatch(/Only some.*paid for once/)
    api.alerts.command = command
    expect(await balanceAnd(held, await create())).toEqual([201, '0.06', 0.94])
    expect(await balanceAnd(held, await create())).toEqual([201, null, 0.94])
  })

  it('as an extension under an Idempotency-Key is applied once and charged once', async () => {
    const held = await keyed()
    const made = await api.send('POST', '/price-alert', { body: priceBody(), headers: by(held) })
    const at = `/price-alert/${textOf(made.body['alert_id'])}`
    const headers = by(held)
    const hours = 24 * 7
    const extend = (more = headers): Promise<Answered> =>
      api.send('POST', `${at}/extend`, { body: { add_hours: hours }, headers: more })
    const daysLeft = async (): Promise<number> =>
      (Date.parse(textOf((await api.get(at)).body['expires_at'])) - now) / DAY_MS
    api.alerts.isSlow = true
    for (let n = 0; n < 3; n++) expect(await balanceAnd(held, await extend())).toEqual([503, null, 0.96])
    api.alerts.isSlow = false
    expect(await daysLeft()).toBe(8)
    expect(await balanceAnd(held, await extend())).toEqual([200, '0.02', 0.94])
    expect(await balanceAnd(held, await extend())).toEqual([200, null, 0.94])
    expect(await daysLeft()).toBe(8)
    // Another key, or none, is another extension.
    expect(await balanceAnd(held, await extend(by(held)))).toEqual([200, '0.02', 0.92])
    expect(await balanceAnd(held, await extend({ 'x-api-key': held.token }))).toEqual([200, '0.02', 0.9])
    expect(await daysLeft()).toBe(22)
  })

  it('as an extension that was applied is answered also where it could not be applied any more', async () => {
    const held = await keyed()
    const made = await api.send('POST', '/price-alert', {
      body: priceBody({ expires_in_hours: 168 }),
      headers: by(held),
    })
    const extend = (hours: number, headers = by(held)): Promise<Answered> =>
      api.send('POST', `/price-alert/${textOf(made.body['alert_id'])}/extend`, { body: { add_hours: hours }, headers })
    for (let n = 0; n < 3; n++) expect((await extend(168)).status).toBe(200)
    const headers = by(held)
    api.alerts.isSlow = true
    expect((await extend(40, headers)).status).toBe(503)
    api.alerts.isSlow = false
    expect(errorOf(await extend(40))).toBe('400 invalid_add_hours add_hours')
    expect(await balanceAnd(held, await extend(40, headers))).toEqual([200, '0.02', 0.88])
  })
})

describe('a key', () => {
  it('is changed, rotated with a time for both secrets, and revoked', async () => {
    const key = await keyed()
    const change = { label: 'other', daily_max_usdc: 5, expires_in_days: null }
    expect((await api.send('PATCH', `/keys/${key.id}`, { body: change, token: key.token })).body).toMatchObject({
      label: 'other',
      daily_max_usdc: 5,
      expires_at: null,
    })
    const rotated = await api.send('POST', `/keys/${key.id}/rotate`, { body: { grace_hours: 1 }, token: key.token })
    const fresh = textOf(rotated.body['api_key'])
    expect([(await ask(key.token)).status, (await ask(fresh)).status]).toEqual([200, 200])
    advance(3_600_000)
    expect([errorOf(await ask(key.token)), (await ask(fresh)).status]).toEqual(['401 unauthorized', 200])
    expect((await api.send('DELETE', `/keys/${key.id}`, { token: fresh })).body['status']).toBe('revoked')
    expect(errorOf(await ask(fresh))).toBe('401 unauthorized')
  })

  it('whose rotation was answered late and is sent again is taken by its first secret until the grace is over', async () => {
    const key = await keyed()
    const rotate = (token: string, grace_hours: number): Promise<Answered> =>
      api.send('POST', `/keys/${key.id}/rotate`, { body: { grace_hours }, token })
    const command = payments.credit.log.command.bind(payments.credit.log)
    payments.credit.log.command = async (asked) => {
      await command(asked)
      throw new ApiError('data_unavailable', 'Send the same again.', { retryAfterSeconds: 2 })
    }
    expect((await rotate(key.token, 1)).status).toBe(503)
    payments.credit.log.command = command
    const again = await rotate(key.token, 1)
    const fresh = textOf(again.body['api_key'])
    expect(again.body['former_secret_until']).toBe(new Date(now + 3_600_000).toISOString())
    expect([(await ask(key.token)).status, (await ask(fresh)).status]).toEqual([200, 200])
    const leaked = await rotate(fresh, 0)
    expect((await ask(textOf(leaked.body['api_key']))).status).toBe(200)
    expect([errorOf(await ask(key.token)), errorOf(await ask(fresh))]).toEqual(['401 unauthorized', '401 unauthorized'])
  })

  /** The one key of the wallet, as it lists it. */
  async function listed(): Promise<Record<string, unknown>> {
    const message = textOf((await api.get(`/wallet/message?purpose=keys&address=${payer.address}`)).body['message'])
    const body = { message, signature: await payer.signMessage({ message }) }
    const { body: told } = await api.send('POST', '/wallet/keys', { body })
    const [key, ...others] = told['keys'] as Record<string, unknown>[]
    if (key === undefined || others.length > 0) throw new Error('it has not one key')
    return key
  }

  it('is rotated and revoked by the wallet that bought it', async () => {
    const key = await keyed()
    const shown = await listed()
    expect(shown).toMatchObject({ key_id: key.id, balance_usdc: 1 })
    const token = textOf(shown['manage_token'])
    const rotated = await api.send('POST', `/keys/${key.id}/rotate`, { body: { grace_hours: 0 }, token })
    expect([errorOf(await ask(key.token)), (await ask(textOf(rotated.body['api_key']))).status]).toEqual([
      '401 unauthorized',
      200,
    ])
  })

  it.each([[undefined], [['read']]])(
    'whose terms and secret were not written behind its purchase is had by its wallet; scopes: %j',
    async (scopes) => {
      const command = payments.credit.log.command.bind(payments.credit.log)
      payments.credit.log.command = async (asked) => {
        if (asked.op === 'terms') throw new Error('the instance is killed here')
        return command(asked)
      }
      expect((await buy({ amount_usdc: 100 })).status).toBe(500)
      payments.credit.log.command = command
      const bought = await listed()
      const [at, token] = [`/keys/${textOf(bought['key_id'])}`, textOf(bought['manage_token'])]
      if (scopes !== undefined) await api.send('PATCH', at, { body: { scopes }, token })
      const { body } = await api.send('POST', `${at}/rotate`, { token })
      expect(body).toMatchObject({ balance_usdc: 100, scopes: scopes ?? ['read', 'alerts', 'manage'] })
      expect((await ask(textOf(body['api_key']))).status).toBe(200)
      advance(1_000) // a message is taken once
      expect((await listed())['manage_token']).toBe(token)
    },
  )

  it('of another cannot be seen', async () => {
    const [one, other] = [await keyed(), await keyed()]
    expect(errorOf(await api.send('GET', `/keys/${one.id}`, { token: other.token }))).toBe('403 forbidden')
    expect(errorOf(await api.get(`/keys/${one.id}`))).toBe('401 unauthorized')
  })
})

it('gives as many questions for nothing as the operator has set, and none to who asks for the price', async () => {
  await api.stop()
  const free = new RateLimiter({ perSecond: 2 / 86_400, burst: 2, callersMax: 10 })
  api = await startAlerts({ payments: { ...payments, credit: { ...payments.credit, free } } })
  const statuses = [(await api.get(CVD, { method: 'HEAD' })).status]
  for (let n = 0; n < 3; n++) statuses.push((await api.get(CVD)).status)
  expect(statuses).toEqual([402, 200, 200, 402])
  expect((await api.send('POST', '/price-alert', { body: priceBody() })).status).toBe(402)
})

it('is not sold where payments are off', async () => {
  await api.stop()
  api = await startAlerts()
  expect(errorOf(await api.send('POST', '/credit', { body: {} }))).toBe('404 not_found')
  expect((await ask('mda_x')).status).toBe(200)
})
