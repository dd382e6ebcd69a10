import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { x402Client, x402HTTPClient, type PaymentRequirements } from '@x402/fetch'
import type { LocalAccount } from 'viem/accounts'
import { NotPaidError } from './errors.ts'
import type { PaidBy, Payment } from './payment.ts'

/** USDC of the networks that are paid on. Source: Circle's list of contract addresses. */
const usdc: Readonly<Record<string, string>> = {
  'eip155:8453': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  'eip155:84532': '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
}
/** Their names in version 1 of the protocol. */
const caip2: Readonly<Record<string, string>> = { base: 'eip155:8453', 'base-sepolia': 'eip155:84532' }
const MILLIONTHS = 1_000_000

export interface Budget {
  /** Most that one call may cost, USDC. */
  readonly maxPerCallUsdc: number
  /** Most that all calls together may cost, USDC. */
  readonly totalUsdc: number
  /** CAIP-2 names of the networks to pay on; left out: Base and Base Sepolia. */
  readonly networks?: readonly string[]
}

/** What is about to be signed. */
export interface Offer {
  readonly usdc: number
  readonly payTo: string
  /** As the offer names it. */
  readonly network: string
}

/**
 * Pays by x402 (scheme `exact`, USDC) with the official client, never beyond its budget: what it signed counts as spent,
 * whatever became of it, since a signature may be settled until it ends.
 */
export class Payer implements PaidBy {
  readonly address: LocalAccount['address']
  readonly #client: x402Client
  readonly #budget: Budget
  readonly #agree: (offer: Offer) => void
  /** Millionths of a USDC. */
  #spent = 0n

  /** `agree`: told of each payment before it is signed; throws where it is not to be. */
  constructor(account: LocalAccount, budget: Budget, agree: (offer: Offer) => void = () => undefined) {
    this.address = account.address
    this.#budget = budget
    this.#agree = agree
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
    const usdc = Number(amount) / MILLIONTHS
    this.#agree({ usdc, payTo: offer.payTo, network: offer.network })
    this.#spent += amount
    try {
      const payload = await http.createPaymentPayload({ ...required, accepts: [offer] })
      const headers = http.encodePaymentSignatureHeader(payload)
      return { headers, usdc }
    } catch (error) {
      this.#spent -= amount // nothing was signed
      throw error
    }
  }

  /** The first offer that we know and can afford. */
  #choose({ x402Version, accepts }: Required): { offer: Requirements; amount: bigint } {
    const known = accepts.find((one) => one.scheme === 'exact' && this.#isKnown(one))
    // What the official client signs of this version: an offer that names both must not hide one behind the other.
    const told: unknown = x402Version === 1 ? known?.maxAmountRequired : known?.amount
    if (known === undefined || typeof told !== 'string' || !/^\d{1,30}$/.test(told))
      throw new NotPaidError('unknown_offer', 'Not paid: nothing is offered for USDC on a network of the budget.')
    const amount = BigInt(told)
    const asked = `it costs ${Number(amount) / MILLIONTHS} USDC`
    const { maxPerCallUsdc } = this.#budget
    if (amount > millionths(maxPerCallUsdc))
      throw new NotPaidError('over_max_per_call', `Not paid: ${asked}, more than ${maxPerCallUsdc} USDC a call.`)
    if (this.#spent + amount > millionths(this.#budget.totalUsdc))
      throw new NotPaidError('over_total', `Not paid: ${asked}, and ${this.leftUsdc} USDC of the budget are left.`)
    return { offer: known, amount }
  }

  #isKnown({ network, asset }: Requirements): boolean {
    const { networks = Object.keys(usdc) } = this.#budget
    const name = caip2[network] ?? network
    return networks.includes(name) && usdc[name]?.toLowerCase() === asset.toLowerCase()
  }
}

/** Version 1 names the amount otherwise. */
type Requirements = PaymentRequirements & { readonly maxAmountRequired?: string }

interface Required {
  readonly x402Version: number
  readonly accepts: readonly Requirements[]
}

function millionths(amount: number): bigint {
  return BigInt(Math.floor(Math.max(0, amount) * MILLIONTHS + 1e-6))
}
