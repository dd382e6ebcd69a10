import { createServer, type RequestListener } from 'node:http'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { fakePayments, type FakePayments } from '../../../api/testing/fake-payments.ts'
import { startCutStream } from '../../../api/testing/events.ts'
import { NOW, startHarness, type Harness } from '../../../api/testing/harness.ts'
import { closeServer, listen } from '../../../infra/http/ops.ts'
import { payer } from '../../../infra/local/chain/accounts.ts'
import { MarketDataClient } from '../typescript/src/index.ts'
import { Payer } from '../typescript/src/payer.ts'
import { can, Program, python } from './testing/program.ts'

const isNewEnough = can('import sys; assert sys.version_info >= (3, 11)')
if (!isNewEnough) console.log(`skipped: ${python} is not Python 3.11 or newer`)
const canPay = isNewEnough && can('import x402.mechanisms.evm.exact.register')
if (!canPay) console.log(`skipped: ${python} has no x402[evm]; set PYTHON to one that has`)

const alert = { symbol: 'BTC', condition: 'above', target_price: 1, webhook_url: 'https://hooks.example.com/python' }
let payments: FakePayments
let api: Harness
const programs: Program[] = []
function started(isAsync: boolean, env: Readonly<Record<string, string>> = {}): Program {
  const one = new Program(env, isAsync)
  programs.push(one)
  return one
}

beforeAll(async () => {
  payments = await fakePayments()
  api = await startHarness({ payments })
  api.advance(Date.now() - NOW / 1000) // the official client signs for now
})
afterAll(async () => {
  for (const one of programs) one.stop()
  await Promise.all([api.stop(), payments.stop()])
})

const kinds = [
  ['the client in Python', false],
  ['the client in Python for asyncio', true],
] as const

