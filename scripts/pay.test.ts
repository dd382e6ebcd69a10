import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { fakePayments, type FakePayments } from '../api/testing/fake-payments.ts'
import { NOW, startHarness, type Harness } from '../api/testing/harness.ts'
import { closeServer, listen } from '../infra/http/ops.ts'
import { payer, payTo } from '../infra/local/chain/accounts.ts'
import { challengeOf, decodeHeader, encodeHeader } from '../processors/payments/wire/headers.ts'
import { networks, type Seller } from '../processors/payments/wire/offer.ts'
import { MarketDataClient, type ClientOptions, type Reply } from './clients/typescript/src/index.ts'
import { Payer, type Budget } from './clients/typescript/src/payer.ts'

const network = networks.find(({ chainId }) => chainId === 84_532)
if (network === undefined) throw new Error('no test network')
const { address: asset, name: assetName, version: assetVersion } = network.usdc
const seller: Seller = { network, asset, assetName, assetVersion, payTo, maxTimeoutSeconds: 300 }
const resource = { url: 'https://api.example.com/cvd/BTC', description: 'Volume delta', mimeType: 'application/json' }
const challenge = challengeOf(seller, '20000', resource, 'payment_required')
const body = JSON.stringify(challenge.body)

const unlimited: Budget = { maxPerCallUsdc: 1, totalUsdc: 1 }

describe('an offer', () => {
  const paid = (header: string | null, told: object): ReturnType<Payer['pay']> =>
    new Payer(privateKeyToAccount(payer.key), unlimited).pay({ header: () => header, body: told })

  it.each([
    [1, 'X-PAYMENT', null],
    [2, 'PAYMENT-SIGNATURE', challenge.header],
  ] as const)('of version %i is paid off one and the same 402', async (version, name, header) => {
    const { headers, usdc } = await paid(header, challenge.body)
    const read = decodeHeader(headers[name] ?? '')
    const authorization = { from: payer.address, to: payTo, value: '20000' }
    expect(usdc).toBe(0.02)
    expect(read).toMatchObject({ object: { x402Version: version, payload: { authorization } } })
  })

  it.each([1, 2])('of version %i is weighed by the amount that is signed, whatever else it names', async (version) => {
    const [offer] = challenge.body.accepts
    const trap = { ...offer, network: version === 1 ? network.v1 : network.caip2 }
    const [amount, maxAmountRequired] = version === 1 ? ['1', '2000000'] : ['2000000', '1']
    const told = { ...challenge.body, x402Version: version, accepts: [{ ...trap, amount, maxAmountRequired }] }
    const header = version === 1 ? null : Buffer.from(JSON.stringify(told)).toString('base64')
    await expect(paid(header, told)).rejects.toMatchObject({ code: 'over_max_per_call' })
  })

  it.each<[string, object]>([
    ['of a network we do not know', { network: 'eip155:1' }],
    ['of another scheme', { scheme: 'upto' }],
    ['of another token', { asset: payTo }],
    ['whose amount is a number', { amount: 20_000 }],
    ['without the name of its token', { extra: {} }],
  ])('%s is not paid', async (_what, change) => {
    const read = decodeHeader(challenge.header)
    const required = 'object' in read ? (read.object as { accepts: object[] }) : { accepts: [] }
    const header = encodeHeader({ ...required, accepts: required.accepts.map((offer) => ({ ...offer, ...change })) })
    await expect(paid(header, {})).rejects.toThrow(/Not paid|domain/)
  })
})

