import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { hotWallet } from '../../infra/local/chain/accounts.ts'
import { contractWalletAbi, contractWalletCreation, tokenAbi } from '../../infra/local/chain/contracts.ts'
import { mint } from '../../infra/local/chain/furnish.ts'
import type { Child } from '../../infra/local/child.ts'
import type { PaymentIntent } from '../../schemas/payments.ts'
import { SELLER } from './given.ts'
import { eventOf } from './ledger.ts'
import { newAccount, signed, World } from './test-world.ts'
import { hex, transferCall } from './token.ts'

const POLL = { timeout: 30_000, interval: 50 }
const { payTo, asset } = SELLER
/** Above what our wallet tips: taken into the block before ours. */
const FIRST = 50_000_000_000n

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

describe('a payment', () => {
  it('is settled once, however many requests bring it; another request is told of a conflict', async () => {
    await world.host()
    const intent = await signed(await world.payer())
    const copies = [1, 2, 3, 4].map((n) => ({ ...intent, request_id: `copy-${n}` }))
    await world.ask(intent, ...copies, { ...intent, request_id: 'other', fingerprint: 'other' })
    await expect.poll(() => world.told(intent), POLL).toHaveLength(3)
    await world.ask({ ...intent, request_id: 'late' }, { ...intent, request_id: 'later', fingerprint: 'other' })
    await expect.poll(() => world.told(intent), POLL).toHaveLength(4)
    const events = await world.events(intent)
    const settled = events.find(({ event }) => event === 'settled')
    const tx = hex(settled?.tx ?? '')
    const receipt = await world.client.getTransactionReceipt({ hash: tx })
    expect(settled).toMatchObject({ by: 'us', amount: '20000', block: Number(receipt.blockNumber), reason: null })
    expect(settled?.request_id).toBe(intent.request_id)
    expect(events.find(({ event }) => event === 'broadcast')).toMatchObject({ tx, raw: expect.stringMatching(/^0x02/) })
    const conflicts = events.filter(({ event }) => event === 'conflict')
    expect(conflicts.map(({ request_id: id }) => id)).toEqual(['other', 'later'])
    expect([await world.balance(payTo), await world.balance(intent.from)]).toEqual([20_000n, 980_000n])
  })

  it('of twenty payers at once is settled for each', async () => {
    const host = await world.host()
    const payers = []
    for (let n = 0; n < 20; n++) payers.push(await world.payer())
    const intents = await Promise.all(payers.map((payer) => signed(payer)))
    const startedAt = performance.now()
    await world.ask(...intents)
    const settled = async (): Promise<number> =>
      (await world.events()).filter(({ event }) => event === 'settled').length
    await expect.poll(settled, POLL).toBe(20)
    console.log(`20 payers at once: all settled after ${Math.round(performance.now() - startedAt)} ms`)
    expect(await world.balance(payTo)).toBe(400_000n)
    expect(await (await fetch(`${host.url}/healthz`)).json()).toMatchObject({
      ok: true,
      owner: true,
      open: 0,
      known: 20,
    })
  })

  it('of a wallet that is a contract is settled', async () => {
    await world.host()
    const owner = await world.payer()
    const { client } = world
    const deployment = { abi: contractWalletAbi, bytecode: contractWalletCreation, args: [owner.address] } as const
    const hash = await client.deployContract({ ...deployment, account: owner })
    const { contractAddress } = await client.waitForTransactionReceipt({ hash })
    const from = hex(contractAddress ?? '')
    await mint(world.chain.url, from, 50_000n)
    const intent = await signed(owner, { from })
    await world.ask(intent)
    await ended(intent, ['broadcast', 'settled'])
    expect(await world.balance(from)).toBe(30_000n)
    const forged = await signed(newAccount(), { from })
    await world.ask(forged)
    await ended(forged, ['failed'])
    expect((await world.events(forged))[0]?.reason).toBe('invalid_exact_evm_payload_signature')
  })

  it('that would fail is told why, and nothing is sent', async () => {
    await world.host()
    const payer = await world.payer(10_000n)
    const poor = await signed(payer)
    const expired = await signed(payer, { value: 1n, fields: { valid_before: Math.floor(Date.now() / 1_000) - 5 } })
    const cancelled = await signed(payer, { value: 2n })
    const forged = { ...(await signed(payer, { value: 3n })), from: newAccount().address.toLowerCase() }
    await world.cancel(cancelled, payer)
    const all = [poor, expired, cancelled, forged]
    await world.ask(...all)
    await Promise.all(all.map((intent) => ended(intent, ['failed'])))
    const reasons = (await world.events()).map(({ reason }) => reason ?? '').toSorted((a, b) => a.localeCompare(b))
    expect(reasons).toEqual([
      'insufficient_funds',
      'invalid_exact_evm_nonce_already_used',
      'invalid_exact_evm_payload_authorization_valid_before',
      'invalid_exact_evm_payload_signature',
    ])
    expect(await world.client.getTransactionCount({ address: hotWallet.address })).toBe(0)
    await mint(world.chain.url, payer.address, 100_000n)
    await world.ask({ ...poor, request_id: 'again' })
    await ended(poor, ['failed', 'broadcast', 'settled'])
  })
})

