import {
  createPublicClient,
  custom,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionResult,
  keccak256,
  numberToHex,
  parseTransaction,
  RpcRequestError,
  toFunctionSelector,
  type Hex,
  type PublicClient,
} from 'viem'
import type { Clock } from '../../kernel/ports.ts'
import { hex, tokenAbi } from '../token.ts'
import { intentOf, NOW } from './intents.ts'

/** What the node says to a transaction: it takes it, or takes it and says no, or says no, in words of its own too. */
export type Reply = 'takes' | 'takes, says taken' | 'says taken' | 'refuses' | Refusal

interface Refusal {
  readonly takes: boolean
  readonly code: number
  readonly says: string
}

const refusals = {
  'takes, says taken': { takes: true, code: -32000, says: 'nonce too low' },
  'says taken': { takes: false, code: -32000, says: 'nonce too low' },
  refuses: { takes: false, code: -32000, says: 'insufficient funds for gas' },
}
const STATE = toFunctionSelector('authorizationState(address,bytes32)')
const BLOCK = 7

/** Time that passes only where somebody waits. */
export class TestClock implements Clock {
  #now = NOW * 1_000
  /** Called with each wait, before it is over. */
  onDelay: (ms: number) => void = () => undefined

  now(): number {
    return this.#now
  }

  steady(): number {
    return this.#now
  }

  delay(ms: number): Promise<void> {
    this.#now += ms
    this.onDelay(ms)
    return new Promise(setImmediate) // what else is under way goes first
  }

  turn(): Promise<void> {
    return Promise.resolve()
  }
}

interface Done {
  readonly isPaid: boolean
  /** Calldata. */
  readonly input: Hex
}

/** The n-th argument of a call, 32 bytes. */
function word(data: Hex, n: number): string {
  return data.slice(10 + 64 * n, 74 + 64 * n)
}

/** A node in memory, of a chain that mines what it takes at once, and knows transfers by authorization and nothing else. */
export class TestNode {
  readonly intent = intentOf()
  readonly client: PublicClient
  /** Answers to the next transactions; afterwards it takes them. */
  replies: Reply[] = []
  /** Whether a transaction that it takes pays, or is undone. */
  pays = true
  /** The token's word on the transfer; null: it would go through. */
  revert: string | null = null
  /** Authorizations that were used for something else, or for nothing. */
  isUsed = false
  baseFee = 1n
  /** Seconds. */
  time = NOW
  /** Code of accounts, by their address. */
  readonly codes = new Map<string, Hex>()
  /** What was taken, raw, by its hash. */
  readonly taken = new Map<Hex, Hex>()
  /** Numbers that other wallets than the one at hand have used, by address. */
  readonly used = new Map<string, number>()
  readonly asked: string[] = []
  /** Whether blocks are kept back. */
  isSlow = false
  /** Whether what the last blocks have changed is not known yet. */
  isBehind = false
  /** Whether it can run a transfer without sending it. */
  simulates = true
  onTaken: () => void = () => undefined
  /** Whether blocks take what is the next by its number and pays their base fee; what does not waits here, by number. */
  hasPool = false
  readonly pool = new Map<number, Hex>()
  readonly #paid = new Set<string>()
  readonly #done = new Map<Hex, Done>()

