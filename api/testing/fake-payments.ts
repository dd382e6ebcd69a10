import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { authorizationTypes } from '@x402/evm'
import { privateKeyToAccount } from 'viem/accounts'
import { closeServer, listen } from '../../infra/http/ops.ts'
import { encodeHeader } from '../../processors/payments/wire/headers.ts'
import { BOUGHT_OTHERWISE } from '../../processors/payments/wire/refusals.ts'
import { networks, offerV2, type Seller } from '../../processors/payments/wire/offer.ts'
import type { PaymentAnswer, PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import { ApiError } from '../request/errors.ts'
import { RateLimiter } from '../request/limits.ts'
import { fakeCredit } from './fake-credit.ts'
import { NOW } from './harness.ts'
import type { Outcome, PaymentLedger, Payments, Standing } from '../payments/payments.ts'
import { signatureChecks, signatureNode } from '../payments/signatures.ts'
import { SingleFlight } from '../payments/single-flight.ts'

/** Anvil's public development keys. */
export const payer = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
export const stranger = privateKeyToAccount('0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6')

const network = networks.find(({ chainId }) => chainId === 84532)
if (network === undefined) throw new Error('Base Sepolia is in the table')

export const seller: Seller = {
  network,
  asset: network.usdc.address,
  assetName: network.usdc.name,
  assetVersion: network.usdc.version,
  payTo: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  maxTimeoutSeconds: 300,
}

/** Payments in memory: what the settling processor and the log do, at once. */
export class FakeLedger implements PaymentLedger {
  /** Payments that were charged, in order. */
  readonly charged: PaymentIntent[] = []
  readonly intents: PaymentIntent[] = []
  readonly answers = new Map<string, PaymentAnswer>()
  /** Payments that are told to be under way. */
  readonly open = new Map<string, Standing>()
  readonly #settled = new Map<string, PaymentEvent>()
  /** Which payment is under way, or has settled, for a purchase. */
  readonly #buyers = new Map<string, string>()
  /** What each payment is for that is under way, or has settled. */
  readonly #begun = new Map<string, string>()
  /** What becomes of intents: a reason code fails them; `asked`: nothing, not even a transaction. */
  outcome: 'settled' | 'pending' | 'asked' | { readonly reason: string } = 'settled'
  /** Settlements wait for it. */
  block: Promise<void> = Promise.resolve()
  /** Set: the log is away. */
  isAway = false
  /** Answers cannot be kept. */
  isForgetful = false

  async find(id: string): Promise<Standing | undefined> {
    if (this.isAway) throw new ApiError('data_unavailable', 'The log is away.', { retryAfterSeconds: 2 })
    const event = this.#settled.get(id)
    return event === undefined ? this.open.get(id) : { is: 'settled', event }
  }

  /** A block comes, with the payment in it. */
  mine(intent: PaymentIntent): void {
    this.charged.push(intent)
    this.#settled.set(intent.payment_id, eventOf(intent))
  }

  async settle(intent: PaymentIntent): Promise<Outcome> {
    this.intents.push(intent)
    const { payment_id: id, purchase, version } = intent
    const buyer = purchase === null ? id : (this.#buyers.get(purchase) ?? id)
    if (buyer !== id) return { is: 'failed', reason: BOUGHT_OTHERWISE, transaction: '' }
    if (purchase !== null) this.#buyers.set(purchase, id)
    const begun = this.#begun.get(id) ?? intent.fingerprint
    if (begun !== intent.fingerprint) return { is: 'conflict' }
    this.#begun.set(id, begun)
    await new Promise((resolve) => setImmediate(resolve))
    await this.block
    const known = this.#settled.get(intent.payment_id)
    if (known !== undefined) return { is: 'settled', event: known }
    if (this.outcome === 'pending' || this.outcome === 'asked') {
      const isSent = this.outcome === 'pending'
      const transaction = isSent ? TX : ''
      this.open.set(intent.payment_id, { is: 'open', fingerprint: intent.fingerprint, isSent, transaction })
      return { is: 'pending', transaction }
    }
    if (this.outcome !== 'settled') {
      if (purchase !== null) this.#buyers.delete(purchase)
      this.#begun.delete(id)
      return { is: 'failed', reason: this.outcome.reason, transaction: '' }
    }
    if (version > 0) this.charged.push(intent)
    const event = eventOf(intent)
    this.#settled.set(intent.payment_id, event)
    return { is: 'settled', event }
  }

  async answer(id: string): Promise<PaymentAnswer | undefined> {
    return this.answers.get(id)
  }

  async keep(answer: PaymentAnswer): Promise<PaymentAnswer> {
    if (this.isForgetful) throw new Error('the log is away')
    const first = this.answers.get(answer.payment_id) ?? answer
    this.answers.set(answer.payment_id, first)
    return first
  }
}

export const TX = `0x${'41'.repeat(32)}`

function eventOf({ from, value, ...intent }: PaymentIntent): PaymentEvent {
  const { payment_id, request_id, method, route, fingerprint, valid_before, created, purchase } = intent
  return {
    payment_id,
    request_id,
    method,
    route,
    fingerprint,
    valid_before,
    purchase,
    event: 'settled',
    payer: from,
    amount: value,
    tx: TX,
    block: 1,
    reason: null,
    by: 'us',
    stood: {},
    raw: null,
    time: created,
    v: 0,
  }
}

export interface FakePayments extends Payments {
  readonly ledger: FakeLedger
  readonly credit: ReturnType<typeof fakeCredit>
  stop(): Promise<void>
}

/** Payments on a ledger in memory. Signatures are really checked, on a chain without contracts. */
/** `now`: of its credit, milliseconds. */
export async function fakePayments(ledger = new FakeLedger(), now: () => number = Date.now): Promise<FakePayments> {
  const { server, url } = await emptyChain()
  return {
    seller,
    isPlayMoney: true,
    publicUrl: 'https://api.example.com',
    ledger,
    ...signatureChecks(signatureNode(url), seller, Date.now),
    refusals: new RateLimiter({ perSecond: 20, burst: 40, callersMax: 100 }),
    inFlight: new SingleFlight(),
    credit: fakeCredit(now),
    stop: () => closeServer(server),
  }
}

/** Every address is a plain account. */
async function emptyChain(): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number }
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x' }))
    })
  })
  return { server, url: `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}` }
}

