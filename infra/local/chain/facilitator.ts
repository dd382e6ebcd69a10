import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { isHex, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { closeServer, listen } from '../../http/ops.ts'
import { chainId, token } from './accounts.ts'
import { tokenAbi, localClient } from './prepare-chain.ts'

/**
 * What the stand-in does with a settlement that it is asked for.
 * - `well`: settles it and says so;
 * - `silent`: takes it and never answers; `late`: answers when it was released;
 * - `node-failure`, `unconfirmed`: says what facilitators say whose node fails, or that have sent and seen no block;
 * - `denies`: says that the payer has too little, though it has enough; `boasts`: names a transaction that is none.
 *
 * All but `well` keep the authorization, and submit it when they are released.
 */
export type FacilitatorBehaviour = (typeof facilitatorBehaviours)[number]

export const facilitatorBehaviours = [
  'well',
  'silent',
  'late',
  'node-failure',
  'unconfirmed',
  'denies',
  'boasts',
] as const

/** What is said at once to a settlement that is kept; the codes are those of facilitators in use. */
const words: Readonly<Partial<Record<FacilitatorBehaviour, object>>> = {
  'node-failure': { success: false, errorReason: 'settle_exact_node_failure', transaction: '' },
  unconfirmed: {
    success: false,
    errorReason: 'settle_exact_evm_transaction_confirmation_timed_out',
    transaction: '',
  },
  denies: { success: false, errorReason: 'insufficient_funds', transaction: '' },
  boasts: { success: true, transaction: `0x${'12'.repeat(32)}` },
}

const network = `eip155:${chainId}`
const GAS = 200_000n

interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: Hex
  readonly signature: Hex
}

/** An x402 facilitator over HTTP in front of the local chain, for accidents: it settles, and fails as it is told to. */
export class LocalFacilitator {
  behaviour: FacilitatorBehaviour = 'well'
  readonly url: string
  /** Paths that it was asked at, in their order. */
  readonly asked: string[] = []
  readonly #server: Server
  #chainUrl = ''
  readonly #account = privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`)
  /** What was taken and not submitted, by its nonce, with those who wait for it. */
  readonly #held = new Map<Hex, { readonly authorization: Authorization; waiting: ServerResponse[] }>()
  #queue: Promise<unknown> = Promise.resolve()

  /** It may be there before its chain: `settleOn` names that. */
  static async start(): Promise<LocalFacilitator> {
    const server = createServer()
    const port = await listen(server, '127.0.0.1', 0)
    return new LocalFacilitator(server, `http://127.0.0.1:${port}`)
  }

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response).catch(() => response.destroy()) // as a facilitator that falls over
    })
  }

  settleOn(chainUrl: string): void {
    this.#chainUrl = chainUrl
  }

  /** Settlements that were taken and not submitted. */
  get held(): number {
    return this.#held.size
  }

  /** Submits what was held; resolves when the chain has it. */
  async release(): Promise<void> {
    const all = [...this.#held.values()]
    this.#held.clear()
    for (const { authorization, waiting } of all) {
      const hash = await this.#submit(authorization)
      for (const response of waiting) reply(response, await this.#settled(hash))
    }
  }

  async close(): Promise<void> {
    await closeServer(this.#server)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    this.asked.push(path)
    const authorization = readAuthorization(JSON.parse(await text(request)))
    if (path === '/verify') reply(response, await this.#verify(authorization))
    else if (this.behaviour === 'well') reply(response, await this.#settled(await this.#submit(authorization)))
    else this.#hold(authorization, response)
  }

  #hold(authorization: Authorization, response: ServerResponse): void {
    const { nonce } = authorization
    const held = this.#held.get(nonce) ?? { authorization, waiting: [] }
    this.#held.set(nonce, held)
    const answer = words[this.behaviour]
    if (answer !== undefined) reply(response, { network, payer: authorization.from, ...answer })
    else if (this.behaviour === 'late') held.waiting.push(response)
  }

  async #verify({ from: payer, ...authorization }: Authorization): Promise<object> {
    const call = callOf({ from: payer, ...authorization })
    try {
      await this.#client().simulateContract({ ...call, account: this.#account })
      return { isValid: true, payer }
    } catch {
      return { isValid: false, invalidReason: 'invalid_exact_evm_transaction_simulation_failed', payer }
    }
  }

  /** One after the other: each takes the next number of one account. */
  #submit(authorization: Authorization): Promise<Hex> {
    const client = this.#client()
    const sent = this.#queue.then(async () => {
      await client.setBalance({ address: this.#account.address, value: 10n ** 18n })
      return client.writeContract({ ...callOf(authorization), account: this.#account, gas: GAS })
    })
    this.#queue = sent.catch(() => undefined) // whoever asked for it is told
    return sent
  }

  async #settled(hash: Hex): Promise<object> {
    const { status } = await this.#client().waitForTransactionReceipt({ hash })
    const errorReason = 'invalid_exact_evm_transaction_failed'
    return { success: status === 'success', transaction: hash, network, ...(status !== 'success' && { errorReason }) }
  }

  #client(): ReturnType<typeof localClient> {
    return localClient(this.#chainUrl)
  }
}

function callOf({ from, to, value, validAfter, validBefore, nonce, signature }: Authorization) {
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
  return { address: token, abi: tokenAbi, functionName: 'transferWithAuthorization', args } as const
}

function reply(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** What is asked for, as our own settling writes it; anything else is a defect of ours. */
function readAuthorization(body: unknown): Authorization {
  const { signature, authorization } = (body as { paymentPayload: { payload: Record<string, unknown> } }).paymentPayload
    .payload
  const signed = authorization as Record<string, unknown>
  const hex = (value: unknown): Hex => {
    if (!isHex(value)) throw new TypeError('no hex')
    return value
  }
  return {
    from: hex(signed['from']),
    to: hex(signed['to']),
    value: BigInt(String(signed['value'])),
    validAfter: BigInt(String(signed['validAfter'])),
    validBefore: BigInt(String(signed['validBefore'])),
    nonce: hex(signed['nonce']),
    signature: hex(signature),
  }
}