  constructor() {
    const request = async ({ method, params }: { method: string; params?: readonly unknown[] }): Promise<unknown> => {
      this.asked.push(method)
      return this.#answer(method, params ?? [])
    }
    this.client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }), cacheTime: 0 })
  }

  /** Somebody's transaction gets into a block. */
  mine(tx: Hex, done: Done): void {
    this.#done.set(tx, done)
    if (done.isPaid) this.#paid.add(word(done.input, 0))
  }

  #answer(method: string, params: readonly unknown[]): unknown {
    switch (method) {
      case 'eth_call':
        return this.#call(params[0] as { data: Hex })
      case 'eth_getTransactionCount':
        return numberToHex(this.used.get(String(params[0]).toLowerCase()) ?? this.#count(params[1]))
      case 'eth_blockNumber':
        return numberToHex(BLOCK)
      case 'eth_getBlockByNumber':
        return {
          number: numberToHex(BLOCK),
          baseFeePerGas: numberToHex(this.baseFee),
          timestamp: numberToHex(this.time),
          transactions: [],
        }
      case 'eth_maxPriorityFeePerGas':
        return '0x1'
      case 'eth_getCode':
        return this.codes.get(String(params[0]).toLowerCase()) ?? '0x'
      case 'eth_sendRawTransaction':
        return this.#take(hex(String(params[0])))
      case 'eth_getTransactionReceipt':
        return this.#receipt(hex(String(params[0])))
      case 'eth_getTransactionByHash':
        return this.#transaction(hex(String(params[0])))
      case 'eth_getLogs':
        return this.#logs(params[0] as { topics: readonly string[] })
      default:
        throw new Error(`nobody told the node what to say to ${method}`)
    }
  }

  #call({ data }: { data: Hex }): Hex {
    const isUsed = this.isUsed || (this.#paid.has(word(data, 0)) && !this.isBehind)
    if (data.startsWith(STATE))
      return encodeFunctionResult({ abi: tokenAbi, functionName: 'authorizationState', result: isUsed })
    if (!this.simulates) throw new Error('502 Bad Gateway')
    const message = isUsed ? 'authorization is used or canceled' : this.revert
    if (message !== null) throw refusal(3, `execution reverted: ${message}`)
    return '0x'
  }

  #count(block: unknown): number {
    return this.taken.size + (block === 'pending' ? this.pool.size : 0)
  }

  #take(raw: Hex): Hex {
    const reply = this.replies.shift() ?? 'takes'
    const no = reply === 'takes' ? undefined : typeof reply === 'string' ? refusals[reply] : reply
    if (no?.takes === false) throw refusal(no.code, no.says)
    if (this.hasPool) this.#wait(raw)
    else this.#pack(raw)
    if (no === undefined) return keccak256(raw)
    throw refusal(no.code, no.says)
  }

  #wait(raw: Hex): void {
    const { nonce = 0, maxFeePerGas: cap = 0n } = parseTransaction(raw)
    const before = this.pool.get(nonce)
    if (nonce < this.taken.size) throw refusal(-32000, 'nonce too low')
    if (before === raw) throw refusal(-32000, 'already known')
    if (before !== undefined && cap * 10n < (parseTransaction(before).maxFeePerGas ?? 0n) * 11n)
      throw refusal(-32000, 'replacement transaction underpriced')
    this.pool.set(nonce, raw)
    for (;;) {
      const next = this.pool.get(this.taken.size)
      if (next === undefined || (parseTransaction(next).maxFeePerGas ?? 0n) < this.baseFee) return
      this.pool.delete(this.taken.size)
      this.#pack(next)
    }
  }

  /** It is in a block; a transfer whose authorization is used is undone there. */
  #pack(raw: Hex): void {
    const { data } = parseTransaction(raw)
    const tx = keccak256(raw)
    this.taken.set(tx, raw)
    this.mine(tx, { isPaid: this.pays && data !== undefined && !this.#paid.has(word(data, 0)), input: data ?? '0x' })
    this.onTaken()
  }

  #transaction(tx: Hex): object | null {
    const done = this.#done.get(tx)
    return done === undefined ? null : { hash: tx, input: done.input, blockNumber: numberToHex(BLOCK), type: '0x2' }
  }

  #receipt(tx: Hex): object | null {
    const done = this.#done.get(tx)
    if (done === undefined || this.isSlow) return null
    const cost = { gasUsed: numberToHex(90_000), effectiveGasPrice: numberToHex(this.baseFee) }
    const from = hex(this.intent.pay_to)
    const logs = done.isPaid ? this.#logsOf(tx, done) : []
    const status = done.isPaid ? '0x1' : '0x0'
    return { blockNumber: numberToHex(BLOCK), status, from, transactionHash: tx, logs, ...cost }
  }

  #logs({ topics }: { topics: readonly string[] }): readonly object[] {
    return [...this.#done]
      .filter(([, { isPaid }]) => isPaid)
      .flatMap(([tx, done]) => this.#logsOf(tx, done))
      .filter((log) => log.topics[0] === topics[0])
  }

  #logsOf(tx: Hex, { input }: Done): { readonly topics: readonly unknown[] }[] {
    const { asset } = this.intent
    const [from, to] = [`0x${word(input, 0).slice(24)}`, `0x${word(input, 1).slice(24)}`]
    const [value, nonce] = [BigInt(`0x${word(input, 2)}`), `0x${word(input, 5)}`]
    const location = { blockNumber: numberToHex(BLOCK), transactionHash: tx, transactionIndex: '0x0', removed: false }
    const used = { authorizer: hex(from), nonce: hex(nonce) }
    const moved = { from: hex(from), to: hex(to) }
    const both = [
      [encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed', args: used }), '0x'],
      [
        encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer', args: moved }),
        encodeAbiParameters([{ type: 'uint256' }], [value]),
      ],
    ] as const
    return both.map(([topics, data]) => ({ ...location, address: asset, logIndex: '0x0', topics, data }))
  }
}

function refusal(code: number, message: string): Error {
  return new RpcRequestError({ body: {}, url: 'fake', error: { code, message } })
}
