import {
  BaseError,
  ExecutionRevertedError,
  isHex,
  keccak256,
  parseAbiItem,
  TransactionReceiptNotFoundError,
  type Address,
  type Hex,
  type Log,
  type PublicClient,
  type TransactionReceipt,
} from 'viem'
import { connectNode } from '../../infra/chain.ts'
import { hasPaid, hex, reasonOf, tokenAbi, transferCall, type Authorization } from './token.ts'

/** Gas that a settlement may take: a transfer takes under 100,000, a contract wallet may check its signature besides. */
export const GAS = 300_000n
const CALL_MS = 5_000
/** Blocks that one search covers: what public nodes answer at once. */
const SEARCH_BLOCKS = 2_000n
/** A day of blocks of two seconds: no authorization lasts so long. */
const SEARCHES_MAX = 22

/** The node did not answer, or not what it was asked. Trying later can help. */
export class ChainError extends Error {
  readonly code = 'chain-unavailable'
}

/** A transaction that is in a block. */
export interface Mined {
  readonly tx: Hex
  readonly block: number
  readonly from: Address
  readonly isSuccess: boolean
  readonly logs: readonly Log[]
  /** What its sender paid for it, wei. */
  readonly cost: bigint
}

export function connectChain(url: string): PublicClient {
  return connectNode(url, CALL_MS)
}

/** What we ask of the chain. Everything here reads; each call rejects with `ChainError` where the node is no help. */
export class Chain {
  readonly #client: PublicClient

  constructor(client: PublicClient) {
    this.#client = client
  }

  /** Runs the very transaction that would be sent: null, or the reason code of the token's refusal. */
  async simulate(authorization: Authorization, account: Address): Promise<string | null> {
    const call = { account, to: hex(authorization.asset), data: transferCall(authorization), gas: GAS }
    try {
      await this.#client.call(call)
      return null
    } catch (error) {
      const revert = error instanceof BaseError ? error.walk((each) => each instanceof ExecutionRevertedError) : null
      if (revert === null) throw new ChainError('the transfer could not be simulated', { cause: error })
      return reasonOf(error instanceof Error ? error.message : '')
    }
  }

  /** Whether the authorization is used, or cancelled by its payer. */
  isUsed(authorization: Authorization): Promise<boolean> {
    return this.#isUsedAt(authorization)
  }

  /** As `isUsed`, by a node that knows of that block: of several behind one address some may lag. */
  async isUsedSince(authorization: Authorization, block: number): Promise<boolean> {
    const head = await asked('blockNumber', this.#client.getBlockNumber())
    if (head < block) throw new ChainError(`the node has not seen block ${block} yet`)
    return this.#isUsedAt(authorization, head)
  }

  #isUsedAt({ asset, from, nonce }: Authorization, blockNumber?: bigint): Promise<boolean> {
    const call = { address: hex(asset), abi: tokenAbi, functionName: 'authorizationState' } as const
    const at = blockNumber === undefined ? {} : { blockNumber }
    return asked('authorizationState', this.#client.readContract({ ...call, args: [hex(from), hex(nonce)], ...at }))
  }

  /** By the chain's clock the authorization has ended, and it was not used: nobody can use it any more. */
  async isOver(authorization: Authorization): Promise<boolean> {
    const { timestamp, number } = await asked('block', this.#client.getBlock())
    return Number(timestamp) >= authorization.valid_before && !(await this.#isUsedAt(authorization, number))
  }

  /** Whether that transaction, which has failed, was the authorization's, and no other has used it before. */
  async isUndone({ tx, block }: Mined, authorization: Authorization): Promise<boolean> {
    const { input } = await asked('transaction', this.#client.getTransaction({ hash: tx }))
    const { from, nonce } = authorization
    const isOurs = [from, nonce].every((word) => input.toLowerCase().includes(word.slice(2).toLowerCase()))
    return isOurs && !(await this.isUsedSince(authorization, block))
  }

  /**
   * What became of a used authorization: the transaction that moved its money; `gone`: its payer has cancelled it, or used
   * it for another transfer, which can be done once; undefined: the node knows of no use.
   */
  async findUse(authorization: Authorization): Promise<Mined | 'gone' | undefined> {
    const { asset, from, nonce } = authorization
    const args = { authorizer: hex(from), nonce: hex(nonce) }
    let to = await asked('blockNumber', this.#client.getBlockNumber())
    for (let searches = 0; searches < SEARCHES_MAX; searches++) {
      const fromBlock = to >= SEARCH_BLOCKS ? to - SEARCH_BLOCKS + 1n : 0n
      const filter = { address: hex(asset), args, fromBlock, toBlock: to }
      for (const { transactionHash } of await asked('logs', this.#client.getLogs({ ...filter, event: usedEvent }))) {
        const mined = await this.receipt(transactionHash)
        if (mined?.isSuccess === true) return hasPaid(mined.logs, authorization) ? mined : 'gone'
      }
      const cancels = await asked('logs', this.#client.getLogs({ ...filter, event: cancelledEvent }))
      if (cancels.length > 0) return 'gone'
      if (fromBlock === 0n) return undefined
      to = fromBlock - 1n
    }
    return undefined
  }

  /** Hash of an account's code; null: it has none. */
  async codeHash(address: string): Promise<Hex | null> {
    const code = await asked('code', this.#client.getCode({ address: hex(address) }))
    return code === undefined || code === '0x' ? null : keccak256(code)
  }

  async receipt(tx: Hex): Promise<Mined | undefined> {
    try {
      const receipt = await this.#client.getTransactionReceipt({ hash: tx })
      const { blockNumber, from, status, logs } = receipt
      return { tx, block: Number(blockNumber), from, isSuccess: status === 'success', logs, cost: costOf(receipt) }
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return undefined
      throw new ChainError('a receipt could not be read', { cause: error })
    }
  }
}

/** On networks over another one the part for its blocks is told beside the gas. Source: the OP Stack's receipts. */
function costOf(receipt: TransactionReceipt): bigint {
  const { gasUsed, effectiveGasPrice } = receipt
  const l1Fee: unknown = Reflect.get(receipt, 'l1Fee')
  return gasUsed * effectiveGasPrice + (isHex(l1Fee) ? BigInt(l1Fee) : 0n)
}

const cancelledEvent = parseAbiItem('event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)')
const usedEvent = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')

export async function asked<Answer>(what: string, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    throw new ChainError(`the node did not tell ${what}`, { cause: error })
  }
}
