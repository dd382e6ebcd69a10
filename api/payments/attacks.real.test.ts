import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { concat, decodeFunctionData, parseAbi, toHex, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { payTo, token } from '../../infra/local/chain/accounts.ts'
import { tokenAbi } from '../../infra/local/chain/prepare-chain.ts'
import type { Child } from '../../infra/local/child.ts'
import { freeze } from '../../infra/local/testing/faults.ts'
import { encodeHeader } from '../../processors/payments/wire/headers.ts'
import { offerV2 } from '../../processors/payments/wire/offer.ts'
import { priceBody } from '../testing/alert-calls.ts'
import { seller } from '../testing/fake-payments.ts'
import { ask as asking, frozen, signedNow, transactionOf, type Answered } from '../testing/paid-calls.ts'
import { PaidSystem } from '../testing/paid-system.ts'

/** Whoever tries to pay less, or twice, or is cut short: no money without an answer, no answer without money. */

const CVD = '/cvd/BTC'
const PRICE = 20_000n
const CREATION = 40_000n
const PATIENCE = 240_000
const POLL = { timeout: 120_000, interval: 50 }

let system: PaidSystem
let alerts: Child
let settling: Child
let first: Child
let second: Child

beforeAll(async () => {
  system = await PaidSystem.open(inject('parts'), { reads: [] })
  ;({ alerts, settling, first, second } = await system.startAll())
  await system.awaitMarket(first.url, await system.payer(), [CVD])
}, PATIENCE)

afterEach(() => system.client.setAutomine(true))
afterAll(() => system?.stopEven(), PATIENCE)

type Headers = Record<string, string>

const ask = (api: Child, target: string, headers: Headers = {}, init: RequestInit = {}): Promise<Answered> =>
  asking(system.books, api.url + target, headers, init)

async function signedBy(account: PrivateKeyAccount, amount = PRICE): Promise<Headers> {
  return {
    'payment-signature': (await signedNow(account, { amount: String(amount) })).v2,
    'idempotency-key': randomUUID(),
  }
}

const create = (api: Child, headers: Headers, change: object = {}): Promise<Answered> =>
  ask(api, '/price-alert', headers, { method: 'POST', body: Buffer.from(JSON.stringify(priceBody(change))) })

/** Alerts that the account has paid for. */
const alertsOf = async ({ address }: PrivateKeyAccount): Promise<unknown> =>
  (await ask(second, `/price-alerts?wallet=${address}`)).body['count']

const spent = async ({ address }: PrivateKeyAccount): Promise<bigint> => 5_000_000n - (await system.balance(address))

/** The payment is sent until it has its answer. */
async function answered(send: () => Promise<Answered>, status = 200): Promise<Answered> {
  return vi.waitFor(async () => {
    const answer = await send()
    expect(answer.status).toBe(status)
    return answer
  }, POLL)
}

/** A further instance, which has read the payments that there are. */
async function instance(env: Record<string, string> = {}): Promise<Child> {
  const headers = await signedBy(await system.payer())
  await ask(first, CVD, headers)
  const api = await system.start('api/main.ts', env)
  await answered(() => ask(api, CVD, headers))
  return api
}

/** Transactions that wait for a block. */
const pool = async (): Promise<number> => (await system.client.getTxpoolStatus()).pending

async function resumeMining(): Promise<void> {
  await system.client.mine({ blocks: 1 })
  await system.client.setAutomine(true)
}

describe('a payment', { timeout: PATIENCE }, () => {
  it('in the headers of both versions is charged once', async () => {
    const account = await system.payer()
    const { v1, v2 } = await signedNow(account)
    const answer = await ask(first, CVD, { 'payment-signature': v2, 'x-payment': v1 })
    expect([answer.status, await spent(account)]).toEqual([200, PRICE])
    const other = await signedNow(account)
    const two = await ask(first, CVD, { 'payment-signature': v2, 'x-payment': other.v1 })
    expect([two.status, two.body['error'], await spent(account)]).toEqual([400, 'invalid_payment', PRICE])
  })

  it('for an alert does not pay for another one', async () => {
    const account = await system.payer()
    const headers = await signedBy(account, CREATION)
    expect((await create(first, headers)).status).toBe(201)
    for (const api of [first, second])
      expect(await create(api, headers, { target_price: 200 })).toMatchObject({
        status: 409,
        body: { error: 'payment_already_used' },
      })
    expect([await alertsOf(account), await spent(account)]).toEqual([1, CREATION])
  })

  it('and another for the same Idempotency-Key, at two instances in one moment, are charged as one', async () => {
    const account = await system.payer()
    const key = { 'idempotency-key': randomUUID() }
    const one = { ...(await signedBy(account, CREATION)), ...key }
    const two = { ...(await signedBy(account, CREATION)), ...key }
    await system.client.setAutomine(false)
    const asked = [create(first, one), create(second, two)]
    expect(await Promise.race(asked)).toMatchObject({ status: 503, body: { error: 'data_unavailable' } })
    await resumeMining()
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([201, 503]))
    const again = await Promise.all([answered(() => create(second, one), 201), answered(() => create(first, two), 201)])
    expect(new Set(again.map(({ body }) => body['alert_id'])).size).toBe(1)
    expect([await alertsOf(account), await spent(account)]).toEqual([1, CREATION])
  })

  it('that somebody else submits before us is found and honoured', async () => {
    const [account, third] = [await system.payer(), await system.payer(0n)]
    const headers = await signedBy(account)
    const hash = await submit(headers, third)
    const answer = await ask(first, CVD, headers)
    expect([answer.status, transactionOf(answer), await spent(account)]).toEqual([200, hash, PRICE])
    expect((await ask(second, CVD, headers)).text).toBe(answer.text)
  })

  it('of a wallet that is emptied between the question and the payment buys nothing', async () => {
    const account = await system.payer()
    const headers = await signedBy(account, CREATION)
    const transfer = { address: token, abi: tokenAbi, functionName: 'transfer' } as const
    const hash = await system.client.writeContract({ account, ...transfer, args: [token, 5_000_000n] })
    await system.client.waitForTransactionReceipt({ hash })
    expect(await create(first, headers)).toMatchObject({ status: 402, body: { error: 'insufficient_funds' } })
    expect(await alertsOf(account)).toBe(0)
  })

  it('sent again after a kill of everything gets the same answer', async () => {
    const account = await system.payer()
    const headers = await signedBy(account)
    const doomed = await instance()
    const before = await ask(doomed, CVD, headers)
    await system.kill(doomed)
    await system.kill(settling)
    settling = await system.start('processors/payments/main.ts')
    const after = await ask(await instance(), CVD, headers)
    expect([after.status, after.text, transactionOf(after)]).toEqual([200, before.text, transactionOf(before)])
    expect(await spent(account)).toBe(PRICE)
  })

  it('with mining stopped is pending, and honoured when blocks come', async () => {
    const account = await system.payer()
    const headers = await signedBy(account)
    const hasty = await instance({ PAYMENT_SETTLE_SECONDS: '1' })
    await system.client.setAutomine(false)
    const answer = await ask(hasty, CVD, headers)
    expect(answer).toMatchObject({ status: 503, body: { error: 'settlement_pending' } })
    expect(answer.body['transaction']).toMatch(/^0x[0-9a-f]{64}$/)
    expect(answer.headers.get('retry-after')).toBe('5')
    await resumeMining()
    const paid = await answered(() => ask(second, CVD, headers))
    expect([transactionOf(paid), await spent(account)]).toEqual([answer.body['transaction'], PRICE])
  })
})

