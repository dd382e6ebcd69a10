import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { parseAbiItem } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
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
import { surroundings, type Parts, type Surroundings } from './surroundings.ts'
import type { TopicName } from '../../schemas/topics.ts'

/** What paid requests are tried on: the API, the settling and a chain, as a system has them; and payers. */

const PARTITIONS = 2
/** The market's facts lie this far ahead, so that they are fresh for as long as a test takes, milliseconds. */
const AHEAD_MS = 900_000
const ARRIVES_WITHIN_MS = 180_000
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export type Program = 'api/main.ts' | 'processors/payments/main.ts' | 'processors/main.ts'

type Opened = Pick<PaidSystem, 'chain' | 'folder'> & { readonly own: Surroundings }

const transferEvent = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

export class PaidSystem {
  readonly chain: Chain
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  readonly books = new Books()
  readonly #own: Surroundings
  readonly #children = new Set<Child>()

  static async open(
    parts: Parts,
    options: { blockSeconds?: number; settleSeconds?: number; reads?: readonly TopicName[] } = {},
  ): Promise<PaidSystem> {
    const { blockSeconds = 0, settleSeconds = 60, ...reads } = options
    const folder = mkdtempSync(path.join(tmpdir(), 'paid-'))
    const files = { dataDir: path.join(folder, 'chain'), logFile: path.join(folder, 'chain.log') }
    const chain = await startChain({ ...files, port: 0, blockSeconds })
    const settings = {
      PROCESSORS: 'alerts',
      RATE_LIMIT_PER_SECOND: '1000000000',
      RATE_LIMIT_BURST: '1000000000',
      PAYMENTS: 'local',
      PAYMENT_SETTLE_SECONDS: String(settleSeconds),
      ...localPayments({ chain: chain.url, api: 'http://127.0.0.1:3000' }),
      ...localWallet,
    }
    const own = await surroundings(parts, { name: 'paid', partitions: PARTITIONS, settings, ...reads })
    await fillMarket(own)
    return new PaidSystem({ chain, folder, own })
  }

  private constructor({ chain, folder, own }: Opened) {
    this.chain = chain
    this.env = own.env
    this.folder = folder
    this.#own = own
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
    await this.#own.close()
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
    return (await this.#own.log.reader().offsets('payments.intents', [0], 'end')).get(0) ?? 0
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

async function fillMarket({ log, codec }: Surroundings): Promise<void> {
  const views = new FakeDatabase()
  const now = (Date.now() + AHEAD_MS) * 1000
  fillViews(views, now)
  fillAsset(views.market, 'btc', { now, price: 100 })
  fillTokens(views.market, now)
  const target = { log, codec, partitions: PARTITIONS, now }
  await fillLog(target, views)
  await fillMarketLog(target, views.market)
}
