import { randomBytes } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { payer, token } from '../../infra/local/chain/accounts.ts'
import { tokenAbi } from '../../infra/local/chain/contracts.ts'
import { localClient } from '../../infra/local/chain/furnish.ts'
import { decodeHeader } from '../../processors/payments/wire/header.ts'
import { readOffer } from '../pay/offer.ts'
import { signPayment } from '../pay/sign.ts'

/** What was paid, by the chain's account and by the API's receipts, millionths of a dollar. */
export interface PaymentReport {
  readonly receipts: number
  readonly told: bigint
  readonly spent: bigint
  /** Payments that were sent and never answered, together; they may be spent or not. */
  readonly unanswered: bigint
}

/** All money that left the payer bought an answer, and no answer with a receipt was free. */
export function isSoundPayments({ told, spent, unanswered }: PaymentReport): boolean {
  return spent >= told && spent <= told + unanswered
}

export interface Payment {
  readonly header: readonly [name: string, value: string]
  readonly amount: bigint
}

/** The example payer of the local chain, with an account of its own of what it bought. */
export class ChaosPayer {
  readonly #url: string
  readonly #before: bigint
  readonly #account = privateKeyToAccount(payer.key)
  readonly #open = new Map<string, bigint>()
  #receipts = 0
  #told = 0n

  private constructor(url: string, before: bigint) {
    this.#url = url
    this.#before = before
  }

  static async start(url: string): Promise<ChaosPayer> {
    return new ChaosPayer(url, await balance(url))
  }

  /** Signs what a 402 asks for. Sent again, it is the same payment. */
  async pay(challenge: string | null, body: string): Promise<Payment> {
    const read = readOffer(2, challenge, body)
    if ('fault' in read) throw new TypeError(read.fault)
    const nonce = `0x${randomBytes(32).toString('hex')}` as const
    const header = await signPayment(read.offer, this.#account, { nowSeconds: Math.floor(Date.now() / 1_000), nonce })
    this.#open.set(header[1], read.offer.amount)
    return { header, amount: read.offer.amount }
  }

  /** The answer that a payment brought: with a receipt it was paid for, without one it was free. */
  answered({ header: [, value], amount }: Payment, receipt: string | null): void {
    if (!this.#open.delete(value)) return
    const read = decodeHeader(receipt ?? '')
    if (!('object' in read) || !('success' in read.object) || read.object.success !== true) return
    this.#receipts += 1
    this.#told += amount
  }

  async report(): Promise<PaymentReport> {
    const unanswered = [...this.#open.values()].reduce((sum, amount) => sum + amount, 0n)
    const spent = this.#before - (await balance(this.#url))
    return { receipts: this.#receipts, told: this.#told, spent, unanswered }
  }
}

function balance(url: string): Promise<bigint> {
  return localClient(url).readContract({
    address: token,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [payer.address],
  })
}
