import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { parsePaymentRequired } from '@x402/core/schemas'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { atomicUnits } from '../../processors/payments/wire/offer.ts'
import { routes } from '../routes.ts'
import { listAsset, NOW, startHarness, type Harness } from '../testing/harness.ts'
import {
  fakePayments,
  FakeLedger,
  paid,
  receiptOf,
  signPayment,
  stranger,
  TX,
  type FakePayments,
} from '../testing/fake-payments.ts'
import { endpoints } from '../testing/specification.ts'

const CVD = '/cvd/BTC'
const SECONDS = NOW / 1e6
const PRICE = '20000'
const DAY_MS = 86_400_000

let payments: FakePayments
let ledger: FakeLedger
let api: Harness

beforeEach(async () => {
  ledger = new FakeLedger()
  payments = await fakePayments(ledger)
  api = await startHarness({ payments })
})
afterEach(async () => {
  await api.stop()
  await payments.stop()
})

type Answered = Awaited<ReturnType<Harness['get']>>

const pay = (path: string, headers: Record<string, string>, method = 'GET'): Promise<Answered> =>
  api.get(path, { method, headers })

describe('a request without a payment', () => {
  it.each(endpoints.map(({ path, ask }) => [path, ask] as const))(
    'for %s is asked for its price',
    async (path, ask) => {
      const price = atomicUnits(routes.find((row) => row.path === path)?.priceUsdc ?? 0)
      const { status, headers, body } = await api.get(ask)
      expect(status).toBe(402)
      expect(headers.get('cache-control')).toBe('no-store')
      const required = decodePaymentRequiredHeader(headers.get('payment-required') ?? '')
      expect(parsePaymentRequired(required).success).toBe(true)
      expect(parsePaymentRequired(body).success).toBe(true)
      expect(required).toMatchObject({ x402Version: 2, error: 'payment_required', accepts: [{ amount: price }] })
      expect(body).toMatchObject({ x402Version: 1, error: 'payment_required', accepts: [{ maxAmountRequired: price }] })
      expect(body['request_id']).toBe(headers.get('x-request-id'))
      expect(headers.get('payment-required')?.length).toBeLessThan(3 * 1024)
      expect(ledger.intents).toEqual([])
    },
  )

  it('is told the same again, with an id of its own', async () => {
    const [first, second] = [await api.get(CVD), await api.get(CVD)]
    expect(second.headers.get('payment-required')).toBe(first.headers.get('payment-required'))
    expect(second.body).toEqual({ ...first.body, request_id: second.headers.get('x-request-id') })
    expect(second.body['request_id']).not.toBe(first.body['request_id'])
  })

  it.each([
    ['/cvd/BTC?period=x', 400, 'invalid_period'],
    ['/cvd/NOPE', 404, 'symbol_not_found'],
    ['/cvd/history/BTC?start=2&end=1', 400, 'invalid_range'],
    ['/api/v1/market/nope', 404, 'market_not_found'],
    ['/api/v1/prices', 400, 'invalid_symbols'],
    ['/price-alert/alert_btc_1_1/extend', 404, 'alert_not_found'],
  ])('that is wrong is told so, not asked for money: %s', async (path, status, error) => {
    const init = path.startsWith('/price-alert') ? { method: 'POST', body: Buffer.from('{}') } : {}
    expect(await api.get(path, init)).toMatchObject({ status, body: { error } })
  })

  it('for a symbol that warms up is told to wait', async () => {
    listAsset(api.database, 'wif')
    expect(await api.get('/cvd/WIF')).toMatchObject({ status: 202, body: { status: 'warming_up' } })
  })

  it('never gets what another one has paid for', async () => {
    expect((await pay(CVD, await paid())).status).toBe(200)
    expect((await api.get(CVD)).status).toBe(402)
    expect((await api.get(CVD)).status).toBe(402)
  })

  it.each(['/healthz', '/price-alerts', '/openapi.json'])('for what is free gets it: %s', async (path) => {
    expect((await api.get(path)).status).toBe(200)
  })

  it.each([
    ['/cvd%2FBTC', 404],
    ['//cvd/BTC', 404],
    ['/cvd//BTC', 404],
    ['/CVD/BTC', 404],
    ['/cvd/BTC/', 402],
    ['/cvd/%42TC', 402],
    ['/cvd/BTC;a=b', 400],
    ['/./cvd/BTC?x402Version=2', 402],
  ])('has no way around paying: %s', async (path, status) => {
    expect((await api.get(path)).status).toBe(status)
  })
})