export interface Signing {
  readonly amount: string
  /** Seconds since the Unix epoch. */
  readonly now: number
  readonly nonce?: `0x${string}`
  readonly account?: typeof payer
  readonly to?: `0x${string}`
  readonly validAfter?: number
  readonly validBefore?: number
  /** What of the token's EIP-712 domain is another one. */
  readonly domain?: {
    readonly name?: string
    readonly version?: string
    readonly chainId?: number
    readonly verifyingContract?: `0x${string}`
  }
}

let nonces = 0

/** A payment as a client signs it, as the headers of both versions; each call has a nonce of its own. */
export async function signPayment(signing: Signing): Promise<{ v1: string; v2: string }> {
  nonces += 1
  const { amount, now, account = payer, to = seller.payTo } = signing
  const { nonce = `0x${nonces.toString(16).padStart(64, '0')}`, validAfter = 0, validBefore = now + 300 } = signing
  const authorization = {
    from: account.address,
    to,
    value: amount,
    validAfter: String(validAfter),
    validBefore: String(validBefore),
    nonce,
  }
  const signature = await account.signTypedData({
    domain: {
      name: seller.assetName,
      version: seller.assetVersion,
      chainId: seller.network.chainId,
      verifyingContract: seller.asset,
      ...signing.domain,
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: account.address,
      to,
      nonce,
      value: BigInt(amount),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
    },
  })
  const payload = { authorization, signature }
  return {
    v1: encodeHeader({ x402Version: 1, scheme: 'exact', network: seller.network.v1, payload }),
    v2: encodeHeader({ x402Version: 2, payload, accepted: offerV2(seller, amount) }),
  }
}

/** Headers of a request that pays the price of a plain route at `NOW`, under a key of its own. */
export async function paid(change: Partial<Signing> = {}): Promise<Record<string, string>> {
  const { v2 } = await signPayment({ amount: '20000', now: NOW / 1e6, ...change })
  return { 'payment-signature': v2, 'idempotency-key': randomUUID() }
}

/** What an answer says of its payment, the same under the headers of both versions. */
export function receiptOf({ headers }: { readonly headers: Headers }): object {
  const [newer, older] = [headers.get('payment-response'), headers.get('x-payment-response')]
  if (newer !== older) throw new Error(`the receipts differ: ${newer} and ${older}`)
  return decodePaymentResponseHeader(newer ?? '')
}
