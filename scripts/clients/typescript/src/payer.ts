import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { x402Client, x402HTTPClient, type PaymentRequired, type PaymentRequirements } from '@x402/fetch'
import type { LocalAccount } from 'viem/accounts'
import { NotPaidError } from './errors.ts'
import type { PaidBy, Payment } from './payment.ts'

/** USDC of the networks that are paid on. Source: Circle's list of contract addresses. */
const usdc: Readonly<Record<string, string>> = {
  'eip155:8453': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  'eip155:84532': '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
}
const MILLIONTHS = 1_000_000

export interface Budget {
  /** Most that one call may cost, USDC. */
  readonly maxPerCallUsdc: number
  /** Most that all calls together may cost, USDC. */
  readonly totalUsdc: number
  /** CAIP-2 names of the networks to pay on; left out: Base and Base Sepolia. */
  readonly networks?: readonly string[]
}

/**
 * Pays by x402 (scheme `exact`, USDC) with the official client, never beyond its budget: what it signed counts as spent,
 * whatever became of it, since a signature may be settled until it ends.
 */
export class Payer implements PaidBy {
  readonly address: string
  readonly #client: x402Client
  readonly #budget: Budget
  /** Millionths of a USDC. */
  #spent = 0n

  constructor(account: LocalAccount, budget: Budget) {
    this.address = account.address
    this.#budget = budget
    this.#client = new x402Client()
    // Our own budget is stricter, and may be set above a dollar.
    this.#client.setSpendControls({ maxAmountPerPayment: false })
    registerExactEvmScheme(this.#client, { signer: account })
  }

  get spentUsdc(): number {
    return Number(this.#spent) / MILLIONTHS
  }

  get leftUsdc(): number {
    return Number(millionths(this.#budget.totalUsdc) - this.#spent) / MILLIONTHS
  }

  async pay({ header, body }: Parameters<PaidBy['pay']>[0]): Promise<Payment> {
    const http = new x402HTTPClient(this.#client)
    const required = http.getPaymentRequiredResponse(header, body)
    const { offer, amount } = this.#choose(required)
    this.#spent += amount
    try {
      const payload = await http.createPaymentPayload({ ...required, accepts: [offer] })
      const headers = http.encodePaymentSignatureHeader(payload)
      return { headers, usdc: Number(amount) / MILLIONTHS }
    } catch (error) {
      this.#spent -= amount // nothing was signed
      throw error
    }
  }

  /** The first offer that we know and can afford. */
  #choose({ accepts }: PaymentRequired): { offer: PaymentRequirements; amount: bigint } {
    const known = accepts.find((one) => one.scheme === 'exact' && this.#isKnown(one))
    if (known === undefined || !/^\d{1,30}$/.test(known.amount))
      throw new NotPaidError('unknown_offer', 'Not paid: nothing is offered for USDC on a network of the budget.')
    const amount = BigInt(known.amount)
    const asked = `it costs ${Number(amount) / MILLIONTHS} USDC`
    const { maxPerCallUsdc } = this.#budget
    if (amount > millionths(maxPerCallUsdc))
      throw new NotPaidError('over_max_per_call', `Not paid: ${asked}, more than ${maxPerCallUsdc} USDC a call.`)
    if (this.#spent + amount > millionths(this.#budget.totalUsdc))
      throw new NotPaidError('over_total', `Not paid: ${asked}, and ${this.leftUsdc} USDC of the budget are left.`)
    return { offer: known, amount }
  }

  #isKnown({ network, asset }: PaymentRequirements): boolean {
    const { networks = Object.keys(usdc) } = this.#budget
    return networks.includes(network) && usdc[network]?.toLowerCase() === asset.toLowerCase()
  }
}

function millionths(amount: number): bigint {
  return BigInt(Math.floor(Math.max(0, amount) * MILLIONTHS + 1e-6))
}