describe('a paid request', () => {
  it.each(['v1', 'v2'] as const)('is charged its price and answered: %s', async (version) => {
    const header = { v1: 'x-payment', v2: 'payment-signature' }[version]
    const answer = await pay(CVD, { [header]: (await signPayment({ amount: PRICE, now: SECONDS }))[version] })
    expect(answer).toMatchObject({ status: 200, body: { symbol: 'BTC', period: '1h' } })
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect(answer.headers.get('content-type')).toContain('application/json')
    const named = version === 'v1' ? { network: 'base-sepolia' } : { network: 'eip155:84532', amount: PRICE }
    const payer = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
    expect(receiptOf(answer)).toEqual({ success: true, transaction: TX, payer, ...named })
    expect(ledger.charged).toMatchObject([{ method: 'GET', route: '/cvd/:symbol', price: PRICE, from: payer }])
  })

  it('that comes five times at once is charged and made once, and gets five equal answers', async () => {
    const headers = await paid()
    const answers = await Promise.all(Array.from({ length: 5 }, () => pay(CVD, headers)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect([ledger.intents.length, ledger.charged.length]).toEqual([1, 1])
    expect(payments.inFlight.size).toBe(0)
  })

  it('that comes again gets the same bytes, of another instance and at another time, too', async () => {
    const headers = await paid()
    const first = await pay(CVD, headers)
    const others = await fakePayments(ledger)
    const other = await startHarness({ payments: others })
    other.advance(3_600_000)
    const again = await other.get(`/cvd/btc?period=1h&unknown=1`, { headers })
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
    expect(receiptOf(again)).toEqual(receiptOf(first))
    expect(ledger.charged.length).toBe(1)
    await other.stop()
    await others.stop()
  })

  it('is told the moment that its answer is cut from, not that of another answer', async () => {
    const headers = { ...(await paid()), prefer: 'log-position' }
    const told = ({ headers: given }: Answered): (string | null)[] => [
      given.get('log-position'),
      given.get('preference-applied'),
      given.get('cache-control'),
    ]
    const first = await pay(CVD, headers)
    expect(told(first)).toEqual(['derived.flow=7,9; market.tokens=3', 'log-position', 'private, no-store'])
    // What another instance made first is in the log: its moment is not known here.
    const asked = { ...(await paid()), prefer: 'log-position' }
    const keep = ledger.keep.bind(ledger)
    ledger.keep = async (answer) => keep({ ...answer, body: gzipSync('{"first":true}') })
    const other = await pay(CVD, asked)
    expect([other.body, told(other)]).toEqual([{ first: true }, [null, null, 'private, no-store']])
  })

  it('whose answer could not be kept is made again, and not charged again', async () => {
    ledger.isForgetful = true
    const headers = await paid()
    expect((await pay(CVD, headers)).status).toBe(200)
    expect((await pay(CVD, headers)).status).toBe(200)
    expect(ledger.charged.length).toBe(1)
  })

  it('has its answer for a day, and none that is made anew for nothing behind it', async () => {
    const headers = await paid()
    const first = await pay(CVD, headers)
    api.advance(DAY_MS - 1)
    expect((await pay(CVD, headers)).body).toEqual(first.body)
    api.advance(1)
    expect((await pay(CVD, headers)).body).toEqual(first.body) // it is there for up to a minute more
    ledger.answers.clear()
    const late = await pay(CVD, headers)
    expect(late).toMatchObject({ status: 402, body: { error: 'paid_time_over' } })
    expect(late.headers.get('payment-required')).not.toBe(null)
    expect(ledger.charged.length).toBe(1)
  })

  it.each(['/cvd/BTC?period=4h', '/futures/basis/BTC', '/cvd/history/BTC'])(
    'does not pay for another one: %s',
    async (path) => {
      const headers = await paid()
      await pay(CVD, headers)
      expect(await pay(path, headers)).toMatchObject({ status: 409, body: { error: 'payment_already_used' } })
      expect(ledger.charged.length).toBe(1)
    },
  )

  it('does not pay for another one while it is settled', async () => {
    const headers = await paid()
    const [one, other] = await Promise.all([pay(CVD, headers), pay('/cvd/BTC?period=4h', headers)])
    expect(new Set([one.status, other.status])).toEqual(new Set([200, 409]))
    expect(ledger.charged.length).toBe(1)
  })

  it('that nothing was there for is given that, and not charged', async () => {
    listAsset(api.database, 'wif')
    expect(await pay('/cvd/WIF', await paid())).toMatchObject({ status: 202 })
    expect(await pay('/cvd/NOPE', await paid())).toMatchObject({ status: 404 })
    expect(await pay('/cvd/BTC?period=x', await paid())).toMatchObject({ status: 400 })
    expect(await pay('/futures/basis/WIF', await paid())).toMatchObject({ status: 503 })
    api.hang(60_000)
    const stale = await pay(CVD, { ...(await paid({ now: SECONDS + 60 })) })
    expect(stale).toMatchObject({ status: 200, body: { stale: true } })
    expect(stale.headers.get('payment-response')).toBeNull()
    expect(ledger.intents).toEqual([])
  })

  it.each(['GET', 'HEAD', 'OPTIONS'] as const)('by %s is charged only where it is one', async (method) => {
    const { status } = await pay(CVD, await paid(), method)
    expect(status).toBe({ GET: 200, HEAD: 402, OPTIONS: 204 }[method])
    expect(ledger.charged.length).toBe(method === 'GET' ? 1 : 0)
  })
})

describe('a payment that others can read on the chain', () => {
  /** What they can send: the payment in either form, without its key, under one of their own, or under none that is one. */
  async function read(change: object = {}): Promise<{ own: Record<string, string>; theirs: Record<string, string>[] }> {
    const { v1, v2: own } = await signPayment({ amount: PRICE, now: SECONDS, ...change })
    const guessed = { 'payment-signature': own, 'idempotency-key': randomUUID() }
    return {
      own: { 'payment-signature': own },
      theirs: [{ 'payment-signature': own }, { 'x-payment': v1 }, guessed],
    }
  }

  const key = { 'idempotency-key': 'a-key-that-only-its-buyer-knows' }

  it('gives its answer to nobody without its key, neither before nor after it has settled', async () => {
    const { own, theirs } = await read()
    const others = await fakePayments(ledger)
    const other = await startHarness({ payments: others })
    const { promise, resolve } = Promise.withResolvers<void>()
    ledger.block = promise
    const bought = pay(CVD, { ...own, ...key })
    await expect.poll(() => ledger.intents.length).toBe(1)
    const ask = (): Promise<Answered[]> =>
      Promise.all(theirs.flatMap((headers) => [pay(CVD, headers), other.get(CVD, { headers })]))
    const early = await ask()
    resolve()
    expect((await bought).status).toBe(200)
    for (const answer of [...early, ...(await ask())])
      expect(answer).toMatchObject({ status: 409, body: { error: 'payment_already_used' } })
    expect(ledger.charged.length).toBe(1)
    await other.stop()
    await others.stop()
  })

  it('has its answer for its customer also while others ask for it', async () => {
    const { own } = await read()
    const first = await pay(CVD, { ...own, ...key })
    const { promise, resolve } = Promise.withResolvers<void>()
    const find = ledger.find.bind(ledger)
    let asked = 0
    ledger.find = async (id) => {
      asked += 1
      if (asked === 1) await promise
      return find(id)
    }
    const theirs = pay(CVD, own)
    await expect.poll(() => asked).toBe(1)
    const again = await pay(CVD, { ...own, ...key })
    resolve()
    expect([again.status, again.body, (await theirs).status]).toEqual([200, first.body, 409])
  })

  it('gives its answer again to the same request where it was sent without a key', async () => {
    const { own } = await read()
    const first = await pay(CVD, own)
    api.advance(60_000)
    const again = await pay(CVD, own)
    expect([again.status, again.body, ledger.charged.length]).toEqual([200, first.body, 1])
    expect(await pay(CVD, { ...own, ...key })).toMatchObject({ status: 409, body: { error: 'payment_already_used' } })
  })

  it('is not taken under a key that could be guessed', async () => {
    const { own } = await read()
    expect(await pay(CVD, { ...own, 'idempotency-key': 'short' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_idempotency_key', field: 'Idempotency-Key' },
    })
    expect(ledger.intents).toEqual([])
  })
})

describe('a payment that is not right', () => {
  it.each([
    ['too little', { amount: '19999' }, 'invalid_payment_requirements'],
    ['too much', { amount: '20001' }, 'invalid_payment_requirements'],
    ['to another', { to: stranger.address }, 'invalid_exact_evm_payload_recipient_mismatch'],
    ['too late', { validBefore: SECONDS + 5 }, 'invalid_exact_evm_payload_authorization_valid_before'],
    ['too long', { validBefore: SECONDS + 901 }, 'invalid_exact_evm_payload_authorization_valid_before'],
    ['too early', { validAfter: SECONDS + 60 }, 'invalid_exact_evm_payload_authorization_valid_after'],
  ])('is refused with its reason and a new offer: %s', async (_, change, reason) => {
    const answer = await pay(CVD, await paid(change))
    expect(answer).toMatchObject({ status: 402, body: { error: reason, x402Version: 1 } })
    expect(decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '')).toMatchObject({ error: reason })
    expect(receiptOf(answer)).toMatchObject({ success: false, errorReason: reason, transaction: '' })
    expect(ledger.intents).toEqual([])
  })

  it('is refused where its signature is another’s', async () => {
    const { v2: theirs } = await signPayment({ amount: PRICE, now: SECONDS, account: stranger })
    const text = Buffer.from(theirs, 'base64')
      .toString()
      .replace(stranger.address, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
    const answer = await pay(CVD, { 'payment-signature': Buffer.from(text).toString('base64') })
    expect(answer).toMatchObject({ status: 402, body: { error: 'invalid_exact_evm_payload_signature' } })
  })

  it('is no reason to look anything up where it cannot be read', async () => {
    ledger.isAway = true
    for (const header of ['x', 'e30=', 'A'.repeat(9000)])
      expect(await pay(CVD, { 'x-payment': header })).toMatchObject({
        status: 400,
        body: { error: 'invalid_payment', field: 'X-PAYMENT' },
      })
  })

  it('is refused where two headers hold two', async () => {
    const [a, b] = [
      await signPayment({ amount: PRICE, now: SECONDS }),
      await signPayment({ amount: PRICE, now: SECONDS }),
    ]
    const both = await pay(CVD, { 'payment-signature': a.v2, 'x-payment': b.v1 })
    expect(both).toMatchObject({ status: 400, body: { error: 'invalid_payment' } })
    const same = await pay(CVD, { 'payment-signature': a.v2, 'x-payment': a.v1 })
    expect(receiptOf(same)).toMatchObject({ network: 'eip155:84532' })
    expect(ledger.charged.length).toBe(1)
  })

  it('counts against a rate of its own, which those that are right do not', async () => {
    for (let n = 0; n < 41; n += 1) expect((await pay(CVD, await paid())).status).toBe(200)
    const bad = await paid({ to: stranger.address })
    for (let n = 0; n < 41; n += 1) await api.get(CVD, { method: 'HEAD', headers: bad }) // says nothing of a payment
    for (let n = 0; n < 40; n += 1) expect((await pay(CVD, bad)).status).toBe(402)
    const { status, body, headers } = await pay(CVD, await paid())
    expect([status, body['error']]).toEqual([429, 'rate_limited'])
    const told = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After']
    expect(told.map((name) => headers.get(name))).toEqual(['40', '0', '2', '1'])
    expect((await api.get(CVD)).status).toBe(402)
  })

  it.each([
    ['/cvd/BTC?period=x', {}],
    ['/price-alert', { method: 'POST', body: '{"color": "red"}' }],
  ])('counts against it where the request itself is wrong: %s', async (path, init) => {
    const wrong = (): Promise<Answered> =>
      api.get(path, { ...init, headers: { 'x-payment': 'x', 'content-type': 'application/json' } })
    for (let n = 0; n < 40; n += 1) expect((await wrong()).status).toBe(400)
    expect(await wrong()).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
  })
})

describe('a page of a browser', () => {
  it('may send payments and read what comes back', async () => {
    const { status, headers } = await api.get(CVD, { method: 'OPTIONS' })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    for (const name of ['PAYMENT-SIGNATURE', 'X-PAYMENT', 'Content-Type', 'Access-Control-Expose-Headers'])
      expect(headers.get('access-control-allow-headers')).toContain(name)
    for (const name of ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'])
      expect((await api.get(CVD)).headers.get('access-control-expose-headers')).toContain(name)
  })
})