describe.skipIf(!isNewEnough).each(kinds)('%s, with its own library alone', (_name, isAsync) => {
  const running: { stop(): Promise<unknown> }[] = []
  afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())))
  let client: Program
  beforeAll(() => {
    client = started(isAsync)
  })

  it('asks what is free, and tells the API’s identifiers', async () => {
    expect((await client.call(api.url, 'pricing')).answer).toMatchObject({ payments: 'play-money' })
    const unknown = await client.call(api.url, 'price_alert', { id: 'alert_btc_1_1' })
    expect(unknown).toMatchObject({ error: 'ApiError', code: 'alert_not_found', status: 404 })
    const wrong = await client.call(api.url, 'price_alert_create', { ...alert, target_price: -1 })
    expect(wrong).toMatchObject({ error: 'ApiError', code: 'invalid_target_price', status: 400 })
    const when = { any: [{ metric: 'cvd', operator: 'becomes', value: 5 }] }
    const rule = await client.call(api.url, 'rule_alert_create', {
      symbol: 'BTC',
      when,
      webhook_url: alert.webhook_url,
    })
    const allowed = ['above', 'below', 'crosses_above', 'crosses_below', 'between', 'changes_by']
    const at = ` (at /when/any/0/operator; allowed: ${allowed.join(', ')})`
    expect(rule).toMatchObject({ code: 'invalid_rule', text: expect.stringContaining(at) as unknown })
    const dear = await client.call(api.url, 'cvd', { symbol: 'BTC', period: '4h' })
    expect(dear).toMatchObject({ error: 'PaymentRequiredError', code: 'payment_required', status: 402 })
  })

  it('takes the limits of a key away', async () => {
    const buyer = new Payer(privateKeyToAccount(payer.key), { maxPerCallUsdc: 1, totalUsdc: 1 })
    const buying = new MarketDataClient({ baseUrl: api.url, payer: buyer })
    const terms = { daily_max_usdc: 0.5, expires_in_days: 30 }
    const { key_id, api_key, expires_at } = await buying.creditBuy({ amount_usdc: 1, ...terms })
    const change = { key_id, manage_token: api_key, daily_max_usdc: null }
    const changed = await client.call(api.url, 'key_change', change)
    expect(changed.answer).toMatchObject({ daily_max_usdc: null, expires_at })
    const endless = await client.call(api.url, 'key_change', { ...change, expires_in_days: null })
    expect(endless.answer).toMatchObject({ expires_at: null })
  })

  interface Seen {
    readonly url: string
    readonly keys: unknown[]
    readonly payments: unknown[]
  }

  /** Too many requests, and come back in ten minutes. */
  const LATER = 4290

  /** Cut in the middle of its body. */
  const HALF = 2001

  /** Answers one after the other; the last one for good. 0: the connection is cut. */
  async function serving(...statuses: readonly number[]): Promise<Seen> {
    const keys: unknown[] = []
    const payments: unknown[] = []
    const listener: RequestListener = (request, response) => {
      keys.push(request.headers['idempotency-key'])
      payments.push(request.headers['payment-signature'])
      const status = statuses[Math.min(keys.length, statuses.length) - 1] ?? 0
      if (status === 0) return void request.socket.destroy()
      if (status === HALF)
        return void response
          .writeHead(200, { 'content-length': 200 })
          .write('{"alert_i', () => request.socket.destroy())
      const body = status === 200 ? { alert_id: 'x' } : { error: 'data_unavailable', message: 'Later.' }
      if (status === LATER) response.writeHead(429, { 'retry-after': '600' }).end(JSON.stringify(body))
      else response.writeHead(status, { 'retry-after': '1' }).end(JSON.stringify(body))
    }
    const server = createServer(listener)
    running.push({ stop: () => closeServer(server) })
    return { url: `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}`, keys, payments }
  }

  it('waits out 429 and 503, for as long as its tries and its deadline last', async () => {
    const busy = await serving(429, 503, 200)
    expect((await client.call(busy.url, 'price_alert', { id: 'alert_x' })).answer).toEqual({ alert_id: 'x' })
    const away = await serving(503)
    const tried = await client.call(away.url, 'price_alert', { id: 'alert_x' }, { options: { tries: 2 } })
    expect([tried.error, tried.code, away.keys.length]).toEqual(['UnavailableError', 'data_unavailable', 2])
    const late = await serving(LATER)
    const short = { options: { deadline_seconds: 20 } }
    expect((await client.call(late.url, 'price_alert', { id: 'alert_x' }, short)).error).toBe('RateLimitedError')
    expect(late.keys.length).toBe(1)
  })

  it.each([
    ['UnavailableError', 503],
    ['NoAnswerError', 0],
  ] as const)('gives back payment and key with %s, and sends them again', async (error, status) => {
    const paying = started(isAsync, { SIGNS: 'one payment after the other' })
    const busy = await serving(402, status, 200)
    const options = { options: { tries: 2 } }
    expect(await paying.call(busy.url, 'price_alert_create', alert, options)).toMatchObject({ error, paid: 'signed 1' })
    const again = await paying.call(busy.url, 'price_alert_create', alert, { hands_back: 'payment' })
    expect(again.answer).toEqual({ alert_id: 'x' })
    expect([busy.payments, new Set(busy.keys).size]).toEqual([[undefined, 'signed 1', 'signed 1'], 1])
    const free = await serving(0, 200)
    await paying.call(free.url, 'price_alert_create', alert, { options: { tries: 1 } })
    await paying.call(free.url, 'price_alert_create', alert, { hands_back: 'idempotency_key' })
    expect([free.keys.length, new Set(free.keys).size]).toEqual([2, 1])
  })

  it('repeats an extension under one Idempotency-Key, and sends it again with it', async () => {
    const owner = { id: 'alert_x', manage_token: 't' }
    const busy = await serving(0, 503, 503, 200)
    const { error } = await client.call(busy.url, 'price_alert_extend', owner, { options: { tries: 3 } })
    expect(error).toBe('UnavailableError')
    const again = await client.call(busy.url, 'price_alert_extend', owner, { hands_back: 'idempotency_key' })
    expect(again.answer).toEqual({ alert_id: 'x' })
    expect([busy.keys.length, new Set(busy.keys)]).toEqual([4, new Set([expect.stringMatching(/^[0-9a-f-]{36}$/)])])
  })

  it('sends a key with each payment, again with it', async () => {
    const paying = started(isAsync, { SIGNS: 'one payment after the other' })
    const owner = { id: 'alert_x', manage_token: 't' }
    for (const [call, input] of Object.entries({ cvd: { symbol: 'BTC' }, price_alert_extend: owner })) {
      const busy = await serving(402, 503, 200)
      await paying.call(busy.url, call, input, { options: { tries: 2 } })
      await paying.call(busy.url, call, input, { hands_back: 'payment' })
      const [, ...keys] = busy.keys
      expect([keys.length, keys[0], new Set(keys).size]).toEqual([2, expect.stringMatching(/^[0-9a-f-]{36}$/), 1])
    }
  })

  it('gives no payment back that was refused, and signs no other in its place', async () => {
    const paying = started(isAsync, { SIGNS: 'one payment after the other' })
    const refusing = await serving(402)
    const refused = await paying.call(refusing.url, 'cvd', { symbol: 'BTC' })
    expect(refused).toMatchObject({ error: 'PaymentRequiredError', paid: null })
    const busy = await serving(402, 503, 402)
    await paying.call(busy.url, 'cvd', { symbol: 'BTC' }, { options: { tries: 2 } })
    const late = await paying.call(busy.url, 'cvd', { symbol: 'BTC' }, { hands_back: 'payment' })
    expect(late).toMatchObject({ error: 'PaymentRequiredError', paid: null })
    expect(busy.payments.length).toBe(3)
  })

  it('listens, and goes on behind the last event where it was cut', async () => {
    const stream = await startCutStream()
    running.push(stream)
    const { answer } = await client.call(stream.url, 'stream', { symbols: ['BTC'], channels: ['price'] })
    expect(answer).toEqual({
      events: [
        { name: 'price', id: '1', data: { price: 1 } },
        { name: 'price', id: '2', data: { price: 2 } },
        { name: 'price', id: '2', data: { price: 9 } },
        { name: 'end', id: '2', data: { reason: 'time_over' } },
      ],
    })
    expect(stream.seen).toEqual([undefined, '1'])
  })

  it('leaves a stream that goes on', async () => {
    const stream = await startCutStream()
    running.push(stream)
    const input = { symbols: ['BTC'], channels: ['price'] }
    const { answer } = await client.call(stream.url, 'stream', input, { events: 2 })
    expect((answer?.['events'] as unknown[] | undefined)?.length).toBe(2)
    expect((await client.call(api.url, 'pricing')).answer).toMatchObject({ payments: 'play-money' })
  })

  it('repeats a creation under one key, and nothing that may have been done', async () => {
    const cut = await serving(0, 200)
    expect((await client.call(cut.url, 'price_alert_create', alert)).answer).toEqual({ alert_id: 'x' })
    expect([cut.keys.length, new Set(cut.keys).size]).toEqual([2, 1])
    const half = await serving(HALF, 200)
    expect((await client.call(half.url, 'price_alert_create', alert)).answer).toEqual({ alert_id: 'x' })
    expect([half.keys.length, new Set(half.keys).size]).toEqual([2, 1])
    const owner = { id: 'alert_x', manage_token: 't' }
    const away = await serving(0)
    expect(await client.call(away.url, 'price_alert_cancel', owner)).toMatchObject({ error: 'NoAnswerError' })
    expect(away.keys.length).toBe(1)
  })
})