describe('an authorization that somebody else submits', () => {
  it('before us is found on the chain and honoured', async () => {
    await world.host()
    const [payer, third] = [await world.payer(), await world.payer()]
    const intent = await signed(payer)
    const hash = await world.submit(intent, third)
    await world.client.waitForTransactionReceipt({ hash })
    await world.ask(intent)
    await ended(intent, ['settled'])
    expect((await world.events(intent))[0]).toMatchObject({ tx: hash, by: 'other' })
    expect(await world.balance(payTo)).toBe(20_000n)
  })

  it('into the same block before ours is honoured too', async () => {
    await world.host()
    const [payer, third] = [await world.payer(), await world.payer()]
    await world.client.setAutomine(false)
    const intent = await signed(payer)
    await world.ask(intent)
    await expect.poll(waiting, POLL).toBe(1)
    const hash = await world.submit(intent, third, FIRST)
    await world.client.mine({ blocks: 1 })
    await expect.poll(async () => (await world.told(intent)).at(-1), POLL).toBe('settled')
    expect((await world.events(intent)).at(-1)).toMatchObject({ tx: hash, by: 'other' })
    expect(await world.balance(payTo)).toBe(20_000n)
  })

  it('is a failure where the payer’s money was gone in the same block', async () => {
    await world.host()
    const payer = await world.payer(20_000n)
    await world.client.setAutomine(false)
    const intent = await signed(payer)
    await world.ask(intent)
    await expect.poll(waiting, POLL).toBe(1)
    await world.client.writeContract({
      account: payer,
      address: asset,
      abi: tokenAbi,
      functionName: 'transfer',
      args: [newAccount().address, 20_000n],
      gas: 200_000n,
      maxPriorityFeePerGas: FIRST,
      maxFeePerGas: 2n * FIRST,
    })
    await world.client.mine({ blocks: 1 })
    await expect.poll(async () => (await world.told(intent)).at(-1), POLL).toBe('failed')
    expect((await world.events(intent)).at(-1)).toMatchObject({ reason: 'insufficient_funds', by: 'us' })
  })
})

describe('where no block comes', () => {
  it('a payment is pending, and settled when one does', async () => {
    await world.host()
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
    process.kill(first.pid, 'SIGSTOP')
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
  await expect.poll(async () => (await world.told(intent)).at(-1), { ...POLL, timeout: 50_000 }).toBe('settled')
  expect(await world.balance(payTo)).toBe(20_000n)
})

it('refuses to start where the wallet cannot pay for gas, or the token is another', async () => {
  await expect(world.host({ PAYMENT_GAS_WEI_MIN: '99999999999999999999999' })).rejects.toThrow('exit 2')
  expect(world.lines()).toContain('send it ether')
  await expect(world.host({ PAYMENT_ASSET_NAME: 'USD Coin', PAYMENT_ASSET_VERSION: '2' })).rejects.toThrow('exit 2')
  expect(world.lines()).toContain('set PAYMENT_ASSET_NAME')
  expect(world.lines()).not.toContain(hotWallet.key.slice(2))
})

it('raises the fees of what is stuck below the price of gas', { timeout: 120_000 }, async () => {
  await world.host()
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
    await world.host()
    const [first, second] = [await signed(await world.payer()), await signed(await world.payer())]
    process.kill(world.chain.pid, 'SIGSTOP')
    await world.ask(first)
    await ended(first, ['pending', 'failed'])
    expect((await world.events(first)).at(-1)).toMatchObject({ reason: 'unexpected_settle_error', tx: null })
    process.kill(world.chain.pid, 'SIGCONT')
    await world.client.setAutomine(false)
    await world.ask(second, { ...first, request_id: 'again', created: Date.now() * 1_000 })
    await expect.poll(waiting, POLL).toBe(2)
    process.kill(world.chain.pid, 'SIGSTOP')
    await expect.poll(() => world.told(second), POLL).toContain('pending')
    process.kill(world.chain.pid, 'SIGCONT')
    await world.client.setAutomine(true)
    await world.client.mine({ blocks: 1 })
    await ended(second, ['broadcast', 'pending', 'settled'])
    expect(await world.balance(payTo)).toBe(40_000n)
  })
})