describe('who reads a payment in the mempool or on the chain', { timeout: PATIENCE }, () => {
  const STREAM = '/stream?symbols=BTC&channels=price&seconds=600'
  const HOUR = 100_000n

  /** As it is asked for without a key, and under one that was guessed. */
  async function steal(send: (api: Child, headers: Headers) => Promise<Answered>, read: Headers): Promise<void> {
    for (const api of [first, second])
      for (const key of [{}, { 'idempotency-key': randomUUID() }])
        expect(await send(api, { ...read, ...key })).toMatchObject({
          status: 409,
          body: { error: 'payment_already_used' },
        })
  }

  it('gets no answer of it, before or after its customer', async () => {
    const account = await system.payer()
    const headers = await signedBy(account)
    const send = (api: Child, sent: Headers): Promise<Answered> => ask(api, CVD, sent)
    await system.client.setAutomine(false)
    const waiting = send(first, headers)
    await expect.poll(pool, POLL).toBe(1)
    const read = await readInPool(account)
    await steal(send, read)
    await resumeMining()
    const bought = await waiting
    expect(bought.status).toBe(200)
    await steal(send, read)
    const again = await send(second, headers)
    expect([again.status, again.text, await spent(account)]).toEqual([200, bought.text, PRICE])
  })

  it('gets no secrets of the alert that it made', async () => {
    const account = await system.payer()
    const headers = await signedBy(account, CREATION)
    await system.client.setAutomine(false)
    const waiting = create(first, headers)
    await expect.poll(pool, POLL).toBe(1)
    const read = await readInPool(account)
    await steal(create, read)
    await resumeMining()
    const made = await waiting
    await steal(create, read)
    expect((await create(second, headers)).body).toEqual(made.body)
    expect([await alertsOf(account), await spent(account)]).toEqual([1, CREATION])
  })

  it('neither hears the stream that it opened nor ends it', async () => {
    const account = await system.payer()
    const headers = await signedBy(account, HOUR)
    const listening = new AbortController()
    const open = (): Promise<Response> => fetch(first.url + STREAM, { headers, signal: listening.signal })
    await system.client.setAutomine(false)
    const asked = open()
    await expect.poll(pool, POLL).toBe(1)
    const read = await readInPool(account)
    await resumeMining()
    const stream = system.books.note(await asked)
    await steal((api, sent) => ask(api, STREAM, sent), read)
    const again = await open()
    expect([stream.status, again.status, await spent(account)]).toEqual([200, 200, HOUR])
    expect(await stream.text()).toMatch(/event: ready[^]*"replaced"/) // by its customer, and by nobody before
    listening.abort()
  })
})

