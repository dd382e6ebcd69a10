import { randomUUID } from 'node:crypto'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { parseAbiItem } from 'viem'
import { generatePrivateKey, privateKeyToAddress, type PrivateKeyAccount } from 'viem/accounts'
import { hotWallet, payTo, token } from '../../infra/local/chain/accounts.ts'
import type { Child } from '../../infra/local/child.ts'
import { atomicUnits } from '../../processors/payments/wire/offer.ts'
import { routes } from '../routes.ts'
import { HOOK, priceBody, riskBody, ruleBody, textOf } from '../testing/alert-calls.ts'
import { ask as asking, signedNow, type Answered } from '../testing/paid-calls.ts'
import { PaidSystem } from '../testing/paid-system.ts'
import { endpoints } from '../testing/specification.ts'

/** Who pays as they should, and who sends a payment more often than once. */

const CVD = '/cvd/BTC'
const PRICE = 20_000n
const PATIENCE = 240_000

let system: PaidSystem
let first: Child
let second: Child
let settling: Child

beforeAll(async () => {
  system = await PaidSystem.open(inject('parts'))
  ;({ first, second, settling } = await system.startAll())
  await system.awaitMarket(
    first.url,
    await system.payer(20_000_000n),
    endpoints.map(({ ask }) => ask),
  )
}, PATIENCE)

afterAll(() => system?.stopEven(), PATIENCE)

const ask = (
  api: Child,
  target: string,
  headers: Record<string, string> = {},
  init: RequestInit = {},
): Promise<Answered> => asking(system.books, api.url + target, headers, init)

async function signedBy(account: PrivateKeyAccount, amount = PRICE): Promise<Record<string, string>> {
  return {
    'payment-signature': (await signedNow(account, { amount: String(amount) })).v2,
    'idempotency-key': randomUUID(),
  }
}

const isPaid = ({ headers }: Answered): boolean =>
  decodePaymentResponseHeader(headers.get('payment-response') ?? '').success

/** A further instance, which has read the payments that there are. */
async function instance(): Promise<Child> {
  const headers = await signedBy(await system.payer())
  await ask(first, CVD, headers)
  const api = await system.start('api/main.ts')
  await vi.waitFor(async () => expect((await ask(api, CVD, headers)).status).toBe(200), { timeout: PATIENCE })
  return api
}

/** Questions with a price: those of the specification, and ours beside them. */
const questions = [
  ...endpoints.map(({ path, ask: target }) => [path, target] as const),
  ...[
    '/futures/basis/history/:symbol',
    '/futures/long-short/history/:symbol',
    '/futures/open-interest/:symbol',
    '/futures/open-interest/history/:symbol',
    '/liquidation/heatmap/history/:symbol',
    '/liquidation/history/:symbol',
    '/screener',
  ].map((path) => [path, path.replace(':symbol', 'BTC')] as const),
]

function priceOf(path: string): bigint {
  return BigInt(atomicUnits(routes.find((row) => row.path === path)?.priceUsdc ?? 0))
}

/** Where alerts are created and listed, with what, for how much; what their extension costs. */
const creations = [
  ['/price-alert', '/price-alerts', priceBody(), '40000', '20000'],
  ['/liquidation/alert', '/liquidation/alerts', riskBody(), '60000', '30000'],
  ['/alerts', '/alerts', ruleBody(), '60000', '30000'],
] as const