describe.skipIf(!canPay).each(kinds)('%s, with the official package', (_name, isAsync) => {
  it('pays for a stream once, and hears it to its end', async () => {
    const client = started(isAsync, { PAYER_KEY: payer.key, MAX_PER_CALL_USDC: '0.1', BUDGET_USDC: '0.1' })
    const { answer, spent } = await client.call(api.url, 'stream', { symbols: ['BTC'], seconds: 1 })
    const names = (answer?.['events'] as { name: string }[] | undefined)?.map(({ name }) => name)
    expect([names, spent]).toEqual([['cvd', 'price', 'funding', 'ready', 'end'], 0.1])
  })

  it('is charged once for credit whose payment takes longer to settle than the call', async () => {
    const bought = (): number => payments.ledger.charged.filter(({ route }) => route === '/credit').length
    const before = bought()
    const client = started(isAsync, { PAYER_KEY: payer.key, MAX_PER_CALL_USDC: '1', BUDGET_USDC: '1' })
    payments.ledger.outcome = 'pending'
    const open = await client.call(api.url, 'credit_buy', {}, { options: { tries: 2 } })
    payments.ledger.outcome = 'settled'
    expect(open).toMatchObject({ error: 'UnavailableError', code: 'settlement_pending', spent: 1 })
    const { answer, spent } = await client.call(api.url, 'credit_buy', {}, { hands_back: 'payment' })
    expect([answer?.['amount_usdc'], spent, bought() - before]).toEqual([1, 1, 1])
  })

  it('pays within its budget, refused before it signs', async () => {
    const others = (): number =>
      payments.ledger.charged.filter(({ route }) => !['/stream', '/credit'].includes(route)).length
    const before = others()
    const key = `a-key-of-this-test-${String(isAsync)}`
    const budget = { MAX_PER_CALL_USDC: '0.04', BUDGET_USDC: '0.13' }
    const client = started(isAsync, { PAYER_KEY: payer.key, ...budget })
    const paid = await client.call(api.url, 'cvd', { symbol: 'BTC' })
    expect(paid).toMatchObject({ answer: { symbol: 'BTC', period: '1h' }, spent: 0.02 })
    const dear = await client.call(api.url, 'liquidation_heatmap', { symbol: 'BTC' })
    expect(dear).toMatchObject({ error: 'NotPaidError', code: 'over_max_per_call', spent: 0.02 })
    const made = await client.call(api.url, 'price_alert_create', { ...alert, idempotency_key: key })
    const again = await client.call(api.url, 'price_alert_create', { ...alert, idempotency_key: key })
    expect([again.answer?.['alert_id'], again.spent]).toEqual([made.answer?.['alert_id'], 0.1])
    const owner = { id: made.answer?.['alert_id'], manage_token: made.answer?.['manage_token'] }
    expect((await client.call(api.url, 'price_alert_cancel', owner)).answer).toMatchObject({ status: 'cancelled' })
    await client.call(api.url, 'ohlcv', { symbol: 'BTC' })
    const over = await client.call(api.url, 'basis', { symbol: 'BTC' })
    expect(over).toMatchObject({ error: 'NotPaidError', code: 'over_total', spent: 0.12 })
    expect(others() - before).toBe(3)
  })
})