describe('a kill', { timeout: PATIENCE }, () => {
  const cut = (lost: Promise<Answered>): Promise<unknown> => lost.catch(() => 'cut')

  it('of the API before it has written anything costs nothing', async () => {
    const account = await system.payer()
    const headers = await signedBy(account)
    const doomed = await instance()
    await freeze(doomed.pid)
    const lost = cut(ask(doomed, CVD, headers))
    await system.kill(doomed)
    expect([await lost, await spent(account)]).toEqual(['cut', 0n])
    await answered(() => ask(second, CVD, headers))
    expect(await spent(account)).toBe(PRICE)
  })

  it('of API and settling after the intent charges once', async () => {
    const account = await system.payer()
    const headers = await signedBy(account)
    const doomed = await instance()
    const before = await system.intents()
    await system.kill(settling)
    const lost = cut(ask(doomed, CVD, headers))
    await expect.poll(() => system.intents(), POLL).toBe(before + 1)
    await system.kill(doomed)
    expect([await lost, await spent(account)]).toEqual(['cut', 0n])
    settling = await system.start('processors/payments/main.ts')
    await answered(() => ask(second, CVD, headers))
    expect(await spent(account)).toBe(PRICE)
  })

  it('of the API after the broadcast loses neither money nor answer', async () => {
    const account = await system.payer()
    const headers = await signedBy(account)
    const doomed = await instance()
    await system.client.setAutomine(false)
    const lost = cut(ask(doomed, CVD, headers))
    await expect.poll(pool, POLL).toBe(1)
    await system.kill(doomed)
    expect(await lost).toBe('cut')
    await resumeMining()
    await answered(() => ask(second, CVD, headers))
    expect(await spent(account)).toBe(PRICE)
  })

  it('of the settling after the broadcast charges once', async () => {
    const account = await system.payer()
    const headers = await signedBy(account)
    await system.client.setAutomine(false)
    const waiting = ask(first, CVD, headers)
    await expect.poll(pool, POLL).toBe(1)
    await system.kill(settling)
    await resumeMining()
    settling = await system.start('processors/payments/main.ts')
    expect((await waiting).status).toBe(200)
    expect((await ask(second, CVD, headers)).text).toBe((await waiting).text)
    expect(await spent(account)).toBe(PRICE)
  })

  it('of the API after the money came and before the act makes the alert once', async () => {
    const account = await system.payer()
    const headers = await signedBy(account, CREATION)
    const doomed = await instance()
    await frozen(alerts, async () => {
      const lost = cut(create(doomed, headers))
      await expect.poll(() => spent(account), POLL).toBe(CREATION)
      await system.kill(doomed)
      expect(await lost).not.toMatchObject({ status: 201 })
    })
    const made = await answered(() => create(second, headers), 201)
    expect((await create(first, headers)).body).toEqual(made.body)
    expect([await alertsOf(account), await spent(account)]).toEqual([1, CREATION])
  })

  it('of the alerts processor before the act makes the alert once', async () => {
    const account = await system.payer()
    const headers = await signedBy(account, CREATION)
    await system.kill(alerts)
    const owed = await create(first, headers)
    expect([owed.status, await spent(account)]).toEqual([503, CREATION])
    expect(owed.body['message']).toContain('The payment stands')
    alerts = await system.start('processors/main.ts')
    await answered(() => create(second, headers), 201)
    expect([await alertsOf(account), await spent(account)]).toEqual([1, CREATION])
  })
})

