import { keccak256, parseTransaction, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { createLog } from '../../infra/log.ts'
import type { PaymentIntent } from '../../schemas/records.ts'
import { quietReport } from '../kernel/quiet.ts'
import { Chain, connectChain } from './chain.ts'
import { GasGuard, type GasLimits } from './gas.ts'
import { SELLER } from './testing/intents.ts'
import { OwnSettler } from './own-settler.ts'
import type { Outcome, Sent } from './settler.ts'
import { TestClock, TestNode, type Reply } from './testing/node.ts'
import { hex, transferCall } from './token.ts'
import { nonceOf, Wallet } from './wallet.ts'

const account = privateKeyToAccount(`0x${'5a'.repeat(32)}`)

const LIMITS = { lostMax: 10n ** 18n, coolMs: 300_000 }
const FEE_MAX = 10n ** 9n

/** A settler before a node in memory; what it wrote down is in `sent`. */
class World {
  readonly node: TestNode
  readonly clock = new TestClock()
  readonly sent: Sent[] = []
  /** Whose they are. */
  readonly of: string[] = []
  readonly guard: GasGuard
  readonly settler: OwnSettler

  constructor({ lostMax, coolMs }: GasLimits = LIMITS, node = new TestNode()) {
    this.node = node
    const { client } = this.node
    const common = { clock: this.clock, report: quietReport }
    const wallet = new Wallet({ client, chainId: SELLER.network.chainId, account, feeMax: FEE_MAX, ...common })
    this.guard = new GasGuard({ lostMax, coolMs })
    this.settler = new OwnSettler({ chain: new Chain(client), wallet, guard: this.guard, ...common })
  }

  /** `before`: what a former owner has sent. */
  settle(intent: PaymentIntent = this.node.intent, before: readonly Sent[] = []): Promise<Outcome> {
    const { payment_id: id } = intent
    const sending = async (one: Sent): Promise<void> => void (this.sent.push(one) && this.of.push(id))
    return this.settler.settle({ intent, sent: before, sending, signal: AbortSignal.timeout(40_000) })
  }

  /** A payment of the n-th account; with code, if any is given. */
  payment(n: number, code?: Hex): PaymentIntent {
    const from = `0x${String(n).padStart(40, '0')}`
    if (code !== undefined) this.node.codes.set(from, code)
    return { ...this.node.intent, payment_id: `p${n}`, from }
  }
}

async function settle(replies: readonly Reply[]): Promise<{ outcome: Outcome; sent: Sent[]; node: TestNode }> {
  const world = new World()
  world.node.replies = [...replies]
  return { outcome: await world.settle(), sent: world.sent, node: world.node }
}

it('settles what the node takes, and has written it down before', async () => {
  const { outcome, sent, node } = await settle(['takes'])
  expect(outcome).toEqual({ is: 'settled', tx: sent[0]?.tx, block: 7, by: 'us' })
  expect(sent.map(({ raw }) => raw)).toEqual([...node.taken.values()])
})

it('takes another number where one is taken', async () => {
  const { outcome, sent } = await settle(['says taken', 'takes'])
  expect(sent.map(({ raw }) => nonceOf(raw ?? '0x'))).toEqual([0, 1])
  expect(outcome).toMatchObject({ is: 'settled', tx: sent[1]?.tx })
})

it('fails where the node refuses, and nothing was sent', async () => {
  const { outcome, node } = await settle(['refuses'])
  expect(outcome).toEqual({ is: 'failed', tx: null, reason: 'unexpected_settle_error' })
  expect(node.taken.size).toBe(0)
})

it('fails after one look where the payer has used the authorization for another transfer', async () => {
  const world = new World()
  const { node } = world
  const input = transferCall({ ...node.intent, pay_to: node.intent.from, value: '0' })
  node.mine(`0x${'41'.repeat(32)}`, { isPaid: true, input })
  const outcome = await world.settle()
  expect(outcome).toEqual({ is: 'failed', tx: null, reason: 'invalid_exact_evm_nonce_already_used' })
  expect(node.asked.filter((method) => method === 'eth_getLogs')).toHaveLength(1)
})

it('has not settled by a transaction that moved other money, whoever has sent it', async () => {
  const world = new World()
  const tx = hex(`0x${'43'.repeat(32)}`)
  world.node.mine(tx, { isPaid: true, input: transferCall({ ...world.node.intent, nonce: `0x${'78'.repeat(32)}` }) })
  expect(await world.settle(world.node.intent, [{ tx, raw: null }])).toMatchObject({ is: 'failed', tx })
})

it('does not say that it failed where the number was taken by the very transaction, and the next is refused', async () => {
  const { outcome, sent } = await settle(['takes, says taken', 'refuses'])
  expect(outcome).toEqual({ is: 'settled', tx: sent[0]?.tx, block: 7, by: 'us' })
})

describe('an answer of the node to what it was sent', () => {
  it.each([
    [-32002, 'request timed out'],
    [-32603, 'upstream request timeout'],
    [-32015, 'backend returned an invalid response'],
    [-32005, 'limit exceeded'],
    [-32000, 'words that nobody has heard before'],
  ])('that does not say what became of it is no refusal: %i %s', async (code, says) => {
    const { outcome, sent } = await settle([{ takes: true, code, says }])
    expect(outcome).toEqual({ is: 'settled', tx: sent[0]?.tx, block: 7, by: 'us' })
    expect(sent).toHaveLength(1)
  })

  it('that does not say so has what was not taken sent again', async () => {
    const { outcome, sent, node } = await settle([{ takes: false, code: -32002, says: 'request timed out' }])
    expect(outcome).toMatchObject({ is: 'settled', by: 'us' })
    expect([sent.length, node.asked.filter((method) => method === 'eth_sendRawTransaction').length]).toEqual([1, 2])
  })

  it.each([
    'insufficient funds for gas * price + value: balance 0, tx cost 1',
    'Insufficient funds for gas * price + value',
    'intrinsic gas too low: gas 20999, minimum needed 21000',
    'max fee per gas less than block base fee: address 0x, maxFeePerGas: 1, baseFee: 2',
    'max priority fee per gas higher than max fee per gas',
    'transaction underpriced: tip needed 1, tip permitted 0',
    'invalid chain id for signer: have 1 want 2',
    'invalid sender',
    'nonce too high',
    'exceeds block gas limit',
    'tx fee (2.00 ether) exceeds the configured cap (1.00 ether)',
    'transaction type not supported',
    'txpool is full',
  ])('that names what is wrong with it is a refusal: %s', async (says) => {
    const { outcome, node } = await settle([{ takes: false, code: -32000, says }])
    expect(outcome).toEqual({ is: 'failed', tx: null, reason: 'unexpected_settle_error' })
    expect(node.taken.size).toBe(0)
  })
})

describe('a payment whose number has passed before its receipt is known', () => {
  /** Until then the node tells neither receipts nor, where it is behind, that the authorization is used. */
  const LATE_MS = 60_000

  it.each<[string, boolean, (world: World) => unknown]>([
    [
      'whose payer has cooled down meanwhile',
      true,
      ({ guard, node, clock }) => guard.cool(node.intent.from, clock.now()),
    ],
    ['while no more gas may be lost', true, ({ guard, clock }) => guard.lose('0x', LIMITS.lostMax, clock.now())],
    ['while gas costs too much', true, ({ node }) => (node.baseFee = FEE_MAX)],
    ['while transfers cannot be run', true, ({ node }) => (node.simulates = false)],
    ['while the node refuses another', true, ({ node }) => (node.replies = ['refuses', 'refuses', 'refuses'])],
    ['whose use is known', false, () => undefined],
    ['whose use is known, of a payer without money left', false, ({ node }) => (node.revert = 'exceeds balance')],
  ])('is watched on: %s', async (_, isBehind, happens) => {
    const world = new World()
    const { node, clock } = world
    node.onTaken = () => {
      node.onTaken = () => undefined
      Object.assign(node, { isSlow: true, isBehind })
      happens(world)
    }
    const until = clock.now() + LATE_MS
    clock.onDelay = () => void (clock.now() > until && Object.assign(node, { isSlow: false, isBehind: false }))
    expect(await world.settle()).toEqual({ is: 'settled', tx: world.sent[0]?.tx, block: 7, by: 'us' })
    expect(clock.now()).toBeGreaterThan(until)
  })
})

describe('a wallet in the place of another', () => {
  const former = privateKeyToAccount(`0x${'5b'.repeat(32)}`)

  /** What the former wallet has signed for the payment, under its number 41. */
  async function signed(intent: PaymentIntent): Promise<{ tx: Hex; raw: Hex }> {
    const { to, data } = { to: hex(intent.asset), data: transferCall(intent) }
    const fees = { maxFeePerGas: 5n, maxPriorityFeePerGas: 1n, gas: 300_000n, value: 0n }
    const { chainId } = SELLER.network
    const raw = await former.signTransaction({ type: 'eip1559', chainId, nonce: 41, to, data, ...fees })
    return { tx: keccak256(raw), raw }
  }

  it('watches what that one has sent to its end, sends nothing itself, and numbers its own from its own', async () => {
    const world = new World()
    const { intent } = world.node
    const sent = await signed(intent)
    world.node.used.set(former.address.toLowerCase(), 41)
    expect(await world.settle(intent, [sent])).toEqual({ is: 'settled', tx: sent.tx, block: 7, by: 'us' })
    expect(world.sent).toEqual([])
    expect([...world.node.taken.values()]).toEqual([sent.raw])
    world.node.used.set(account.address.toLowerCase(), 0)
    expect(await world.settle(world.payment(2))).toMatchObject({ is: 'settled' })
    expect(world.sent.map(({ raw }) => nonceOf(raw ?? '0x'))).toEqual([0])
  })

  it('sends the payment itself once the number of the other was used for something else', async () => {
    const world = new World()
    const { intent } = world.node
    const sent = await signed(intent)
    world.node.used.set(former.address.toLowerCase(), 42)
    world.node.used.set(account.address.toLowerCase(), 0)
    expect(await world.settle(intent, [sent])).toMatchObject({ is: 'settled', tx: world.sent[0]?.tx })
    expect(world.sent.map(({ raw }) => nonceOf(raw ?? '0x'))).toEqual([0])
  })

  it('sends it until the node takes it', async () => {
    const world = new World()
    const sent = await signed(world.node.intent)
    world.node.used.set(former.address.toLowerCase(), 42)
    world.node.replies = ['refuses']
    expect(await world.settle(world.node.intent, [sent])).toMatchObject({ is: 'settled', tx: world.sent[1]?.tx })
    expect(world.sent.map(({ raw }) => nonceOf(raw ?? '0x'))).toEqual([0, 0])
  })

  it('fails where the payer has used the authorization for another transfer too', async () => {
    const world = new World()
    const { intent } = world.node
    const sent = await signed(intent)
    world.node.used.set(former.address.toLowerCase(), 42)
    const input = transferCall({ ...intent, pay_to: intent.from, value: '0' })
    world.node.mine(`0x${'41'.repeat(32)}`, { isPaid: true, input })
    const reason = 'invalid_exact_evm_nonce_already_used'
    expect(await world.settle(intent, [sent])).toEqual({ is: 'failed', tx: sent.tx, reason })
    expect(world.sent).toEqual([])
  })
})

describe('payers whose transfers are accepted when asked and undone in the block', () => {
  const UNDONE: Outcome = { is: 'failed', tx: expect.any(String) as string, reason: 'invalid_transaction_state' }
  const COOLING: Outcome = { is: 'failed', tx: null, reason: 'payer_cooling_down' }
  const OURS: Outcome = { is: 'failed', tx: null, reason: 'unexpected_settle_error' }
  /** Gas of one: at the node’s base fee of 1, and at the most that is signed. */
  const [cost, most] = [90_000n, 300_000n * 5n]

  it('cool down with all wallets of their code, for a while; others are settled', async () => {
    const world = new World()
    world.node.pays = false
    expect(await world.settle(world.payment(1, '0x60aa'))).toEqual(UNDONE)
    expect(await world.settle(world.payment(2, '0x60aa'))).toEqual(COOLING)
    expect(world.settler.losses).toEqual({ gas: cost, cooling: 1 })
    world.node.pays = true
    expect(await world.settle(world.payment(3, '0x60bb'))).toMatchObject({ is: 'settled' })
    await world.clock.delay(LIMITS.coolMs)
    expect(await world.settle(world.payment(2, '0x60aa'))).toMatchObject({ is: 'settled' })
    expect([world.sent.length, world.settler.losses.cooling]).toEqual([3, 0])
  })

  it.each([
    ['has no code', undefined, null],
    ['has emptied its account, whatever its code', '0x60aa', 'ERC20: transfer amount exceeds balance'],
  ] as const)('cool down alone where the payer %s', async (_, code, revert) => {
    const world = new World()
    world.node.pays = false
    world.node.onTaken = () => (world.node.revert = revert)
    expect(await world.settle(world.payment(1, code))).toMatchObject({ is: 'failed' })
    world.node.revert = null
    expect(await world.settle(world.payment(1, code))).toEqual(COOLING)
    world.node.pays = true
    expect(await world.settle(world.payment(2, code))).toMatchObject({ is: 'settled' })
  })

  it('cost no more than the budget of an hour, over all of them; it is said, and over an hour later', async () => {
    const world = new World({ ...LIMITS, lostMax: most + 2n * cost })
    world.node.pays = false
    for (const n of [1, 2, 3]) expect(await world.settle(world.payment(n, `0x60a${n}`))).toEqual(UNDONE)
    expect(world.settler.trouble).toContain(`have cost ${3n * cost} wei within an hour`)
    expect(await world.settle(world.payment(4, '0x60a4'))).toEqual(OURS)
    expect(await world.settle(world.payment(5))).toEqual(OURS)
    expect(world.sent).toHaveLength(3)
    await world.clock.delay(3_600_000)
    expect(world.settler.trouble).toBeNull()
    expect(await world.settle(world.payment(4, '0x60a4'))).toEqual(UNDONE)
  })

  it('cost no more than that at once either: what is on its way counts as lost', async () => {
    const world = new World({ ...LIMITS, lostMax: 3n * most })
    world.node.pays = false
    world.node.isSlow = true
    const all = Array.from({ length: 10 }, (_, n) => world.settle(world.payment(n, `0x60b${n}`)))
    expect((await Promise.all(all.slice(3))).every(({ is }) => is === 'failed')).toBe(true)
    expect(world.sent).toHaveLength(3)
    world.node.isSlow = false
    expect(await Promise.all(all.slice(0, 3))).toEqual([UNDONE, UNDONE, UNDONE])
  })

  it('hold what is on its way for them, also where no room is for another', () => {
    const { guard, clock } = new World({ ...LIMITS, lostMax: 10n })
    expect(guard.take('p1', 8n, clock.now())).toBe('held')
    expect(guard.take('p1', 11n, clock.now())).toBe('spent')
    expect(guard.take('p2', 5n, clock.now())).toBe('later')
  })

  it('are remembered by the next owner, at the most that they can have cost', async () => {
    const before = new World()
    await before.settle()
    const { tx, raw } = before.sent[0] ?? {}
    const world = new World({ ...LIMITS, lostMax: 2n * most - 1n })
    const failure = { payer: world.payment(1).from, tx: tx ?? '0x', raw: raw ?? '0x', time: world.clock.now() }
    world.settler.recall([failure, failure], [])
    expect(world.settler.losses).toEqual({ gas: most, cooling: 1 })
    expect(await world.settle(world.payment(1))).toEqual(COOLING)
    expect(await world.settle(world.payment(2))).toEqual(OURS)
    expect(world.sent).toEqual([])
  })
})

describe('while gas costs more than we pay', () => {
  it('nothing is signed, it is said, and what comes later is settled', async () => {
    const world = new World()
    world.node.baseFee = FEE_MAX
    expect(await world.settle()).toEqual({ is: 'failed', tx: null, reason: 'unexpected_settle_error' })
    expect([world.sent, world.node.taken.size]).toEqual([[], 0])
    expect(world.settler.trouble).toContain(`PAYMENT_FEE_WEI_MAX=${FEE_MAX}`)
    world.node.baseFee = FEE_MAX / 2n
    await world.clock.delay(2_000)
    expect(await world.settle()).toMatchObject({ is: 'settled' })
    expect(world.settler.trouble).toBeNull()
    expect(parseTransaction(world.sent[0]?.raw ?? '0x').maxFeePerGas).toBe(FEE_MAX)
  })
})

describe('what is stuck below the price of gas', () => {
  const OTHER: Hex = `0x${'41'.repeat(32)}`

  /** A payment whose transaction the pool has, and no block: gas has got dear right before it came. */
  async function stuck(world: World, whoPays?: (intent: PaymentIntent) => void): Promise<Outcome> {
    const { node } = world
    const intent = world.payment(1)
    const sending = async (one: Sent): Promise<void> => {
      world.sent.push(one)
      world.of.push(intent.payment_id)
      if (node.hasPool) return
      Object.assign(node, { hasPool: true, baseFee: 100n })
      whoPays?.(intent)
    }
    return world.settler.settle({ intent, sent: [], sending, signal: AbortSignal.timeout(40_000) })
  }
  const paidByOther =
    ({ node }: World) =>
    (intent: PaymentIntent): void =>
      node.mine(OTHER, { isPaid: true, input: transferCall(intent) })
  const numbers = ({ sent }: World): number[] => sent.map(({ raw }) => nonceOf(raw ?? '0x'))

  it('is signed anew as its own payment’s, under its number', async () => {
    const world = new World()
    const first = stuck(world)
    await world.clock.delay(0)
    const second = world.settle(world.payment(2))
    expect([await first, await second]).toMatchObject([{ by: 'us' }, { by: 'us' }])
    expect(numbers(world)).toEqual([0, 1, 0, 1])
    expect(world.of).toEqual(['p1', 'p2', 'p1', 'p2'])
  })

  it('holds up no later payment where its own has ended: its number goes to one that moves nothing', async () => {
    const world = new World()
    expect(await stuck(world, paidByOther(world))).toEqual({ is: 'settled', tx: OTHER, block: 7, by: 'other' })
    expect(await world.settle(world.payment(2))).toMatchObject({ is: 'settled', by: 'us' })
    expect(world.of).toEqual(['p1', 'p2'])
    const { to, nonce, data, value, gas, maxFeePerGas } = parseTransaction([...world.node.taken.values()][0] ?? '0x')
    expect([to, nonce, data, value]).toEqual([account.address.toLowerCase(), 0, undefined, undefined])
    expect([gas, maxFeePerGas]).toEqual([21_000n, 402n])
    expect(world.settler.losses.gas).toBe(21_000n * 402n)
  })

  it('stays so while gas costs more than we pay', async () => {
    const world = new World()
    const { node, clock } = world
    await stuck(world, paidByOther(world))
    const until = clock.now() + 60_000
    clock.onDelay = () => void (node.baseFee = clock.now() < until ? 2n * FEE_MAX : 100n)
    expect(await world.settle(world.payment(2))).toMatchObject({ is: 'settled', by: 'us' })
    expect([clock.now() > until, numbers(world)]).toEqual([true, [0, 1]])
  })

  it('holds up none of the next owner either', async () => {
    const before = new World()
    await stuck(before, paidByOther(before))
    const world = new World(LIMITS, before.node)
    world.settler.recall([], before.sent)
    expect(await world.settle(world.payment(2))).toMatchObject({ is: 'settled', by: 'us' })
    expect([numbers(world), world.settler.losses.gas]).toEqual([[1], 21_000n * 402n])
  })

  it('leaves its number to the next payment where the node has dropped it', async () => {
    const before = new World()
    await stuck(before, paidByOther(before))
    before.node.pool.clear()
    const world = new World(LIMITS, before.node)
    world.settler.recall([], before.sent)
    expect(await world.settle(world.payment(2))).toMatchObject({ is: 'settled', by: 'us' })
    expect([numbers(world), world.settler.losses.gas]).toEqual([[0], 0n])
  })
})

it('logs nothing of the address of a node, whose path may be a key, where the node is away', async () => {
  const url = 'http://127.0.0.1:9/v2/the-key-of-a-provider' // a port that no fetch tries
  const lines: string[] = []
  const env = { LOG_FORMAT: 'json', PAYMENT_RPC_URL: url }
  const report = createLog('payments', env, { write: (line) => void lines.push(line) })
  const [client, clock, ended] = [connectChain(url), new TestClock(), new AbortController()]
  const wallet = new Wallet({ client, chainId: SELLER.network.chainId, account, feeMax: FEE_MAX, clock, report })
  const settler = new OwnSettler({ chain: new Chain(client), wallet, guard: new GasGuard(LIMITS), clock, report })
  const { intent } = new TestNode()
  const common = { intent, sending: async () => undefined, signal: ended.signal }
  expect(await settler.settle({ ...common, sent: [] })).toMatchObject({ is: 'failed' })
  clock.onDelay = () => ended.abort()
  await expect(settler.settle({ ...common, sent: [{ tx: `0x${'41'.repeat(32)}`, raw: null }] })).rejects.toThrow()
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'a payment could not be settled',
    'the chain does not answer; asking on',
  ])
  expect(lines.join('')).not.toContain('the-key-of-a-provider')
})
