import { parseAbiItem } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { payer, token } from '../../infra/local/chain/accounts.ts'
import { tokenAbi, localClient } from '../../infra/local/chain/prepare-chain.ts'
import { decodeHeader } from '../../processors/payments/wire/headers.ts'
import { Payer } from '../clients/typescript/src/payer.ts'
import type { PaidBy, Payment } from '../clients/typescript/src/payment.ts'

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

/** More than there is of play money, USDC. */
const WITHOUT_LIMIT = 1_000_000_000

/** The example payer of the local chain, with an account of its own of what it bought. */
export class ChaosPayer {
  readonly #url: string
  readonly #before: { readonly balance: bigint; readonly block: bigint }
  readonly #payer = new Payer(privateKeyToAccount(payer.key), {
    maxPerCallUsdc: WITHOUT_LIMIT,
    totalUsdc: WITHOUT_LIMIT,
  })
  readonly #open = new Set<Payment>()
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
  async pay(asked: Parameters<PaidBy['pay']>[0], request: object): Promise<Payment> {
    const payment = await this.#payer.pay(asked)
    this.#open.add(payment)
    this.#requests.set(nonceOf(payment), request)
    return payment
  }

  /** The answer that a payment brought: with a receipt it was paid for, without one it was free, or refused. */
  answered(payment: Payment, receipt: string | null): void {
    if (!this.#open.delete(payment)) return
    const read = decodeHeader(receipt ?? '')
    if (!('object' in read)) return
    const { success, transaction } = read.object as { success?: unknown; transaction?: unknown }
    if (success !== true || typeof transaction !== 'string') return
    this.#named.add(transaction)
    this.#told += amountOf(payment)
  }

  async report(): Promise<PaymentReport> {
    const unanswered = [...this.#open].reduce((sum, payment) => sum + amountOf(payment), 0n)
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

/** Millionths. */
function amountOf({ usdc }: Payment): bigint {
  return BigInt(Math.round(usdc * 1_000_000))
}

function nonceOf({ headers }: Payment): string {
  const read = decodeHeader(headers['PAYMENT-SIGNATURE'] ?? '')
  const { payload } = ('object' in read ? read.object : {}) as { payload?: { authorization?: { nonce?: string } } }
  const { nonce } = payload?.authorization ?? {}
  if (nonce === undefined) throw new TypeError('the payment has no nonce')
  return nonce
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
