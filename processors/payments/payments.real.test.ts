import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { hotWallet } from '../../infra/local/chain/accounts.ts'
import { tokenAbi, mint } from '../../infra/local/chain/prepare-chain.ts'
import type { PaymentIntent } from '../../schemas/records.ts'
import { SELLER } from './testing/intents.ts'
import { contractWallet, newAccount, signed, World } from './testing/world.ts'
import { hex } from './token.ts'

const POLL = { timeout: 60_000, interval: 50 }
const { payTo, asset } = SELLER
/** A wallet that takes any signature where gas costs nothing, as when it is only asked, and else reverts. */
const TWO_FACED = '0x3a601457631626ba7e60e01b60005260206000f35b600080fd'
/** Above what our wallet tips: taken into the block before ours. */
const FIRST = 50_000_000_000n

let world: World

beforeEach(async () => {
  world = await World.open(inject('parts'))
})
afterEach(() => world.close())

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
    const deployment = { ...contractWallet, args: [owner.address] } as const
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

  it('of a wallet that accepts when it is asked and refuses in the block costs gas once, whatever is paid from its like', async () => {
    const host = await world.host()
    const wallets = [1, 2].map((n) => hex(`0x${String(n).repeat(40)}`))
    for (const address of wallets) {
      await world.client.setCode({ address, bytecode: TWO_FACED })
      await mint(world.chain.url, address, 50_000n)
    }
    const [first, second] = await Promise.all(wallets.map((from) => signed(newAccount(), { from })))
    if (first === undefined || second === undefined) throw new Error('two wallets')
    await world.ask(first)
    await ended(first, ['broadcast', 'failed'])
    await world.ask(second)
    await ended(second, ['failed'])
    expect((await world.events(second))[0]).toMatchObject({ reason: 'payer_cooling_down', tx: null })
    const honest = await signed(await world.payer())
    await world.ask(honest)
    await ended(honest, ['broadcast', 'settled'])
    const { gasUsed, effectiveGasPrice } = await world.client.getTransactionReceipt({
      hash: hex((await world.events(first)).at(-1)?.tx ?? ''),
    })
    const health: unknown = await (await fetch(`${host.url}/healthz`)).json()
    const lost = { gas_lost_wei: String(gasUsed * effectiveGasPrice), cooling: 1, trouble: null }
    expect(health).toMatchObject({ ok: true, ...lost })
  })

  it('where so much gas was lost that no more may be is not sent, and /healthz says so', async () => {
    const host = await world.host({ PAYMENT_GAS_LOST_WEI_MAX: '1' })
    const intent = await signed(await world.payer())
    await world.ask(intent)
    await ended(intent, ['failed'])
    expect((await world.events(intent))[0]).toMatchObject({ reason: 'unexpected_settle_error', tx: null })
    const health = await fetch(`${host.url}/healthz`)
    const trouble: unknown = expect.stringContaining('PAYMENT_GAS_LOST_WEI_MAX=1 allows no more')
    expect([health.status, await health.json()]).toMatchObject([503, { ok: false, trouble }])
    expect(await world.client.getTransactionCount({ address: hotWallet.address })).toBe(0)
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

  it('with others in one transaction is honoured for each that moved its money, and for no other', async () => {
    await world.host()
    const payer = await world.payer(60_000n)
    const paid = await Promise.all([signed(payer), signed(payer), signed(payer)])
    const unpaid = await Promise.all([signed(payer), signed(payer)])
    const toItself = ({ nonce }: PaymentIntent): Promise<PaymentIntent> =>
      signed(payer, { to: payer.address, value: 0n, fields: { nonce } })
    const spent = await Promise.all(unpaid.map(toItself))
    const hash = await world.submitAll([...spent, ...paid], payer)
    await world.ask(...unpaid, ...paid)
    await Promise.all([...unpaid.map((one) => ended(one, ['failed'])), ...paid.map((one) => ended(one, ['settled']))])
    const [failed, settled] = await Promise.all([unpaid[0], paid[0]].map((one) => world.events(one)))
    expect(failed).toMatchObject([{ reason: 'invalid_exact_evm_nonce_already_used', tx: null }])
    expect(settled).toMatchObject([{ tx: hash, by: 'other' }])
    expect(await world.balance(payTo)).toBe(60_000n)
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
