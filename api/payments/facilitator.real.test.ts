import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import type { PrivateKeyAccount } from 'viem/accounts'
import { LocalFacilitator, type FacilitatorBehaviour } from '../../infra/local/chain/facilitator.ts'
import type { Child } from '../../infra/local/child.ts'
import { ask as asking, signedNow, type Answered } from '../testing/paid-calls.ts'
import { PaidSystem } from '../testing/paid-system.ts'

/** A facilitator that times out, lies and answers late: whoever does what the answers say is charged once. */

const CVD = '/cvd/BTC'
const PRICE = 20_000n
const PATIENCE = 240_000
const POLL = { timeout: 120_000, interval: 50 }

let system: PaidSystem
let facilitator: LocalFacilitator
let first: Child
let second: Child

beforeAll(async () => {
  system = await PaidSystem.open(inject('parts'), { reads: [] })
  facilitator = await LocalFacilitator.start()
  facilitator.settleOn(system.chain.url)
  const settling = system.start('processors/payments/main.ts', { PAYMENT_FACILITATOR_URL: facilitator.url })
  const hasty = { PAYMENT_SETTLE_SECONDS: '1' }
  ;[first, second] = await Promise.all([system.start('api/main.ts', hasty), system.start('api/main.ts'), settling])
  await system.awaitMarket(second.url, await system.payer(), [CVD])
}, PATIENCE)

afterEach(async () => {
  facilitator.behaviour = 'well'
  await facilitator.release()
})
afterAll(async () => {
  await system?.stopEven()
  await facilitator?.close()
}, PATIENCE)

type Headers = Record<string, string>

const ask = (api: Child, headers: Headers): Promise<Answered> => asking(system.books, api.url + CVD, headers)
const signedBy = async (account: PrivateKeyAccount, validBefore?: number): Promise<Headers> => ({
  'payment-signature': (await signedNow(account, validBefore === undefined ? {} : { validBefore })).v2,
  'idempotency-key': randomUUID(),
})
const spent = async ({ address }: PrivateKeyAccount): Promise<bigint> => 5_000_000n - (await system.balance(address))

/** The payment is sent until it has its answer. */
const answered = (api: Child, headers: Headers, status = 200): Promise<Answered> =>
  vi.waitFor(async () => {
    const answer = await ask(api, headers)
    expect(answer.status).toBe(status)
    return answer
  }, POLL)

describe('a facilitator', { timeout: PATIENCE }, () => {
  it.each<[string, FacilitatorBehaviour]>([
    ['takes a settlement and never answers', 'silent'],
    ['answers late', 'late'],
    ['says that its node failed', 'node-failure'],
    ['says that it has waited too long for a block', 'unconfirmed'],
    ['says that the payer has too little', 'denies'],
    ['names a transaction that is none', 'boasts'],
  ])('that %s, and settles afterwards, charges once', async (_, behaviour) => {
    const account = await system.payer()
    const headers = await signedBy(account)
    facilitator.behaviour = behaviour
    const answer = await ask(first, headers)
    expect(answer).toMatchObject({ status: 503, body: { error: 'settlement_pending' } })
    expect(answer.headers.get('payment-required')).toBeNull()
    expect([facilitator.held, await spent(account)]).toEqual([1, 0n])
    await facilitator.release()
    const paid = await answered(second, headers)
    expect((await ask(first, headers)).text).toBe(paid.text)
    expect(await spent(account)).toBe(PRICE)
  })

  it('that never settles is waited for until the authorization is over; what it submits then is worth nothing', async () => {
    const account = await system.payer()
    const soon = Math.floor(Date.now() / 1_000) + 30
    const headers = await signedBy(account, soon)
    facilitator.behaviour = 'silent'
    expect(await ask(first, headers)).toMatchObject({ status: 503, body: { error: 'settlement_pending' } })
    await system.client.setNextBlockTimestamp({ timestamp: BigInt(soon) })
    await system.client.mine({ blocks: 1 })
    await answered(first, headers, 402)
    await facilitator.release()
    facilitator.behaviour = 'well'
    await answered(second, await signedBy(account))
    expect(await spent(account)).toBe(PRICE)
  })
})
