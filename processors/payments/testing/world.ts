import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { multicall3Abi, parseAbi, parseSignature } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { type RegistryCodec } from '../../../infra/kafka/codec.ts'
import { ownTopics } from '../../../infra/kafka/testing/topics.ts'
import type { Log } from '../../../infra/kafka/seam.ts'
import wallet from '../../../infra/local/chain/contracts/ContractWallet.json' with { type: 'json' }
import { localPayments, localWallet } from '../../../infra/local/chain/settings.ts'
import { multicall3Address, tokenAbi as localAbi, localClient, mint } from '../../../infra/local/chain/prepare-chain.ts'
import { startChain, type Chain } from '../../../infra/local/chain/start.ts'
import { startChild, type Child } from '../../../infra/local/child.ts'
import { paymentId } from '../../../schemas/keys.ts'
import type { PaymentEvent, PaymentIntent } from '../../../schemas/records.ts'
import { hex, transferCall } from '../token.ts'
import { authorizationTypes } from '../wire/offer.ts'
import { intentOf, SELLER } from './intents.ts'

/** What the real tests of this folder begin with: a chain, a log, hosts of the service, payers that sign. */

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const CANCEL_TYPES = {
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const
const { network, asset, payTo, assetName, assetVersion } = SELLER

const domain = { name: assetName, version: assetVersion, chainId: network.chainId, verifyingContract: asset }

/** A wallet that is a contract: deployed with its owner's address. */
export const contractWallet = { abi: parseAbi(['constructor(address owner)']), bytecode: hex(wallet.creation) } as const

interface Signing {
  /** A contract that the account owns; left out: the account itself. */
  readonly from?: `0x${string}`
  readonly value?: bigint
  /** Left out: who is to be paid. */
  readonly to?: `0x${string}`
  readonly fields?: Partial<PaymentIntent>
}

/** An intent that the account has signed, to be settled within five minutes. */
export async function signed(account: PrivateKeyAccount, options: Signing = {}): Promise<PaymentIntent> {
  const { from = account.address, value = 20_000n, to = payTo, fields = {} } = options
  const nonce = hex(fields.nonce ?? `0x${randomBytes(32).toString('hex')}`)
  const validBefore = fields.valid_before ?? Math.floor(Date.now() / 1_000) + 300
  const message = { from, to, value, validAfter: 0n, validBefore: BigInt(validBefore), nonce }
  const primaryType = 'TransferWithAuthorization'
  const signature = await account.signTypedData({ domain, types: authorizationTypes, primaryType, message })
  return intentOf({
    payment_id: paymentId(network.chainId, asset, from, nonce),
    request_id: randomUUID(),
    fingerprint: randomUUID(),
    price: String(value),
    value: String(value),
    from: from.toLowerCase(),
    pay_to: to.toLowerCase(),
    valid_before: validBefore,
    nonce,
    signature,
    created: Date.now() * 1_000,
    ...fields,
  })
}

export function newAccount(): PrivateKeyAccount {
  return privateKeyToAccount(hex(`0x${randomBytes(32).toString('hex')}`))
}

/** A chain of its own and one set of topics; one world a test. */
/** A host that tells that a payment is pending, well before it gives up what no node answers. */
export const IMPATIENT = { PAYMENT_SETTLE_SECONDS: '5' }

export class World {
  readonly chain: Chain
  readonly log: Log
  readonly codec: RegistryCodec
  readonly hosts: Child[] = []
  readonly #folder: string
  readonly #env: Record<string, string>

  static async open(parts: { brokers: readonly string[]; registryUrl: string }): Promise<World> {
    const own = await ownTopics(parts, 'payments', 1)
    const folder = mkdtempSync(path.join(tmpdir(), 'payments-'))
    const chainFiles = { dataDir: path.join(folder, 'chain'), logFile: path.join(folder, 'chain.log') }
    const chain = await startChain({ ...chainFiles, port: 0 })
    const env = {
      ...own.env,
      PAYMENTS: 'local',
      PAYMENT_SETTLE_SECONDS: '60', // `pending` is told by those who ask for it: IMPATIENT
      ...localPayments({ chain: chain.url, api: 'http://127.0.0.1:3000' }),
      ...localWallet,
    }
    return new World({ ...own, chain, folder, env })
  }

  private constructor(parts: {
    chain: Chain
    log: Log
    codec: RegistryCodec
    folder: string
    env: Record<string, string>
  }) {
    this.chain = parts.chain
    this.log = parts.log
    this.codec = parts.codec
    this.#folder = parts.folder
    this.#env = parts.env
  }

  get client(): ReturnType<typeof localClient> {
    return localClient(this.chain.url)
  }

  async host(env: Record<string, string> = {}): Promise<Child> {
    const started = await startChild({
      name: 'payments',
      command: [process.execPath, main],
      env: { ...this.#env, ...env },
      logFile: path.join(this.#folder, 'payments.log'),
      ready: 'message',
      readyWithinMs: 60_000,
      stopWithinMs: 12_000,
    })
    this.hosts.push(started)
    return started
  }

  async close(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.stop()))
    await this.log.close()
    await this.chain.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** What the hosts have logged. */
  lines(): string {
    return readFileSync(path.join(this.#folder, 'payments.log'), 'utf8')
  }

  /** An account with that much of the token, and ether. */
  async payer(value = 1_000_000n): Promise<PrivateKeyAccount> {
    const account = newAccount()
    await mint(this.chain.url, account.address, value)
    await this.client.setBalance({ address: account.address, value: 10n ** 18n })
    return account
  }

  balance(of: string): Promise<bigint> {
    return this.client.readContract({ address: asset, abi: localAbi, functionName: 'balanceOf', args: [hex(of)] })
  }

  async ask(...intents: readonly PaymentIntent[]): Promise<void> {
    const writer = this.log.writer()
    for (const intent of intents) {
      const value = this.codec.encode('payments.intents', 'payment_intent', intent)
      await writer.send('payments.intents', 0, [{ key: intent.payment_id, value, time: Date.now() }])
    }
    await writer.close()
  }

  /** As a former owner would have. */
  async say(event: PaymentEvent): Promise<void> {
    const writer = this.log.writer()
    const value = this.codec.encode('payments.events', 'payment_event', event)
    await writer.send('payments.events', 0, [{ key: event.payment_id, value, time: Date.now() }])
    await writer.close()
  }

  async events(of?: PaymentIntent): Promise<PaymentEvent[]> {
    const found: PaymentEvent[] = []
    const reader = this.log.reader()
    for await (const records of reader.toEnd('payments.events', 0)) {
      for (const { value } of records) {
        const message = value === null ? undefined : this.codec.decode(value)
        if (message?.type === 'payment_event') found.push(message.value)
      }
    }
    await reader.close()
    return of === undefined ? found : found.filter(({ payment_id: id }) => id === of.payment_id)
  }

  /** What was said of a payment, as words. */
  async told(of: PaymentIntent): Promise<string[]> {
    return (await this.events(of)).map(({ event }) => event)
  }

  /** The payer takes its authorization back. */
  async cancel({ nonce }: PaymentIntent, payer: PrivateKeyAccount): Promise<void> {
    const message = { authorizer: payer.address, nonce: hex(nonce) }
    const primaryType = 'CancelAuthorization'
    const signature = await payer.signTypedData({ domain, types: CANCEL_TYPES, primaryType, message })
    const { r, s, v = 27n } = parseSignature(signature)
    const hash = await this.client.writeContract({
      account: payer,
      address: asset,
      abi: localAbi,
      functionName: 'cancelAuthorization',
      args: [payer.address, hex(nonce), Number(v), r, s],
    })
    await this.client.waitForTransactionReceipt({ hash })
  }

  /** Somebody else submits the payer's authorization. */
  async submit(intent: PaymentIntent, by: PrivateKeyAccount, tip = 0n): Promise<`0x${string}`> {
    const { from, pay_to, value, valid_after, valid_before, nonce, signature } = intent
    const authorization = [hex(from), hex(pay_to), BigInt(value), BigInt(valid_after), BigInt(valid_before)] as const
    return this.client.writeContract({
      account: by,
      address: asset,
      abi: localAbi,
      functionName: 'transferWithAuthorization',
      args: [...authorization, hex(nonce), hex(signature)],
      gas: 200_000n,
      maxPriorityFeePerGas: tip,
      maxFeePerGas: 10n ** 11n + tip,
    })
  }

  /** Somebody submits many authorizations in one transaction; the hash of it, when it is in a block. */
  async submitAll(intents: readonly PaymentIntent[], by: PrivateKeyAccount): Promise<`0x${string}`> {
    const calls = intents.map((intent) => ({ target: asset, allowFailure: false, callData: transferCall(intent) }))
    const call = { address: multicall3Address, abi: multicall3Abi, functionName: 'aggregate3' } as const
    const hash = await this.client.writeContract({ account: by, ...call, args: [calls], gas: 2_000_000n })
    const { status } = await this.client.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error('many authorizations were undone')
    return hash
  }
}
