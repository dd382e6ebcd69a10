import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { hotWallet } from '../../infra/local/chain/accounts.ts'
import type { Child } from '../../infra/local/child.ts'
import { freeze } from '../../infra/local/testing/faults.ts'
import type { PaymentIntent } from '../../schemas/records.ts'
import { SELLER } from './testing/intents.ts'
import { eventOf } from './ledger.ts'
import { IMPATIENT, signed, World } from './testing/world.ts'
import { hex, transferCall } from './token.ts'

/** What becomes of payments when blocks stop, nodes hang and owners are killed. */

const POLL = { timeout: 60_000, interval: 50 }
const { payTo, asset } = SELLER

let world: World

beforeEach(async () => {
  world = await World.open(inject('parts'))
})
afterEach(() => world.close())

async function kill(host: Child): Promise<void> {
  process.kill(host.pid, 'SIGKILL')
  await host.exited
}

const ended = (intent: PaymentIntent, words: readonly string[]): Promise<void> =>
  expect.poll(() => world.told(intent), POLL).toEqual(words)

/** Our transactions that the node holds and has not mined. */
const waiting = async (): Promise<number> => (await world.client.getTxpoolStatus()).pending

describe('where no block comes', () => {
  it('a payment is pending, and settled when one does', async () => {
    await world.host(IMPATIENT)
    const intent = await signed(await world.payer())
    await world.client.setAutomine(false)
    await world.ask(intent)
    await ended(intent, ['broadcast', 'pending'])
    const [broadcast, pending] = await world.events(intent)
    expect(pending).toMatchObject({ tx: broadcast?.tx, reason: 'settlement_pending' })
    await world.ask({ ...intent, request_id: 'again' })
    await world.client.mine({ blocks: 1 })
    await ended(intent, ['broadcast', 'pending', 'settled'])
    expect(await world.balance(payTo)).toBe(20_000n)
  })

  it('a killed owner’s transactions are found by the next, and sent again where the node has lost them', async () => {
    const first = await world.host()
    const intents = [await signed(await world.payer()), await signed(await world.payer())]
    await world.client.setAutomine(false)
    await world.ask(...intents)
    await expect.poll(waiting, POLL).toBe(2)
    await kill(first)
    await world.client.dropTransaction({ hash: hex((await world.events())[0]?.tx ?? '') })
    expect(await waiting()).toBe(0) // the second waits for the number of the first
    await world.host()
    await expect.poll(waiting, POLL).toBe(2)
    await world.client.mine({ blocks: 1 })
    await Promise.all(
      intents.map((intent) => expect.poll(async () => (await world.told(intent)).at(-1), POLL).toBe('settled')),
    )
    expect((await world.events()).filter(({ event }) => event === 'broadcast')).toHaveLength(2)
    expect(await world.balance(payTo)).toBe(40_000n)
  })

  it('two owners, one of them frozen, settle each payment once', async () => {
    const first = await world.host()
    const intents = [await signed(await world.payer()), await signed(await world.payer())]
    await world.client.setAutomine(false)
    await world.ask(...intents.slice(0, 1))
    await expect.poll(waiting, POLL).toBe(1)
    await freeze(first.pid)
    await world.host()
    await world.ask(...intents.slice(1))
    await expect.poll(waiting, POLL).toBe(2)
    process.kill(first.pid, 'SIGCONT')
    await world.client.setAutomine(true)
    await world.client.mine({ blocks: 1 })
    const settled = async (): Promise<number> =>
      (await world.events()).filter(({ event }) => event === 'settled').length
    await expect.poll(settled, POLL).toBe(2)
    expect(await world.balance(payTo)).toBe(40_000n)
  })
})

it('sends what a killed owner had written down and not sent', async () => {
  const intent = await signed(await world.payer())
  const account = privateKeyToAccount(hotWallet.key)
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: SELLER.network.chainId,
    nonce: 0,
    to: asset,
    data: transferCall(intent),
    gas: 300_000n,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 10n ** 9n,
  })
  await world.ask(intent)
  const said = { event: 'broadcast', time: Date.now() * 1_000, tx: keccak256(raw), raw } as const
  await world.say(eventOf({ intent, offset: 0 }, said))
  await world.host()
  await ended(intent, ['broadcast', 'settled'])
  expect((await world.events(intent)).at(-1)).toMatchObject({ tx: keccak256(raw), by: 'us' })
})

it('sends again, under another number, what a stranger with the same key displaced', async () => {
  const host = await world.host()
  const intent = await signed(await world.payer())
  await world.client.setAutomine(false)
  await world.ask(intent)
  await expect.poll(waiting, POLL).toBe(1)
  await kill(host)
  const tx = hex((await world.events(intent))[0]?.tx ?? '')
  await world.client.dropTransaction({ hash: tx })
  const account = privateKeyToAccount(hotWallet.key)
  await world.client.sendTransaction({ account, to: account.address, nonce: 0 })
  await world.client.mine({ blocks: 1 })
  await world.client.setAutomine(true)
  await world.host()
  await expect.poll(async () => (await world.told(intent)).at(-1), POLL).toBe('settled')
  expect(await world.balance(payTo)).toBe(20_000n)
})

it('refuses to start where the wallet cannot pay for gas, or the token is another', async () => {
  await expect(world.host({ PAYMENT_GAS_WEI_MIN: '99999999999999999999999' })).rejects.toThrow('exit 2')
  expect(world.lines()).toContain('send it ether')
  await expect(world.host({ PAYMENT_ASSET_NAME: 'USD Coin', PAYMENT_ASSET_VERSION: '2' })).rejects.toThrow('exit 2')
  expect(world.lines()).toContain('set PAYMENT_ASSET_NAME')
  expect(world.lines()).not.toContain(hotWallet.key.slice(2))
})

it('raises the fees of what is stuck below the price of gas', async () => {
  await world.host(IMPATIENT)
  const intents = [await signed(await world.payer()), await signed(await world.payer())]
  await world.client.setAutomine(false)
  await world.ask(...intents)
  await expect.poll(waiting, POLL).toBe(2)
  await world.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 500_000_000_000n })
  await world.client.mine({ blocks: 1 })
  await world.client.setAutomine(true)
  for (const intent of intents) await ended(intent, ['broadcast', 'pending', 'broadcast', 'settled'])
  expect(await world.balance(payTo)).toBe(40_000n)
})

describe('a node that does not answer', () => {
  it('before anything was sent: a failure that can be tried again; afterwards: pending', async () => {
    await world.host(IMPATIENT)
    const [first, second] = [await signed(await world.payer()), await signed(await world.payer())]
    await freeze(world.chain.pid)
    await world.ask(first)
    await ended(first, ['pending', 'failed'])
    expect((await world.events(first)).at(-1)).toMatchObject({ reason: 'unexpected_settle_error', tx: null })
    process.kill(world.chain.pid, 'SIGCONT')
    await world.client.setAutomine(false)
    await world.ask(second, { ...first, request_id: 'again', created: Date.now() * 1_000 })
    await expect.poll(waiting, POLL).toBe(2)
    await freeze(world.chain.pid)
    await expect.poll(() => world.told(second), POLL).toContain('pending')
    process.kill(world.chain.pid, 'SIGCONT')
    await world.client.setAutomine(true)
    await world.client.mine({ blocks: 1 })
    await ended(second, ['broadcast', 'pending', 'settled'])
    expect(await world.balance(payTo)).toBe(40_000n)
  })
})
