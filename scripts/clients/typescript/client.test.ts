import { createServer, type RequestListener, type Server } from 'node:http'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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

  it('tells the API’s identifiers', async () => {
    const unknown = await failure(client().priceAlert({ id: 'alert_btc_1_1' }))
    expect(unknown).toBeInstanceOf(ApiError)
    expect(unknown).toMatchObject({ status: 404, code: 'alert_not_found' })
    const wrong = await failure(client().priceAlertCreate({ ...alert, target_price: -1 }))
    expect(wrong).toMatchObject({ status: 400, code: 'invalid_target_price', told: { field: 'target_price' } })
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

  it('repeats a creation under one Idempotency-Key', async () => {
    const client = new MarketDataClient({ baseUrl: await serving('cut', fine) })
    await client.priceAlertCreate(alert)
    const keys = seen.map(({ headers }) => headers['idempotency-key'])
    expect([keys.length, new Set(keys).size]).toEqual([2, 1])
  })

  it('does not repeat what may have been done: a cancel, an extension, a test event', async () => {
    const owner = { id: 'alert_x', manage_token: 't' }
    for (const answer of ['cut', down] as const) {
      const client = new MarketDataClient({ baseUrl: await serving(answer) })
      for (const call of ['priceAlertCancel', 'priceAlertExtend', 'priceAlertTest'] as const) {
        expect(await failure(client[call](owner))).toBeInstanceOf(answer === 'cut' ? NoAnswerError : UnavailableError)
      }
      expect(seen.length).toBe(3)
    }
    const client = new MarketDataClient({ baseUrl: await serving(full, fine) })
    expect(await client.priceAlertCancel(owner)).toEqual({ alert_id: 'x' })
  })

  it('sends one payment until the answer is there', async () => {
    const payments = await fakePayments()
    const api = await startHarness({ payments })
    running.push(api, payments)
    const asked = await fetch(`${api.url}/cvd/BTC`)
    const header = asked.headers.get('payment-required') ?? ''
    const offer = [402, (await asked.json()) as object, { 'payment-required': header }] as const
    const payer = new Payer(privateKeyToAccount(`0x${'11'.repeat(32)}`), dollar)
    const client = new MarketDataClient({ baseUrl: await serving(offer, 'cut', down, fine), payer })
    await client.cvd({ symbol: 'BTC' })
    const sent = seen.map((request) => request.headers['payment-signature'])
    expect([sent.length, sent[0], new Set(sent.slice(1)).size, payer.spentUsdc]).toEqual([4, undefined, 1, 0.02])
  })

  it('pays nothing twice where its payment is refused', async () => {
    const payments = await fakePayments()
    const api = await startHarness({ payments })
    running.push(api, payments)
    const asked = await fetch(`${api.url}/cvd/BTC`)
    const header = asked.headers.get('payment-required') ?? ''
    const offer = [402, (await asked.json()) as object, { 'payment-required': header }] as const
    const payer = new Payer(account, dollar)
    const client = new MarketDataClient({ baseUrl: await serving(offer), payer })
    expect(await failure(client.cvd({ symbol: 'BTC' }))).toBeInstanceOf(PaymentRequiredError)
    expect([seen.length, payer.spentUsdc]).toEqual([2, 0.02])
  })
})
