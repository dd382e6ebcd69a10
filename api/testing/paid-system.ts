import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { parseAbiItem } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { dropDatabase } from '../../infra/clickhouse/testing/database.ts'
import { clickhouseEnv, type ClickhouseAccess } from '../../infra/config/clickhouse.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import { payTo, token } from '../../infra/local/chain/accounts.ts'
import { tokenAbi, localClient, mint } from '../../infra/local/chain/prepare-chain.ts'
import { localPayments, localWallet } from '../../infra/local/chain/settings.ts'
import { startChain, type Chain } from '../../infra/local/chain/start.ts'
import { startChild, type Child } from '../../infra/local/child.ts'
import { FakeDatabase } from './fake-database.ts'
import { fillLog, fillViews } from './facts.ts'
import { fillAsset, fillTokens } from './market-facts.ts'
import { fillMarketLog } from './market-log.ts'
import { Books } from './paid-calls.ts'

/** What paid requests are tried on: the API, the settling and a chain, as a system has them; and payers. */

export interface Parts {
  readonly brokers: readonly string[]
  readonly registryUrl: string
  readonly clickhouse: ClickhouseAccess
}

const PARTITIONS = 2
/** The market's facts lie this far ahead, so that they are fresh for as long as a test takes, milliseconds. */
const AHEAD_MS = 900_000
const ARRIVES_WITHIN_MS = 180_000
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export type Program = 'api/main.ts' | 'processors/payments/main.ts' | 'processors/main.ts'

interface Opened extends Pick<PaidSystem, 'chain' | 'env' | 'folder'>, Pick<Parts, 'brokers' | 'clickhouse'> {}

const transferEvent = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

export class PaidSystem {
  readonly chain: Chain
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  readonly books = new Books()
  readonly #brokers: readonly string[]
  readonly #clickhouse: ClickhouseAccess
  readonly #children = new Set<Child>()

  static async open(
    parts: Parts,
    options: { blockSeconds?: number; settleSeconds?: number } = {},
  ): Promise<PaidSystem> {
    const { blockSeconds = 0, settleSeconds = 60 } = options
    const id = randomUUID().slice(0, 8)
    const folder = mkdtempSync(path.join(tmpdir(), 'paid-'))
    const files = { dataDir: path.join(folder, 'chain'), logFile: path.join(folder, 'chain.log') }
    const chain = await startChain({ ...files, port: 0, blockSeconds })
    const env = {
      MODE: 'demo',
      NAMESPACE: `paid-${id}.`,
      PARTITIONS: String(PARTITIONS),
      KAFKA_BROKERS: parts.brokers.join(','),
      SCHEMA_REGISTRY_URL: parts.registryUrl,
      ...clickhouseEnv(parts.clickhouse),
      CLICKHOUSE_DATABASE: `paid_${id}`,
      API_PORT: '0',
      OPS_PORT: '0',
      PROCESSORS: 'alerts',
      RATE_LIMIT_PER_SECOND: '1000000000',
      RATE_LIMIT_BURST: '1000000000',
      SERVICE_SECRET: 'a-secret-of-the-tests-that-is-long-enough',
      LOG_FORMAT: 'json',
      PAYMENTS: 'local',
      PAYMENT_SETTLE_SECONDS: String(settleSeconds),
      ...localPayments({ chain: chain.url, api: 'http://127.0.0.1:3000' }),
      ...localWallet,
    }
    await promisify(execFile)(process.execPath, [path.join(ROOT, 'infra/prepare.ts')], {
      env: { ...process.env, ...env },
    })
    await fillMarket(env, parts)
    return new PaidSystem({ chain, env, folder, brokers: parts.brokers, clickhouse: parts.clickhouse })
  }

  private constructor({ chain, env, folder, brokers, clickhouse }: Opened) {
    this.chain = chain
    this.env = env
    this.folder = folder
    this.#brokers = brokers
    this.#clickhouse = clickhouse
  }

  async start(program: Program, more: Record<string, string> = {}): Promise<Child> {
    const child = await startChild({
      name: program,
      command: [process.execPath, path.join(ROOT, program)],
      env: { ...this.env, ...more },
      logFile: path.join(this.folder, `${program.replaceAll('/', '-')}.log`),
      ready: 'message',
      readyWithinMs: 180_000,
      stopWithinMs: 10_000,
    })
    this.#children.add(child)
    return child
  }