/** Somebody who has seen the header submits what is in it. */
async function submit(headers: Headers, by: PrivateKeyAccount): Promise<Hex> {
  const { payload } = JSON.parse(Buffer.from(headers['payment-signature'] ?? '', 'base64').toString()) as {
    payload: {
      authorization: Record<'value' | 'validAfter' | 'validBefore', string> & { from: Hex; nonce: Hex }
      signature: Hex
    }
  }
  const { from, nonce, value, validAfter, validBefore } = payload.authorization
  const times = [BigInt(validAfter), BigInt(validBefore)] as const
  const transfer = { address: token, abi: tokenAbi, functionName: 'transferWithAuthorization' } as const
  const args = [from, payTo, BigInt(value), ...times, nonce, payload.signature] as const
  const hash = await system.client.writeContract({ account: by, ...transfer, args, gas: 200_000n })
  await system.client.waitForTransactionReceipt({ hash })
  return hash
}

const transferAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

/** The payment of an account, made again of the transaction that waits for a block. */
async function readInPool(account: PrivateKeyAccount): Promise<Headers> {
  const { pending } = await system.client.getTxpoolContent()
  const calls = Object.values(pending).flatMap((byNonce) => Object.values(byNonce).map(({ input }) => input))
  for (const data of calls) {
    const [from, to, value, validAfter, validBefore, nonce, v, r, s] = decodeFunctionData({
      abi: transferAbi,
      data,
    }).args
    if (from !== account.address) continue
    const numbers = { value: String(value), validAfter: String(validAfter), validBefore: String(validBefore) }
    const payload = { authorization: { from, to, ...numbers, nonce }, signature: concat([r, s, toHex(v)]) }
    const accepted = offerV2(seller, String(value))
    return { 'payment-signature': encodeHeader({ x402Version: 2, payload, accepted }) }
  }
  throw new Error('no payment of the account waits for a block')
}
