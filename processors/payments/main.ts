import { Registry } from 'prom-client'
import type { PublicClient } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { hostClock } from '../../infra/clock.ts'
import { ConfigError, readConfig, type Config } from '../../infra/config/config.ts'
import { walletKey, walletKeySettings } from '../../infra/config/secrets.ts'
import { startOps, type Health } from '../../infra/http/ops.ts'
import { runService, sayReady } from '../../infra/lifecycle.ts'
import type { Logger } from '../../infra/log.ts'
import { CREDIT, creditRow } from '../credit/credit.ts'
import { connectHost, hostSettings } from '../host.ts'
import { runProcessors, SNAPSHOT_RECORDS } from '../kernel/run.ts'
import { exposeRunner } from '../metrics.ts'
import { Chain, ChainError, connectChain } from './chain.ts'
import { FacilitatorSettler } from './facilitator.ts'
import { GasGuard } from './gas.ts'
import { inspectNetwork, obstacles } from './readiness.ts'
import { createPaymentMeter, exposePayments, exposeWallet } from './metrics.ts'
import { OwnSettler } from './own-settler.ts'
import { Service } from './service.ts'
import { INTENTS, OWNER, PARTITION } from './settlement.ts'
import type { Settler } from './settler.ts'
import { readTerms, termsSettings, type Terms } from './terms.ts'
import { Wallet } from './wallet.ts'

/** A node that is being started as well is waited for. */
const NODE_TRIES = 20
const NODE_RETRY_MS = 1_000

const names = [
  ...hostSettings,
  ...termsSettings,
  ...walletKeySettings,
  'PAYMENT_GAS_WEI_MIN',
  'PAYMENT_GAS_LOST_WEI_MAX',
  'PAYMENT_FEE_WEI_MAX',
  'PAYMENT_COOL_SECONDS',
  'SNAPSHOT_SECONDS',
  'RETENTION_BYTES',
] as const

type Settings = Config<(typeof names)[number]>

await runService({
  name: 'payments',
  description:
    'Settles payments: one writer for one wallet, nothing sent that is not in the log before; keeps the credit of API keys.',
  settings: [...names, 'LOG_LEVEL', 'LOG_FORMAT'],
  start,
})

async function start(report: Logger): Promise<() => Promise<void>> {
  const config = readConfig(process.env, names)
  const terms = await termsOf(config)
  if (terms === undefined) return idle(config, report)
  const account = terms.facilitatorUrl === undefined ? privateKeyToAccount(walletKey(config)) : null
  const client = connectChain(terms.rpcUrl)
  await assertReady({ client, terms, account, gasWeiMin: BigInt(config.PAYMENT_GAS_WEI_MIN), report })
  const host = await connectHost('payments', config, report)
  const { seller, settleMs, mode } = terms
  const service = new Service({
    ...host,
    membership: await host.join(OWNER, [INTENTS], [PARTITION]),
    settler: settlerOf({ client, terms, account, report }, config),
    seller,
    settleMs,
    payments: createPaymentMeter(host.metrics),
  })
  const credit = runProcessors({
    ...host,
    rows: [{ row: creditRow, membership: await host.join(CREDIT, creditRow.inputs, [PARTITION]) }],
    snapshots: { everyMs: config.SNAPSHOT_SECONDS * 1_000, everyRecords: SNAPSHOT_RECORDS },
    partitions: 1,
    retentionBytes: config.RETENTION_BYTES,
  })
  exposePayments(host.metrics, service)
  exposeRunner(host.metrics, credit)
  if (account !== null) exposeWallet(host.metrics, () => client.getBalance({ address: account.address }))
  const fields = { mode, chain: seller.network.chainId, payTo: seller.payTo }
  const both = {
    failed: Promise.race([service.failed, credit.failed]),
    stop: () => Promise.all([service.stop(), credit.stop()]).then(() => undefined),
  }
  const health = (): Health => ({
    ...service.health(),
    ok: service.health().ok && credit.isWell,
    ...creditCounts(credit),
  })
  return host.serve(both, health, fields)
}

/** Keys that there are, what is set aside of their credit, and charges that came too late to count. */
function creditCounts(credit: ReturnType<typeof runProcessors>): { readonly credit: object } {
  return { credit: Object.fromEntries(credit.counts().get(CREDIT) ?? []) }
}

/** undefined: payments are off. */
async function termsOf(config: Settings): Promise<Terms | undefined> {
  const read = await readTerms(config)
  if (read.is === 'wrong') throw new ConfigError(read.problems.join('\n'))
  return read.is === 'on' ? read.terms : undefined
}

/** On a server this part is there whether payments are on or not; without them it only says so. */
async function idle(config: Settings, report: Logger): Promise<() => Promise<void>> {
  const health = (): { ok: true; payments: 'off' } => ({ ok: true, payments: 'off' })
  const ops = await startOps(new Registry(), health, { host: config.OPS_HOST, port: config.OPS_PORT })
  report.warn({ url: ops.url }, 'PAYMENTS=off: every route is free, there is nothing to settle')
  sayReady(ops.url)
  return () => ops.close()
}

interface Parts {
  readonly client: PublicClient
  readonly terms: Terms
  readonly account: PrivateKeyAccount | null
  readonly report: Logger
}

/** Refuses to start where payments would fail or go astray. */
async function assertReady({
  client,
  terms,
  account,
  gasWeiMin,
  report,
}: Parts & { gasWeiMin: bigint }): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const found = await inspectNetwork(client, terms.seller, account?.address ?? null)
      const problems = obstacles(terms, found, gasWeiMin)
      if (problems.length > 0) throw new ConfigError(problems.join('\n'))
      return
    } catch (error) {
      if (!(error instanceof ChainError)) throw error
      if (tries === NODE_TRIES)
        throw new ConfigError('PAYMENT_RPC_URL: the node does not answer; is it running, and is the address right?')
      if (tries === 1) report.warn({ err: error }, 'waiting for the node of PAYMENT_RPC_URL')
      await hostClock.delay(NODE_RETRY_MS)
    }
  }
}

function settlerOf({ client, terms, account, report }: Parts, config: Settings): Settler {
  const { seller, facilitatorUrl: url } = terms
  const common = { chain: new Chain(client), clock: hostClock, report }
  if (account !== null) {
    const { chainId } = seller.network
    const feeMax = BigInt(config.PAYMENT_FEE_WEI_MAX)
    const wallet = new Wallet({ client, chainId, account, clock: hostClock, report, feeMax })
    const { PAYMENT_GAS_LOST_WEI_MAX: lostMax, PAYMENT_COOL_SECONDS: coolSeconds } = config
    const guard = new GasGuard({ lostMax: BigInt(lostMax), coolMs: coolSeconds * 1_000 })
    return new OwnSettler({ ...common, wallet, guard })
  }
  if (url === undefined) throw new ConfigError('PAYMENT_FACILITATOR_URL is not set')
  return new FacilitatorSettler({ ...common, seller, url })
}
