import { createServer, type RequestListener, type Server } from 'node:http'
import { inspect } from 'node:util'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakePayments, payer as account, type FakePayments } from '../../../api/testing/fake-payments.ts'
import { startCutStream } from '../../../api/testing/events.ts'
import { NOW, startHarness, type Harness } from '../../../api/testing/harness.ts'
import { closeServer, listen } from '../../../infra/http/ops.ts'
import {
  ApiError,
  MarketDataClient,
  NoAnswerError,
  NotPaidError,
  PaymentRequiredError,
  RateLimitedError,
  UnavailableError,
  type ClientOptions,
} from './src/index.ts'
import { Payer, type Budget } from './src/payer.ts'

const running: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

const alert = {
  symbol: 'BTC',
  condition: 'above',
  target_price: 1,
  webhook_url: 'https://hooks.example.com/x',
} as const
const dollar: Budget = { maxPerCallUsdc: 0.1, totalUsdc: 1 }

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no failure',
    (error: unknown) => error,
  )
}

describe('on the API', () => {
  let payments: FakePayments
  let api: Harness
  beforeEach(async () => {
    payments = await fakePayments()
    api = await startHarness({ payments })
    api.advance(Date.now() - NOW / 1000) // the official client signs for now
    running.push(api, payments)
  })

  const client = (options: Partial<ClientOptions> = {}): MarketDataClient =>
    new MarketDataClient({ baseUrl: api.url, ...options })

  it('asks for what is free without paying', async () => {
    expect((await client().pricing()).payments).toBe('play-money')
    expect((await client().priceAlerts()).count).toBe(0)
  })

  it('says what it costs where nobody pays', async () => {
    const error = await failure(client().cvd({ symbol: 'BTC' }))
    expect(error).toBeInstanceOf(PaymentRequiredError)
    expect((error as PaymentRequiredError).code).toBe('payment_required')
  })

  it('pays with the official client, and says what it spent', async () => {
    const payer = new Payer(account, dollar)
    const answer = await client({ payer }).cvd({ symbol: 'BTC', period: '4h' })
    expect([answer.symbol, answer.period, payer.spentUsdc, payer.leftUsdc]).toEqual(['BTC', '4h', 0.02, 0.98])
    expect(payments.ledger.charged.length).toBe(1)
  })

  it('pays for a stream once, and hears it to its end', async () => {
    const payer = new Payer(account, { maxPerCallUsdc: 0.1, totalUsdc: 0.1 })
    const receipts: unknown[] = []
    const onPaid = (_paid: unknown, receipt: string | null): number => receipts.push(receipt)
    const names: string[] = []
    const prices: string[] = []
    for await (const event of client({ payer }).stream({ symbols: ['BTC'], seconds: 1 }, { onPaid })) {
      names.push(event.name)
      if (event.name === 'price') prices.push(event.data.symbol)
    }
    expect(prices).toEqual(['BTC'])
    expect(names).toEqual(['cvd', 'price', 'funding', 'ready', 'end'])
    expect([receipts, payer.spentUsdc]).toEqual([[expect.any(String)], 0.1])
    const refused = client({ payer }).stream({ symbols: ['nope'] })
    expect(await failure(refused.next())).toMatchObject({ code: 'symbol_not_found' })
  })

  it('lets go of a stream that nobody hears any more', async () => {
    const payer = new Payer(account, { maxPerCallUsdc: 0.1, totalUsdc: 0.1 })
    for await (const { name } of client({ payer }).stream({ symbols: ['BTC'] })) if (name === 'ready') break
    expect(payments.ledger.charged.length).toBe(1)
    await api.stop()
  })

  it.each([
    ['over_max_per_call', { maxPerCallUsdc: 0.019_999, totalUsdc: 1 }],
    ['over_total', { maxPerCallUsdc: 1, totalUsdc: 0.039_999 }],
    ['unknown_offer', { ...dollar, networks: ['eip155:8453'] }],
  ] as const)('refuses to sign what is %s', async (code, budget) => {
    const payer = new Payer(account, budget)
    const asking = client({ payer })
    const calls = code === 'over_total' ? 1 : 0
    for (let n = 0; n < calls; n++) await asking.cvd({ symbol: 'BTC' })
    const error = await failure(asking.cvd({ symbol: 'BTC', period: '4h' }))
    expect(error).toBeInstanceOf(NotPaidError)
    expect([(error as NotPaidError).code, payments.ledger.charged.length]).toEqual([code, calls])
  })

  it('keeps to its budget when many calls are made at once', async () => {
    const payer = new Payer(account, { maxPerCallUsdc: 0.02, totalUsdc: 0.06 })
    const asking = client({ payer })
    const periods = ['1h', '4h', '24h', '7d', '1h', '4h'] as const
    const done = await Promise.allSettled(periods.map((period) => asking.cvd({ symbol: 'BTC', period })))
    expect(done.filter(({ status }) => status === 'fulfilled').length).toBe(3)
    expect([payer.spentUsdc, payments.ledger.charged.length]).toEqual([0.06, 3])
  })

  it('creates an alert once per key, looks at it, tests it and cancels it', async () => {
    const asking = client({ payer: new Payer(account, dollar) })
    const key = { idempotencyKey: 'the-alert-of-this-test' }
    const made = await asking.priceAlertCreate(alert, key)
    expect((await asking.priceAlertCreate(alert, key)).alert_id).toBe(made.alert_id)
    const owner = { id: made.alert_id, manage_token: made.manage_token }
    expect((await asking.priceAlert({ id: made.alert_id })).status).toBe('active')
    expect((await asking.priceAlertTest(owner)).trigger_id).toContain(made.alert_id)
    expect((await asking.priceAlertDeliveries({ ...owner, limit: 5 })).count).toBe(0)
    expect((await asking.priceAlertCancel(owner)).status).toBe('cancelled')
    expect(await failure(asking.priceAlertCancel(owner))).toMatchObject({ code: 'alert_not_active', status: 409 })
  })

  it('is charged once for credit whose payment takes longer to settle than the call', async () => {
    payments.ledger.outcome = 'pending'
    const payer = new Payer(account, { maxPerCallUsdc: 1, totalUsdc: 1 })
    const asking = client({ payer, tries: 2 })
    const error = (await failure(asking.creditBuy())) as UnavailableError
    expect([error.code, error.payment?.usdc]).toEqual(['settlement_pending', 1])
    payments.ledger.outcome = 'settled'
    const made = await asking.creditBuy({}, { payment: error.payment })
    expect([made.amount_usdc, payer.spentUsdc, payments.ledger.charged.length]).toEqual([1, 1, 1])
  })

  it('extends once by an API key under one Idempotency-Key, and is charged once', async () => {
    const buyer = client({ payer: new Payer(account, { maxPerCallUsdc: 1, totalUsdc: 1 }) })
    const { key_id, api_key } = await buyer.creditBuy({ amount_usdc: 1 })
    const apiKey = api_key ?? ''
    const asking = client({ apiKey, tries: 2 })
    const { alert_id: id, expires_at } = await asking.priceAlertCreate(alert)
    api.alerts.isSlow = true
    const error = (await failure(asking.priceAlertExtend({ id, add_hours: 24 }))) as UnavailableError
    expect([error.code, api.alerts.commands.length]).toEqual(['data_unavailable', 3])
    api.alerts.isSlow = false
    const { idempotencyKey } = error
    const extended = await asking.priceAlertExtend({ id, add_hours: 24 }, { idempotencyKey })
    expect(Date.parse(extended.expires_at ?? '') - Date.parse(expires_at ?? '')).toBe(86_400_000)
    await payments.credit.purses.flush()
    expect((await asking.key({ key_id, manage_token: apiKey })).balance_usdc).toBe(0.94)
  })

  it('takes the limits of a key away', async () => {
    const terms = { daily_max_usdc: 0.5, expires_in_days: 30 }
    const asking = client({ payer: new Payer(account, { maxPerCallUsdc: 1, totalUsdc: 1 }) })
    const { key_id, api_key, expires_at } = await asking.creditBuy({ amount_usdc: 1, ...terms })
    const change = { key_id, manage_token: api_key ?? '', daily_max_usdc: null }
    expect(await asking.keyChange(change)).toMatchObject({ daily_max_usdc: null, expires_at })
    expect(await asking.keyChange({ ...change, expires_in_days: null })).toMatchObject({ expires_at: null })
  })

  it('goes on with a paid stream of which it lost hold, for the same payment', async () => {
    const payer = new Payer(account, dollar)
    const asking = client({ payer, tries: 2 })
    payments.ledger.outcome = 'pending'
    const error = (await failure(asking.stream({ symbols: ['BTC'], seconds: 1 }).next())) as UnavailableError
    payments.ledger.outcome = 'settled'
    const receipts: unknown[] = []
    const onPaid = (_paid: unknown, receipt: string | null): number => receipts.push(receipt)
    const options = { payment: error.payment, onPaid }
    const names: string[] = []
    for await (const { name } of asking.stream({ symbols: ['BTC'], seconds: 1 }, options)) names.push(name)
    expect([names.at(-1), receipts.length, payer.spentUsdc]).toEqual(['end', 1, 0.1])
  })

  it('tells the API’s identifiers', async () => {
    const unknown = await failure(client().priceAlert({ id: 'alert_btc_1_1' }))
    expect(unknown).toBeInstanceOf(ApiError)
    expect(unknown).toMatchObject({ status: 404, code: 'alert_not_found' })
    const wrong = await failure(client().priceAlertCreate({ ...alert, target_price: -1 }))
    expect(wrong).toMatchObject({ status: 400, code: 'invalid_target_price', told: { field: 'target_price' } })
    const when = { any: [{ metric: 'cvd' as const, operator: 'becomes' as const, value: 5 }] }
    const rule = await failure(client().ruleAlertCreate({ symbol: 'BTC', when, webhook_url: alert.webhook_url }))
    const allowed = ['above', 'below', 'crosses_above', 'crosses_below', 'between', 'changes_by']
    expect(rule).toMatchObject({ code: 'invalid_rule', told: { pointer: '/when/any/0/operator', allowed } })
    expect(String(rule)).toMatch(/\(at \/when\/any\/0\/operator; allowed: above, .* changes_by\)$/)
  })
})

