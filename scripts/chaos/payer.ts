import { randomBytes } from 'node:crypto'
import { parseAbiItem } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { payer, token } from '../../infra/local/chain/accounts.ts'
import { tokenAbi, localClient } from '../../infra/local/chain/prepare-chain.ts'
import { decodeHeader } from '../../processors/payments/wire/headers.ts'
import { readOffer, signPayment } from '../pay/buy.ts'

/** What was paid, by the chain's account and by the API's receipts, millionths of a dollar. */
export interface PaymentReport {
  readonly receipts: number
  readonly told: bigint
  readonly spent: bigint
  /** Payments that were sent and never answered, together. */
  readonly unanswered: bigint
  /** Transfers on the chain that no receipt names. */
  readonly unreceipted: number
  /** Requests that were charged more than once. */
  readonly twice: number
}

/** All money that left the payer bought an answer, once, and no answer with a receipt was free. */
export function isSoundPayments({ told, spent, unreceipted, twice }: PaymentReport): boolean {
  return spent === told && unreceipted === 0 && twice === 0
}

export interface Payment {
  readonly header: readonly [name: string, value: string]
  readonly amount: bigint
}

/** The example payer of the local chain, with an account of its own of what it bought. */
export class ChaosPayer {
  readonly #url: string
  readonly #before: { readonly balance: bigint; readonly block: bigint }
  readonly #account = privateKeyToAccount(payer.key)
  readonly #open = new Map<string, bigint>()
  /** What each payment is for, by its nonce. */
  readonly #requests = new Map<string, object>()
  /** Transactions that receipts name. */
  readonly #named = new Set<string>()
  #told = 0n

  private constructor(url: string, before: { balance: bigint; block: bigint }) {
    this.#url = url
    this.#before = before
  }

  static async start(url: string): Promise<ChaosPayer> {
    const block = await localClient(url).getBlockNumber()
    return new ChaosPayer(url, { balance: await balance(url), block })
  }

  /** Signs what a 402 asks for, for one request. Sent again, it is the same payment. */
  async pay(challenge: string | null, body: string, request: object): Promise<Payment> {
    const read = readOffer(2, challenge, body)
    if ('fault' in read) throw new TypeError(read.fault)
    const nonce = `0x${randomBytes(32).toString('hex')}` as const
    const header = await signPayment(read.offer, this.#account, { nowSeconds: Math.floor(Date.now() / 1_000), nonce })
    this.#open.set(header[1], read.offer.amount)
    this.#requests.set(nonce, request)
    return { header, amount: read.offer.amount }
  }

  /** The answer that a payment brought: with a receipt it was paid for, without one it was free, or refused. */
  answered({ header: [, value], amount }: Payment, receipt: string | null): void {
    if (!this.#open.delete(value)) return
    const read = decodeHeader(receipt ?? '')
    if (!('object' in read)) return
    const { success, transaction } = read.object as { success?: unknown; transaction?: unknown }
    if (success !== true || typeof transaction !== 'string') return
    this.#named.add(transaction)
    this.#told += amount
  }

  async report(): Promise<PaymentReport> {
    const unanswered = [...this.#open.values()].reduce((sum, amount) => sum + amount, 0n)
    const spent = this.#before.balance - (await balance(this.#url))
    const filter = { address: token, fromBlock: this.#before.block, args: { authorizer: payer.address } } as const
    const uses = await localClient(this.#url).getLogs({ ...filter, event: usedEvent })
    const ours = uses.filter(({ args: { nonce = '0x' } }) => this.#requests.has(nonce))
    const charged = new Set(ours.map(({ args: { nonce = '0x' } }) => this.#requests.get(nonce)))
    const unreceipted = ours.filter(({ transactionHash }) => !this.#named.has(transactionHash)).length
    const [receipts, told] = [this.#named.size, this.#told]
    return { receipts, told, spent, unanswered, unreceipted, twice: ours.length - charged.size }
  }
}

const usedEvent = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')

function balance(url: string): Promise<bigint> {
  return localClient(url).readContract({
    address: token,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [payer.address],
  })
}
