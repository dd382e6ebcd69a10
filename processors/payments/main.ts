import { hostname } from 'node:os'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { PublicClient } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { hostClock } from '../../infra/clock.ts'
import { ConfigError, readConfig, type Config } from '../../infra/config/config.ts'
import { walletKey, walletKeySettings } from '../../infra/config/wallet-key.ts'
import { startOps } from '../../infra/http/ops.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import { fixedMembership, groupMembership } from '../../infra/kafka/membership.ts'
import type { Membership } from '../../infra/kafka/seam.ts'
import { runService, sayReady } from '../../infra/lifecycle.ts'
import type { Logger } from '../../infra/log.ts'
import type { StopReason } from '../kernel/watch.ts'
import { createMeter, Tally } from '../metrics.ts'
import { Chain, ChainError, connectChain } from './chain.ts'
import { INTENTS, PARTITION } from './desk.ts'
import { FacilitatorSettler } from './facilitator.ts'
import { GasGuard } from './gas.ts'
import { inspectNetwork } from './inspect.ts'
import { createPaymentMeter, exposePayments, exposeWallet } from './metrics.ts'
import { OwnSettler } from './own-settler.ts'
import { obstacles } from './readiness.ts'
import { Service } from './service.ts'
import type { Settler } from './settler.ts'
import { readTerms, termsSettings, type Terms } from './terms.ts'
import { Wallet } from './wallet.ts'

/** A member of the group that is silent for this long loses the partition, milliseconds. */
const SESSION_MS = 6_000
/** A node that is being started as well is waited for. */
const NODE_TRIES = 20
const NODE_RETRY_MS = 1_000

const names = [
  'KAFKA_BROKERS',
  'SCHEMA_REGISTRY_URL',
  'NAMESPACE',
  'MEMBERSHIP',
  'ON_LOST_LOG',
  ...termsSettings,
  ...walletKeySettings,
  'PAYMENT_GAS_WEI_MIN',
  'PAYMENT_GAS_LOST_WEI_MAX',
  'PAYMENT_FEE_WEI_MAX',
  'PAYMENT_COOL_SECONDS',
  'OPS_HOST',
  'OPS_PORT',
] as const

type Settings = Config<(typeof names)[number]>

await runService({
  name: 'payments',
  says: 'Settles payments: one writer for one wallet, nothing sent that is not in the log before.',
  settings: [...names, 'LOG_LEVEL', 'LOG_FORMAT'],
  start,
})

async function start(report: Logger): Promise<() => Promise<void>> {
  const config = readConfig(process.env, names)
  const terms = termsOf(config)
  if (terms === undefined) return idle(config, report)
  const account = terms.facilitatorUrl === undefined ? privateKeyToAccount(walletKey(config)) : null
  const client = connectChain(terms.rpcUrl)
  await assertReady({ client, terms, account, gasWeiMin: BigInt(config.PAYMENT_GAS_WEI_MIN), report })
  const metrics = new Registry()
  collectDefaultMetrics({ register: metrics })
  const deadLetters = new Tally()
  const { KAFKA_BROKERS: brokers, NAMESPACE: namespace } = config
  const clientId = `payments-${hostname()}-${process.pid}`
  const codec = await loadCodec(config.SCHEMA_REGISTRY_URL)
  const log = await connectLog({ brokers, namespace, clientId, log: report, claims: true })
  const membership = await join(config, clientId, report)
  const service = new Service({
    membership,
    settler: settlerOf({ client, terms, account, report }, config),
    seller: terms.seller,
    settleMs: terms.settleMs,
    onLostLog: config.ON_LOST_LOG === 'stop' ? 'stop' : 'go-on',
    payments: createPaymentMeter(metrics),
    ports: {
      log,
      codec,
      report,
      clock: hostClock,
      reader: log.reader(),
      meter: createMeter(metrics, deadLetters),
      lookUp: (id) => codec.lookUp(id),
      hint: (_, positions) => membership.hint(positions),
    },
    sessionMs: SESSION_MS,
  })
  exposePayments(metrics, service)
  if (account !== null) exposeWallet(metrics, () => client.getBalance({ address: account.address }))
  void service.failed.then((reason) => end(reason, report))
  const ops = await startOps(metrics, () => ({ ...service.health(), dead_letters: deadLetters.said }), {
    host: config.OPS_HOST,
    port: config.OPS_PORT,
  })
  const { seller, mode } = terms
  report.info({ url: ops.url, mode, chain: seller.network.chainId, payTo: seller.payTo }, 'running')
  sayReady(ops.url)
  return async () => {
    await service.stop()
    await ops.close()
    await log.close()
  }
}

/** undefined: payments are off. */
function termsOf(config: Settings): Terms | undefined {
  const read = readTerms(config)
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

function join(config: Settings, clientId: string, report: Logger): Promise<Membership> {
  if (config.MEMBERSHIP === 'fixed') return Promise.resolve(fixedMembership([PARTITION]))
  return groupMembership({
    brokers: config.KAFKA_BROKERS,
    namespace: config.NAMESPACE,
    clientId,
    group: 'payments',
    topics: [INTENTS],
    sessionMs: SESSION_MS,
    log: report,
    onCrash: ({ message }) => end({ exitCode: 5, code: 'membership-lost', message }, report),
  })
}

/** Crash-only: what is under way is in the log, and a fresh process goes on with it. */
function end({ exitCode, code, message }: StopReason, report: Logger): void {
  report.fatal({ code }, message)
  process.exit(exitCode)
}