describe('a purchase', () => {
  let server: Server | undefined
  afterEach(async () => {
    if (server !== undefined) await closeServer(server)
  })

  const purchase = async (
    answer: RequestListener,
    { budget = unlimited, ...options }: { budget?: Budget } & Partial<ClientOptions> = {},
  ): Promise<Reply> => {
    server = createServer(answer)
    const port = await listen(server, '127.0.0.1', 0)
    const paidBy = new Payer(privateKeyToAccount(payer.key), budget)
    return new MarketDataClient({ baseUrl: `http://127.0.0.1:${port}`, payer: paidBy, ...options }).request(
      'GET',
      '/cvd/BTC',
    )
  }
  const paymentOf = ({ headers }: IncomingMessage): string => String(headers['payment-signature'] ?? '')
  const ask: RequestListener = (_request, response) =>
    void response.writeHead(402, { 'payment-required': challenge.header }).end(body)

  it('sends one and the same payment until its outcome is known, over a lost connection too', async () => {
    const seen: string[] = []
    const keys: unknown[] = []
    const bought = await purchase((request, response) => {
      const payment = paymentOf(request)
      if (payment === '') return ask(request, response)
      seen.push(payment)
      keys.push(request.headers['idempotency-key'])
      if (seen.length === 1) return void request.socket.destroy()
      if (seen.length < 4)
        return void response.writeHead(seen.length === 2 ? 503 : 429, { 'retry-after': '0.1' }).end('{}')
      response.writeHead(200, { 'payment-response': encodeHeader({ success: true }) }).end('the answer')
    })
    expect(bought).toMatchObject({ status: 200, text: 'the answer' })
    expect(decodeHeader(bought.headers.get('payment-response') ?? '')).toEqual({ object: { success: true } })
    expect(seen).toHaveLength(4)
    expect(new Set(seen).size).toBe(1)
    expect([keys[0], new Set(keys).size]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), 1])
  })

  it.each(['free', 'paid'])('of a stream that is %s shows it as it comes', async (kind) => {
    const first = Promise.withResolvers<void>()
    const stream: RequestListener = (request, response) => {
      if (kind === 'paid' && paymentOf(request) === '') return ask(request, response)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: price\n\n')
      void first.promise.then(() => response.end('event: end\n\n'))
    }
    const { status, text, events } = await purchase(stream)
    expect([status, text]).toEqual([200, ''])
    const shown: string[] = []
    for await (const bytes of events ?? []) {
      shown.push(new TextDecoder().decode(bytes))
      first.resolve()
    }
    expect(shown).toEqual(['event: price\n\n', 'event: end\n\n'])
  })

  it('of what is free pays nothing', async () => {
    const bought = await purchase((_request, response) => void response.end('free'))
    expect(bought).toMatchObject({ status: 200, text: 'free', payment: undefined })
  })

  it.each([202, 400, 429, 503])('that ends with %i before it is paid tells what was said', async (status) => {
    const answer: RequestListener = (_request, response) =>
      void response.writeHead(status, { 'retry-after': '2' }).end('{"error":"its_name"}')
    const told = await purchase(answer, { deadlineMs: 1_000 })
    expect(told).toMatchObject({ status, text: '{"error":"its_name"}', payment: undefined })
  })

  it('that is not agreed to is never signed', async () => {
    const payments: string[] = []
    const asked = purchase(
      (request, response) => {
        payments.push(paymentOf(request))
        ask(request, response)
      },
      { budget: { maxPerCallUsdc: 0.019_999, totalUsdc: 1 } },
    )
    await expect(asked).rejects.toThrow('0.02 USDC, more than 0.019999 USDC a call')
    expect(payments).toEqual([''])
  })

  it('that is refused is not paid for a second time', async () => {
    const payments: string[] = []
    const bought = await purchase((request, response) => {
      payments.push(paymentOf(request))
      ask(request, response)
    })
    expect(bought.status).toBe(402)
    expect(payments).toHaveLength(2)
  })
})