describe('the official client of version 2', () => {
  it('pays every route that has a price', () => {
    const tried = questions.map(([path]) => `GET ${path}`)
    tried.push('GET /stream', 'POST /credit')
    for (const [path] of creations) tried.push(`POST ${path}`, `POST ${path}/:id/extend`)
    const priced = routes.filter(({ priceUsdc }) => priceUsdc > 0)
    expect(new Set(tried)).toEqual(new Set(priced.map(({ method, path }) => `${method} ${path}`)))
  })

  it.each(questions)('pays %s unmodified, exactly its price', async (path, target) => {
    const price = priceOf(path)
    const account = await system.payer(price)
    const before = await system.balance()
    const response = await system.buyer(account)(first.url + target)
    expect([response.status, await response.json()]).toEqual([200, expect.any(Object)])
    const receipt = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
    expect(receipt).toMatchObject({ success: true, network: 'eip155:84532', amount: String(price) })
    expect([await system.balance(account.address), (await system.balance()) - before]).toEqual([0n, price])
  })

  it('pays an hour of the stream unmodified, which the same payment begins again on every instance', async () => {
    const target = '/stream?symbols=BTC&channels=price&seconds=1'
    const account = await system.payer(priceOf('/stream'))
    const bought = await system.buyer(account)(first.url + target)
    expect([bought.status, await bought.text()]).toEqual([200, expect.stringMatching(/event: price[^]*event: end/)])
    const another = await system.payer(priceOf('/stream'))
    const headers = await signedBy(another, priceOf('/stream'))
    for (const api of [first, second]) {
      const { status, text } = await ask(api, target, headers)
      expect([status, text]).toEqual([200, expect.stringMatching(/event: ready[^]*"time_over"/)])
    }
    expect([await system.balance(account.address), await system.balance(another.address)]).toEqual([0n, 0n])
  })

  it.each(creations)('pays the creation and the extension of an alert by %s', async (path, list, body, ...prices) => {
    const [creation, extension] = prices
    const account = await system.payer(BigInt(creation) + BigInt(extension))
    const buy = system.buyer(account)
    const post = (target: string, said: object, token = ''): Promise<Response> =>
      buy(second.url + target, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(said),
      })
    const created = await post(path, body)
    const alert = (await created.json()) as Record<string, unknown>
    expect([created.status, alert]).toEqual([201, expect.objectContaining({ status: 'active', webhook_url: HOOK })])
    const extended = await post(`${path}/${textOf(alert['alert_id'])}/extend`, {}, textOf(alert['manage_token']))
    expect([extended.status, await extended.json()]).toEqual([200, expect.objectContaining({ add_hours: 24 })])
    expect(await system.balance(account.address)).toBe(0n)
    const mine = await ask(first, `${list}?wallet=${account.address}`)
    expect(mine.body).toMatchObject({ count: 1 })
  })
})

it('buys credit unmodified, exactly what is asked for', async () => {
  const account = await system.payer(1_000_000n)
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  const said = { method: 'POST', headers, body: '{"amount_usdc": 1}' }
  const bought = await system.buyer(account)(`${first.url}/credit`, said)
  expect([bought.status, await bought.json()]).toEqual([201, expect.objectContaining({ balance_usdc: 1 })])
  expect(await system.balance(account.address)).toBe(0n)
})

describe('one payment', () => {
  it('sent ten times at once to two instances is charged once, and gets ten equal answers', async () => {
    const account = await system.payer()
    const before = await system.balance(account.address)
    const headers = await signedBy(account)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => ask(n % 2 === 0 ? first : second, CVD, headers)),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(before - (await system.balance(account.address))).toBe(PRICE)
  })

  it('sent five times at once to two instances makes one alert', async () => {
    const account = await system.payer()
    const headers = await signedBy(account, 40_000n)
    const init = { method: 'POST', body: Buffer.from(JSON.stringify(priceBody())) }
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) => ask(n % 2 === 0 ? first : second, '/price-alert', headers, init)),
    )
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await ask(first, `/price-alerts?wallet=${account.address}`)).body['count']).toBe(1)
    expect(await system.balance(account.address)).toBe(4_960_000n)
  })

  it('pays for its own request alone, on every instance', async () => {
    const account = await system.payer()
    const headers = await signedBy(account)
    expect((await ask(first, CVD, headers)).status).toBe(200)
    for (const target of ['/cvd/BTC?period=4h', '/futures/basis/BTC', '/cvd/history/BTC'])
      for (const api of [first, second])
        expect(await ask(api, target, headers)).toMatchObject({
          status: 409,
          body: { error: 'payment_already_used' },
        })
    expect(await system.balance(account.address)).toBe(4_980_000n)
  })

  it('sent to an instance that has just started gets the same answer', async () => {
    const account = await system.payer()
    const headers = await signedBy(account)
    const before = await ask(first, CVD, headers)
    const fresh = await instance()
    const after = await ask(fresh, CVD, headers)
    expect([after.status, after.text]).toEqual([200, before.text])
    expect(after.headers.get('payment-response')).toBe(before.headers.get('payment-response'))
    await system.kill(fresh)
    expect(await system.balance(account.address)).toBe(4_980_000n)
  })

  it('of an empty wallet is refused with the reason', async () => {
    const account = await system.payer(0n)
    const headers = await signedBy(account)
    expect(await ask(first, CVD, headers)).toMatchObject({ status: 402, body: { error: 'insufficient_funds' } })
  })

  it('is not charged for HEAD and OPTIONS, nor where the path is none', async () => {
    const account = await system.payer()
    const headers = await signedBy(account)
    expect((await ask(first, CVD, headers, { method: 'HEAD' })).status).toBe(402)
    expect((await ask(first, CVD, headers, { method: 'OPTIONS' })).status).toBe(204)
    for (const target of ['/cvd%2FBTC', '//cvd/BTC', '/cvd//BTC', '/cvd/NOPE', '/cvd/BTC?period=x'])
      expect([target, (await ask(first, target, headers)).status >= 400]).toEqual([target, true])
    expect(await system.balance(account.address)).toBe(5_000_000n)
  })

  it('in a header too long or too deep is refused, and the instance goes on', async () => {
    const deep = Buffer.from(`{"a":${'['.repeat(3000)}${']'.repeat(3000)}}`).toString('base64')
    expect((await ask(first, CVD, { 'x-payment': deep })).status).toBe(400)
    expect((await ask(first, CVD, { 'x-payment': 'A'.repeat(12_000) })).status).toBe(400)
    expect((await ask(first, CVD, { 'x-payment': 'A'.repeat(20_000) })).status).toBe(431)
    expect((await ask(first, CVD)).status).toBe(402)
  })
})