describe('on a server that fails', () => {
  let server: Server
  let seen: { headers: Readonly<Record<string, unknown>>; method: string | undefined }[]

  /** Answers one after the other; the last one for good. */
  async function serving(
    ...answers: readonly (readonly [number, object, Record<string, string>?] | 'cut')[]
  ): Promise<string> {
    seen = []
    const listener: RequestListener = (request, response) => {
      seen.push({ headers: request.headers, method: request.method })
      const answer = answers[Math.min(seen.length, answers.length) - 1]
      if (answer === undefined || answer === 'cut') return void request.socket.destroy()
      const [status, body, headers = {}] = answer
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    }
    server = createServer(listener)
    running.push({ stop: () => closeServer(server) })
    return `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}`
  }

  const busy = [429, { error: 'rate_limited', message: 'Later.' }, { 'retry-after': '1' }] as const
  const down = [
    503,
    { error: 'data_unavailable', message: 'Later.', request_id: 'r1' },
    { 'retry-after': '1' },
  ] as const
  const full = [503, { error: 'overloaded', message: 'Later.' }, { 'retry-after': '1' }] as const
  const fine = [200, { alert_id: 'x' }] as const
  const owner = { id: 'alert_x', manage_token: 't' }

  it('waits as long as it is told to, and asks again', async () => {
    const client = new MarketDataClient({ baseUrl: await serving(busy, fine) })
    const began = performance.now()
    expect(await client.priceAlert({ id: 'alert_x' })).toEqual({ alert_id: 'x' })
    expect(performance.now() - began).toBeGreaterThan(990)
  })

  it('gives up after its tries with the last error', async () => {
    const limited = new MarketDataClient({ baseUrl: await serving(busy), tries: 2 })
    expect(await failure(limited.priceAlert({ id: 'alert_x' }))).toBeInstanceOf(RateLimitedError)
    expect(seen.length).toBe(2)
    const away = new MarketDataClient({ baseUrl: await serving(down), tries: 1 })
    const error = await failure(away.priceAlert({ id: 'alert_x' }))
    expect(error).toBeInstanceOf(UnavailableError)
    expect(error).toMatchObject({ code: 'data_unavailable', told: { requestId: 'r1', retryAfterSeconds: 1 } })
  })

  it('gives up once its signal is aborted, and asks no more', async () => {
    const client = new MarketDataClient({ baseUrl: await serving([429, busy[1], { 'retry-after': '20' }]) })
    const stop = new AbortController()
    const asked = failure(client.priceAlert({ id: 'alert_x' }, { signal: stop.signal }))
    await vi.waitFor(() => expect(seen.length).toBe(1))
    stop.abort()
    expect(await asked).toBeInstanceOf(NoAnswerError)
    expect(await failure(client.priceAlert({ id: 'alert_x' }, { signal: stop.signal }))).toBeInstanceOf(NoAnswerError)
    expect(seen.length).toBe(1)
  })

  it('does not begin a wait that would end beyond its deadline', async () => {
    const later = [503, down[1], { 'retry-after': '600' }] as const
    const client = new MarketDataClient({ baseUrl: await serving(later), deadlineMs: 20_000 })
    expect(await failure(client.priceAlert({ id: 'alert_x' }))).toBeInstanceOf(UnavailableError)
    expect(seen.length).toBe(1)
  })

  it('goes on with a stream behind the last event where it was cut', async () => {
    const stream = await startCutStream()
    running.push(stream)
    const events: unknown[] = []
    const client = new MarketDataClient({ baseUrl: stream.url })
    for await (const event of client.stream({ symbols: ['BTC'], last_event_id: '0' })) events.push(event)
    expect(events).toEqual([
      { name: 'price', id: '1', data: { price: 1 } },
      { name: 'price', id: '2', data: { price: 2 } },
      { name: 'price', id: '2', data: { price: 9 } },
      { name: 'end', id: '2', data: { reason: 'time_over' } },
    ])
    expect(stream.seen).toEqual(['0', '1'])
  })

  it('repeats a creation and an extension under one Idempotency-Key', async () => {
    for (const call of [
      (client: MarketDataClient) => client.priceAlertCreate(alert),
      (client: MarketDataClient) => client.priceAlertExtend(owner),
    ]) {
      await call(new MarketDataClient({ baseUrl: await serving('cut', down, fine) }))
      const keys = seen.map(({ headers }) => headers['idempotency-key'])
      expect([keys.length, new Set(keys)]).toEqual([3, new Set([expect.stringMatching(/^[0-9a-f-]{36}$/)])])
    }
  })

  it('does not repeat what may have been done: a cancel, a test event', async () => {
    for (const answer of ['cut', down] as const) {
      const client = new MarketDataClient({ baseUrl: await serving(answer) })
      for (const call of ['priceAlertCancel', 'priceAlertTest'] as const) {
        expect(await failure(client[call](owner))).toBeInstanceOf(answer === 'cut' ? NoAnswerError : UnavailableError)
      }
      expect(seen.length).toBe(2)
    }
    const client = new MarketDataClient({ baseUrl: await serving(full, fine) })
    expect(await client.priceAlertCancel(owner)).toEqual({ alert_id: 'x' })
  })

  /** What a paid route is answered with. */
  async function offered(): Promise<readonly [number, object, Record<string, string>]> {
    const payments = await fakePayments()
    const api = await startHarness({ payments })
    running.push(api, payments)
    const asked = await fetch(`${api.url}/cvd/BTC`)
    const header = asked.headers.get('payment-required') ?? ''
    return [402, (await asked.json()) as object, { 'payment-required': header }]
  }

  it('sends one payment until the answer is there', async () => {
    const offer = await offered()
    const payer = new Payer(privateKeyToAccount(`0x${'11'.repeat(32)}`), dollar)
    const client = new MarketDataClient({ baseUrl: await serving(offer, 'cut', down, fine), payer })
    await client.cvd({ symbol: 'BTC' })
    const sent = seen.map((request) => request.headers['payment-signature'])
    expect([sent.length, sent[0], new Set(sent.slice(1)).size, payer.spentUsdc]).toEqual([4, undefined, 1, 0.02])
    const [, ...keys] = seen.map((request) => request.headers['idempotency-key'])
    expect([keys[0], new Set(keys).size]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), 1])
    await client.cvd({ symbol: 'BTC' })
    expect(keys).not.toContain(seen.at(-1)?.headers['idempotency-key'])
  })

  it('sends a key with each payment: of a question, a stream and an extension, again with its payment', async () => {
    const offer = await offered()
    const payer = new Payer(account, dollar)
    const calls = [
      (client: MarketDataClient, options: object) => client.cvd({ symbol: 'BTC' }, options),
      (client: MarketDataClient, options: object) => client.stream({ symbols: ['BTC'] }, options).next(),
      (client: MarketDataClient, options: object) => client.priceAlertExtend(owner, options),
    ]
    for (const call of calls) {
      const client = new MarketDataClient({ baseUrl: await serving(offer, 'cut'), payer, tries: 2 })
      const { payment } = (await failure(call(client, {}))) as NoAnswerError
      await failure(call(client, { payment }))
      const [, ...keys] = seen.map(({ headers }) => headers['idempotency-key'])
      expect([keys.length, new Set(keys)]).toEqual([3, new Set([payment?.idempotencyKey])])
      expect(payment?.idempotencyKey).toHaveLength(36)
    }
  })

  it('pays nothing twice where its payment is refused', async () => {
    const payer = new Payer(account, dollar)
    const client = new MarketDataClient({ baseUrl: await serving(await offered()), payer })
    const error = (await failure(client.cvd({ symbol: 'BTC' }))) as PaymentRequiredError
    expect(error).toBeInstanceOf(PaymentRequiredError)
    expect([seen.length, payer.spentUsdc, error.payment]).toEqual([2, 0.02, undefined])
  })

  const pending = [503, { error: 'settlement_pending', message: 'Later.' }, { 'retry-after': '5' }] as const

  it.each([
    ['whose payment is still being settled', pending, UnavailableError],
    ['whose connection was lost', 'cut', NoAnswerError],
  ] as const)('gives back payment and key of a call %s, and sends them again', async (_what, answer, kind) => {
    const payer = new Payer(account, dollar)
    const client = new MarketDataClient({ baseUrl: await serving(await offered(), answer, fine), payer, tries: 2 })
    const error = (await failure(client.priceAlertCreate(alert))) as NoAnswerError | UnavailableError
    expect(error).toBeInstanceOf(kind)
    const { payment } = error
    expect(inspect(error)).not.toContain(payment?.headers['PAYMENT-SIGNATURE'])
    expect(await client.priceAlertCreate(alert, { payment })).toEqual({ alert_id: 'x' })
    const sent = seen.map(({ headers }) => headers['payment-signature'])
    expect([sent.length, sent[0], new Set(sent.slice(1)).size, payer.spentUsdc]).toEqual([3, undefined, 1, 0.02])
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([error.idempotencyKey]))
  })

  it('sends a caller’s own headers in place of its own, in whatever case they are written', async () => {
    const payer = new Payer(account, dollar)
    const client = new MarketDataClient({ baseUrl: await serving(await offered(), fine), payer })
    const headers = { 'Idempotency-Key': 'the-key-of-the-caller', 'Content-Type': 'application/problem+json' }
    const { payment } = await client.request('POST', '/price-alert', { body: '{}', headers })
    const sent = seen.map(({ headers: said }) => [said['idempotency-key'], said['content-type']])
    expect(sent).toEqual([Object.values(headers), Object.values(headers)])
    expect(payment?.idempotencyKey).toBe('the-key-of-the-caller')
  })

  it('gives back the key of a creation that nobody paid for', async () => {
    const client = new MarketDataClient({ baseUrl: await serving('cut', fine), tries: 1 })
    const { payment, idempotencyKey } = (await failure(client.priceAlertCreate(alert))) as NoAnswerError
    expect(await client.priceAlertCreate(alert, { payment, idempotencyKey })).toEqual({ alert_id: 'x' })
    expect([payment, new Set(seen.map(({ headers }) => headers['idempotency-key']))]).toEqual([
      undefined,
      new Set([idempotencyKey]),
    ])
  })

  it('signs no other payment where the one that it was given is refused', async () => {
    const payer = new Payer(account, dollar)
    const client = new MarketDataClient({ baseUrl: await serving(await offered()), payer })
    const payment = { headers: { 'payment-signature': 'x' }, usdc: 1 }
    const error = (await failure(client.cvd({ symbol: 'BTC' }, { payment }))) as PaymentRequiredError
    expect(error).toBeInstanceOf(PaymentRequiredError)
    expect([seen.length, payer.spentUsdc, error.payment]).toEqual([1, 0, undefined])
  })
})
