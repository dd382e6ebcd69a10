import {
  createPublicClient,
  custom,
  encodeAbiParameters,
  encodeEventTopics,
  keccak256,
  RpcRequestError,
  type Hex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { quietReport } from '../kernel/driver.ts'
import type { Clock } from '../kernel/ports.ts'
import { Chain } from './chain.ts'
import { intentOf, NOW, SELLER } from './given.ts'
import { OwnSettler } from './own-settler.ts'
import type { Outcome, Sent } from './settler.ts'
import { hex, tokenAbi } from './token.ts'
import { nonceOf, Wallet } from './wallet.ts'

/** What the node says to each transaction in turn: it takes it, or takes it and says no, or says no. */
type Reply = 'takes' | 'takes, says taken' | 'says taken' | 'refuses'

const intent = intentOf()
const account = privateKeyToAccount(`0x${'5a'.repeat(32)}`)
const words = {
  'takes, says taken': 'nonce too low',
  'says taken': 'nonce too low',
  refuses: 'insufficient funds for gas',
}

/** A node in memory that mines what it takes at once. */
class FakeNode {
  readonly mined = new Map<Hex, Hex>()
  readonly #replies: Reply[]

  constructor(replies: readonly Reply[]) {
    this.#replies = [...replies]
  }

  answer(method: string, params: readonly unknown[]): unknown {
    switch (method) {
      case 'eth_call':
        return '0x'
      case 'eth_getTransactionCount':
        return `0x${this.mined.size.toString(16)}`
      case 'eth_getBlockByNumber':
        return { number: '0x7', baseFeePerGas: '0x1', timestamp: `0x${NOW.toString(16)}`, transactions: [] }
      case 'eth_maxPriorityFeePerGas':
        return '0x1'
      case 'eth_sendRawTransaction':
        return this.#take(hex(String(params[0])))
      case 'eth_getTransactionReceipt':
        return this.#receipt(hex(String(params[0])))
      default:
        throw new Error(`nobody told the node what to say to ${method}`)
    }
  }

  #take(raw: Hex): Hex {
    const reply = this.#replies.shift() ?? 'takes'
    if (reply === 'takes' || reply === 'takes, says taken') this.mined.set(keccak256(raw), raw)
    if (reply === 'takes') return keccak256(raw)
    const error = { code: -32000, message: words[reply] }
    throw new RpcRequestError({ body: {}, url: 'fake', error })
  }

  #receipt(tx: Hex): object | null {
    if (!this.mined.has(tx)) return null
    const { asset, from, pay_to: to, value, nonce } = intent
    const log = (topics: readonly unknown[], data: Hex): object => {
      const place = {
        blockNumber: '0x7',
        transactionHash: tx,
        transactionIndex: '0x0',
        logIndex: '0x0',
        removed: false,
      }
      return { ...place, address: asset, topics, data }
    }
    const used = { authorizer: hex(from), nonce: hex(nonce) }
    const moved = { from: hex(from), to: hex(to) }
    const logs = [
      log(encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed', args: used }), '0x'),
      log(
        encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer', args: moved }),
        encodeAbiParameters([{ type: 'uint256' }], [BigInt(value)]),
      ),
    ]
    return { blockNumber: '0x7', status: '0x1', from: account.address, transactionHash: tx, logs }
  }
}

async function settle(replies: readonly Reply[]): Promise<{ outcome: Outcome; sent: Sent[]; node: FakeNode }> {
  const node = new FakeNode(replies)
  const request = async ({ method, params }: { method: string; params?: readonly unknown[] }): Promise<unknown> =>
    node.answer(method, params ?? [])
  const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }), cacheTime: 0 })
  let now = NOW * 1_000
  const clock: Clock = {
    now: () => now,
    delay: async (ms) => void (now += ms),
    turn: () => Promise.resolve(),
  }
  const { chainId } = SELLER.network
  const wallet = new Wallet({ client, chainId, account, clock, report: quietReport })
  const settler = new OwnSettler({ chain: new Chain(client), wallet, clock, report: quietReport })
  const sent: Sent[] = []
  const sending = async (one: Sent): Promise<void> => void sent.push(one)
  const signal = AbortSignal.timeout(30_000)
  return { outcome: await settler.settle({ intent, sent: [], sending, signal }), sent, node }
}

it('settles what the node takes, and has written it down before', async () => {
  const { outcome, sent, node } = await settle(['takes'])
  expect(outcome).toEqual({ is: 'settled', tx: sent[0]?.tx, block: 7, by: 'us' })
  expect(sent.map(({ raw }) => raw)).toEqual([...node.mined.values()])
})

it('takes another number where one is taken', async () => {
  const { outcome, sent } = await settle(['says taken', 'takes'])
  expect(sent.map(({ raw }) => nonceOf(raw ?? '0x'))).toEqual([0, 1])
  expect(outcome).toMatchObject({ is: 'settled', tx: sent[1]?.tx })
})

it('fails where the node refuses, and nothing was sent', async () => {
  const { outcome, node } = await settle(['refuses'])
  expect(outcome).toEqual({ is: 'failed', tx: null, reason: 'unexpected_settle_error' })
  expect(node.mined.size).toBe(0)
})

it('does not say that it failed where the number was taken by the very transaction, and the next is refused', async () => {
  const { outcome, sent } = await settle(['takes, says taken', 'refuses'])
  expect(outcome).toEqual({ is: 'settled', tx: sent[0]?.tx, block: 7, by: 'us' })
})