describe('twenty payers at once', () => {
  it('are each charged once and answered', async () => {
    const accounts: PrivateKeyAccount[] = []
    while (accounts.length < 20) accounts.push(await system.payer(PRICE))
    const before = await system.balance()
    const answers = await Promise.all(
      accounts.map(async (account, n) => ask(n % 2 === 0 ? first : second, CVD, await signedBy(account))),
    )
    expect(answers.map((answer) => [answer.status, isPaid(answer)])).toEqual(accounts.map(() => [200, true]))
    expect((await system.balance()) - before).toBe(20n * PRICE)
  })
})

describe('a payments service that is restarted with another wallet', () => {
  const WEALTH = 1_000_000_000n
  const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

  /** One request, sent again with its payment for as long as that is not settled. */
  async function buy(api: Child, account: PrivateKeyAccount): Promise<void> {
    const headers = await signedBy(account)
    let answer = await ask(api, CVD, headers)
    while (answer.body['error'] === 'settlement_pending') answer = await ask(api, CVD, headers)
    expect([answer.status, isPaid(answer), answer.body['error']]).toEqual([200, true, undefined])
  }

  /** How many transfers to us each wallet has sent since that block. */
  async function sentSince(fromBlock: bigint): Promise<Map<string, number>> {
    const sent = new Map<string, number>()
    const logs = await system.client.getLogs({ address: token, event: transfer, args: { to: payTo }, fromBlock })
    for (const { transactionHash: hash } of logs) {
      const { from } = await system.client.getTransaction({ hash })
      sent.set(from.toLowerCase(), (sent.get(from.toLowerCase()) ?? 0) + 1)
    }
    return sent
  }

  it(
    'charges payers who go on paying once for each answer, also what the former wallet had on its way',
    { timeout: PATIENCE },
    async () => {
      const key = generatePrivateKey()
      const address = privateKeyToAddress(key)
      await system.client.setBalance({ address, value: 10n ** 18n })
      const accounts: PrivateKeyAccount[] = []
      while (accounts.length < 4) accounts.push(await system.payer(WEALTH))
      const [before, block] = [await system.balance(), await system.client.getBlockNumber()]
      const over = new AbortController()
      const bought = accounts.map(() => 0)
      const all = (): number => bought.reduce((sum, count) => sum + count, 0)
      const soon = (count: number): Promise<void> =>
        expect.poll(all, { timeout: PATIENCE / 2 }).toBeGreaterThanOrEqual(count)
      const payers = accounts.map(async (account, n) => {
        for (; !over.signal.aborted; bought[n] = (bought[n] ?? 0) + 1) await buy(n % 2 === 0 ? first : second, account)
      })
      const paying = Promise.all(payers)
      const changing = async (): Promise<number> => {
        await soon(8)
        await system.client.setAutomine(false)
        const waiting = async (): Promise<number> => (await system.client.getTxpoolStatus()).pending
        await expect.poll(waiting, { timeout: PATIENCE / 2 }).toBeGreaterThan(0)
        await settling.stop()
        const underWay = await waiting()
        await system.start('processors/payments/main.ts', { PAYMENT_WALLET_KEY: key })
        await system.client.setAutomine(true)
        await system.client.mine({ blocks: 1 })
        await soon(all() + underWay + 12)
        return underWay
      }
      const underWay = await Promise.race([changing(), paying.then(() => 0)]).finally(() => over.abort())
      await paying
      expect(underWay).toBeGreaterThan(0)
      expect((await system.balance()) - before).toBe(BigInt(all()) * PRICE)
      for (const [n, account] of accounts.entries())
        expect(WEALTH - (await system.balance(account.address))).toBe(BigInt(bought[n] ?? 0) * PRICE)
      const sent = await sentSince(block + 1n)
      const [former, fresh] = [hotWallet.address, address].map((wallet) => sent.get(wallet.toLowerCase()) ?? 0)
      expect([former, fresh].every((count = 0) => count > 0) && (former ?? 0) + (fresh ?? 0)).toBe(all())
      console.log(
        `wallets: ${all()} answers, ${former} by the former, ${underWay} of them on their way, ${fresh} by the new one`,
      )
    },
  )
})