  /** Everything that answers paid requests, with two instances of the API. */
  async startAll(): Promise<{ alerts: Child; settling: Child; first: Child; second: Child }> {
    const [alerts, settling, first, second] = await Promise.all([
      this.start('processors/main.ts'),
      this.start('processors/payments/main.ts'),
      this.start('api/main.ts'),
      this.start('api/main.ts'),
    ])
    return { alerts, settling, first, second }
  }

  /** As a crash does. */
  async kill(child: Child): Promise<void> {
    process.kill(child.pid, 'SIGKILL')
    await child.exited
    this.#children.delete(child)
  }

  logOf(program: Program): string {
    return readFileSync(path.join(this.folder, `${program.replaceAll('/', '-')}.log`), 'utf8')
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#children].map((child) => child.stop()))
    await this.chain.stop()
    await dropDatabase(this.#clickhouse, this.env['CLICKHOUSE_DATABASE'] ?? '')
    rmSync(this.folder, { recursive: true, force: true })
  }

  get client(): ReturnType<typeof localClient> {
    return localClient(this.chain.url)
  }

  /** An account of its own with that much of the token, in millionths, and ether. */
  async payer(value = 5_000_000n): Promise<PrivateKeyAccount> {
    const account = privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`)
    if (value > 0n) await mint(this.chain.url, account.address, value)
    await this.client.setBalance({ address: account.address, value: 10n ** 18n })
    return account
  }

  balance(address: `0x${string}` = payTo): Promise<bigint> {
    return this.client.readContract({ address: token, abi: tokenAbi, functionName: 'balanceOf', args: [address] })
  }

  /** The official client of version 2, whose purchases are in the books. */
  buyer(account: PrivateKeyAccount): typeof fetch {
    const buy = officialFetch(account)
    return async (...request) => this.books.note(await buy(...request))
  }

  /** Stops; rejects where money has come without an answer, or an answer was given without money. */
  async stopEven(): Promise<void> {
    const event = { address: token, event: transferEvent, args: { to: payTo }, fromBlock: 0n } as const
    const taken = new Set<string>()
    try {
      for (const { transactionHash } of await this.client.getLogs(event)) taken.add(transactionHash)
    } finally {
      await this.stop()
    }
    const { answered } = this.books
    console.log(`account: ${taken.size} transfers on the chain, ${answered.size} of them answered`)
    const uneven = [...taken.symmetricDifference(answered)]
    if (uneven.length > 0) throw new Error(`money without an answer, or answers without money: ${uneven.join(', ')}`)
  }

  /** Intents that the log holds. */
  async intents(): Promise<number> {
    const log = await connectLog({
      brokers: this.#brokers,
      namespace: this.env['NAMESPACE'] ?? '',
      clientId: 'paid-test',
    })
    try {
      return (await log.reader().offsets('payments.intents', [0], 'end')).get(0) ?? 0
    } finally {
      await log.close()
    }
  }

  /** Resolves when the API answers that question, whatever its price: the facts have arrived. */
  async awaitMarket(api: string, account: PrivateKeyAccount, targets: readonly string[]): Promise<void> {
    const deadline = AbortSignal.timeout(ARRIVES_WITHIN_MS)
    const buy = this.buyer(account)
    const missing = new Set(targets)
    while (missing.size > 0 && !deadline.aborted) {
      for (const target of missing) {
        const response = await buy(api + target)
        await response.arrayBuffer()
        if (response.status === 200 && response.headers.has('payment-response')) missing.delete(target)
      }
      if (missing.size > 0) await delay(250)
    }
    if (missing.size > 0) throw new Error(`no answer within ${ARRIVES_WITHIN_MS} ms: ${[...missing].join(', ')}`)
  }
}

/** The official client of version 2, as its documentation sets it up. */
function officialFetch(account: PrivateKeyAccount): typeof fetch {
  const client = new x402Client()
  registerExactEvmScheme(client, { signer: account })
  return wrapFetchWithPayment(fetch, client)
}

async function fillMarket(env: { NAMESPACE: string }, { brokers, registryUrl }: Parts): Promise<void> {
  const log = await connectLog({ brokers, namespace: env.NAMESPACE, clientId: 'paid-test' })
  const views = new FakeDatabase()
  const now = (Date.now() + AHEAD_MS) * 1000
  fillViews(views, now)
  fillAsset(views.market, 'btc', { now, price: 100 })
  fillTokens(views.market, now)
  const target = { log, codec: await loadCodec(registryUrl), partitions: PARTITIONS, now }
  await fillLog(target, views)
  await fillMarketLog(target, views.market)
  await log.close()
}