describe('npm run pay', () => {
  let payments: FakePayments
  let api: Harness
  let folder: string
  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'pay-'))
    payments = await fakePayments()
    api = await startHarness({ payments })
    api.advance(Date.now() - NOW / 1000) // it signs for now
  })
  afterEach(async () => {
    await api.stop()
    await payments.stop()
    rmSync(folder, { recursive: true })
  })

  const script = fileURLToPath(new URL('pay.ts', import.meta.url))
  interface Ran {
    readonly code: unknown
    readonly out: string
    readonly told: string
  }
  const run = (words: readonly string[], key: string = payer.key, signal?: AbortSignal): Promise<Ran> =>
    new Promise((resolve) => {
      const options = { env: { ...process.env, PAYER_KEY: key }, cwd: folder, signal }
      execFile(process.execPath, [script, '--api', api.url, ...words], options, (error, out, told) =>
        resolve({ code: error?.code ?? 0, out, told }),
      )
    })
  const paid = /^402: 0.02 USDC to 0x\w{40} on base-sepolia; paying\n200: {.*"transaction":"0x/

  it.each([
    [2, []],
    [1, ['--v1']],
  ] as const)('pays by version %i and prints the answer', { timeout: 60_000 }, async (version, flags) => {
    const bought = await run(['GET', '/cvd/BTC', ...flags])
    expect(bought).toMatchObject({
      code: 0,
      out: expect.stringContaining('"symbol": "BTC"'),
      told: expect.stringMatching(paid),
    })
    expect(payments.ledger.charged.map(({ version }) => version)).toEqual([version])
  })

  it('keeps a payment until it is answered, and sends it again', { timeout: 60_000 }, async () => {
    payments.ledger.outcome = 'pending'
    const stop = new AbortController()
    const waiting = run(['GET', '/cvd/BTC'], payer.key, stop.signal)
    await vi.waitFor(() => expect(payments.ledger.intents).toHaveLength(1), { timeout: 30_000 })
    stop.abort()
    await waiting
    const [name = ''] = readdirSync(folder)
    const file = path.join(folder, name)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    payments.ledger.outcome = 'settled'
    const again = await run(['GET', '/cvd/BTC', '--payment', file], '')
    expect(again).toMatchObject({ code: 0, told: expect.stringMatching(/^200: {.*"transaction":"0x/) })
    expect([payments.ledger.charged.length, readdirSync(folder)]).toEqual([1, []])
  })

  it('says where it keeps a payment that failed, and how to send it again', { timeout: 60_000 }, async () => {
    const server = createServer((request, response) => {
      if (request.headers['payment-signature'] !== undefined) return void response.writeHead(500).end('{}')
      response.writeHead(402, { 'payment-required': challenge.header }).end(body)
    })
    const port = await listen(server, '127.0.0.1', 0)
    const failed = await run(['GET', '/cvd/BTC', '--api', `http://127.0.0.1:${port}`])
    await closeServer(server)
    const [name = ''] = readdirSync(folder)
    expect(failed.code).toBe(1)
    expect(failed.told).toMatch(new RegExp(`500: no receipt\n.*is kept in .*${name}.*--payment .*${name}`))
    const { headers } = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as { headers: Record<string, string> }
    expect(headers).toEqual({ 'PAYMENT-SIGNATURE': expect.any(String), 'idempotency-key': expect.any(String) })
  })

  it.each(['none.json', fileURLToPath(import.meta.url)])(
    'takes no payment from %s',
    { timeout: 60_000 },
    async (file) => {
      const told = expect.stringContaining(`${file} holds no payment`)
      expect(await run(['GET', '/cvd/BTC', '--payment', file])).toEqual({ code: 2, out: '', told })
    },
  )

  it('tells where the payment of a stream is kept that nobody reads any longer, as `head` does not', async () => {
    const stream = createServer((request, response) => {
      if (request.headers['payment-signature'] === undefined)
        return void response.writeHead(402, { 'payment-required': challenge.header }).end(body)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const writing = setInterval(() => response.write('event: price\n\n'), 10)
      response.on('close', () => clearInterval(writing))
    })
    onTestFinished(() => closeServer(stream))
    const port = await listen(stream, '127.0.0.1', 0)
    const args = [script, '--api', `http://127.0.0.1:${port}`, 'GET', '/stream/BTC']
    const env = { ...process.env, PAYER_KEY: payer.key }
    const child = spawn(process.execPath, args, { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    const told = text(child.stderr)
    await once(child.stdout, 'data')
    child.stdout.destroy()
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(await told).toContain(`the payment is kept in ${path.join(folder, 'payment-')}`)
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('prints what was refused, and pays nothing for it', { timeout: 60_000 }, async () => {
    const refused = await run(['GET', '/cvd/NONE'])
    const out = expect.stringContaining('"error": "symbol_not_found"')
    expect(refused).toEqual({ code: 1, out, told: '404: nothing was asked for, nothing was paid\n' })
  })

  it('signs nothing without a key, or beyond its limit', { timeout: 60_000 }, async () => {
    const without = 'it asks for 0.02 USDC on base-sepolia: say with PAYER_KEY or PAYER_KEY_FILE who pays\n'
    expect(await run(['GET', '/cvd/BTC'], '')).toEqual({ code: 2, out: '', told: without })
    const beyond = 'Not paid: it costs 0.02 USDC, more than 0.01 USDC a call.\n'
    expect(await run(['GET', '/cvd/BTC', '--max', '0.01'])).toEqual({ code: 2, out: '', told: beyond })
    expect(payments.ledger.intents).toEqual([])
  })

  it('says which setting holds no key', { timeout: 60_000 }, async () => {
    const told = 'PAYER_KEY: not a private key; it is 64 hex digits, with or without 0x\n'
    expect(await run(['GET', '/cvd/BTC'], 'no-key')).toEqual({ code: 2, out: '', told })
  })
})
