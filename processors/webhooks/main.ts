import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { hostClock } from '../../infra/clock.ts'
import { ConfigError, readConfig, type Config } from '../../infra/config/config.ts'
import { serviceSecrets, serviceSecretSettings } from '../../infra/config/service-secret.ts'
import { startOps } from '../../infra/http/ops.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import { fixedMembership, groupMembership } from '../../infra/kafka/membership.ts'
import type { Membership } from '../../infra/kafka/seam.ts'
import { runService, sayReady } from '../../infra/lifecycle.ts'
import type { Logger } from '../../infra/log.ts'
import type { StopReason } from '../kernel/watch.ts'
import { createMeter, Tally } from '../metrics.ts'
import { reachOf } from './address.ts'
import { Caller } from './agent.ts'
import { createSender, type Send } from './deliver.ts'
import { Dispatcher } from './dispatcher.ts'
import { createDeliveryMeter, exposeDispatcher } from './metrics.ts'
import { systemResolver } from './resolve.ts'
import { TRIGGERS } from './task.ts'

/** A member of the group that is silent for this long loses its partitions, milliseconds. */
const SESSION_MS = 6_000

const names = [
  'MODE',
  'KAFKA_BROKERS',
  'SCHEMA_REGISTRY_URL',
  'NAMESPACE',
  'PARTITIONS',
  'MEMBERSHIP',
  'ON_LOST_LOG',
  ...serviceSecretSettings,
  'WEBHOOK_ALLOW_PRIVATE',
  'WEBHOOK_CA_FILE',
  'WEBHOOK_SLOTS',
  'WEBHOOK_SLOTS_PER_RECEIVER',
  'OPS_HOST',
  'OPS_PORT',
] as const

type Settings = Config<(typeof names)[number]>

await runService({
  name: 'webhooks',
  says: 'Delivers triggers to their webhooks: signed, retried, each receiver by itself.',
  settings: [...names, 'LOG_LEVEL', 'LOG_FORMAT'],
  start,
})

async function start(report: Logger): Promise<() => Promise<void>> {
  const config = readConfig(process.env, names)
  const send = senderOf(config, report)
  const metrics = new Registry()
  collectDefaultMetrics({ register: metrics })
  const deadLetters = new Tally()
  const clientId = `webhooks-${hostname()}-${process.pid}`
  const { KAFKA_BROKERS: brokers, NAMESPACE: namespace } = config
  const codec = await loadCodec(config.SCHEMA_REGISTRY_URL)
  const log = await connectLog({ brokers, namespace, clientId, log: report, claims: true })
  const membership = await join(config, clientId, report)
  const dispatcher = new Dispatcher({
    membership,
    send,
    ports: {
      log,
      reader: log.reader(),
      codec,
      lookUp: (id) => codec.lookUp(id),
      hint: (_, positions) => membership.hint(positions),
      clock: hostClock,
      meter: createMeter(metrics, deadLetters),
      report,
    },
    limits: { slots: config.WEBHOOK_SLOTS, perReceiver: config.WEBHOOK_SLOTS_PER_RECEIVER },
    deliveries: createDeliveryMeter(metrics),
    sessionMs: SESSION_MS,
    onLostLog: config.ON_LOST_LOG === 'stop' ? 'stop' : 'go-on',
  })
  exposeDispatcher(metrics, dispatcher, () => hostClock.now())
  void dispatcher.failed.then((reason) => end(reason, report))
  const health = (): ReturnType<Dispatcher['health']> & Record<string, unknown> => {
    const oldest = ageOf(dispatcher.oldest())
    return { ...dispatcher.health(), oldest_undelivered_ms: oldest, dead_letters: deadLetters.said }
  }
  const ops = await startOps(metrics, health, { host: config.OPS_HOST, port: config.OPS_PORT })
  report.info({ url: ops.url }, 'running')
  sayReady(ops.url)
  return async () => {
    await dispatcher.stop()
    await ops.close()
    await log.close()
  }
}

/** Age of the oldest undelivered trigger, milliseconds; 0: all are delivered. */
function ageOf(oldest: number | undefined): number {
  return oldest === undefined ? 0 : Math.max(0, Math.round(hostClock.now() - oldest / 1_000))
}

function senderOf(config: Settings, report: Logger): Send {
  const { MODE: mode, WEBHOOK_CA_FILE: caFile, WEBHOOK_ALLOW_PRIVATE: allowPrivate } = config
  return createSender({
    secrets: serviceSecrets(config),
    mode,
    reach: reachOf({ mode, allowPrivate }),
    resolve: systemResolver(),
    caller: new Caller(authorityOf(caFile, report)),
    now: () => hostClock.now(),
  })
}

/** A file that is not there is said and passed over: nothing that it vouches for can be running. */
function authorityOf(file: string, report: Logger): string | undefined {
  if (file === '') return undefined
  if (!existsSync(file)) {
    report.warn({ file }, 'WEBHOOK_CA_FILE is not there; receivers that it vouches for are refused')
    return undefined
  }
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`WEBHOOK_CA_FILE: ${file} cannot be read`, { cause: error })
  }
}

function join(config: Settings, clientId: string, report: Logger): Promise<Membership> {
  if (config.MEMBERSHIP === 'fixed') return Promise.resolve(fixedMembership([...Array(config.PARTITIONS).keys()]))
  return groupMembership({
    brokers: config.KAFKA_BROKERS,
    namespace: config.NAMESPACE,
    clientId,
    group: 'webhooks',
    topics: [TRIGGERS],
    sessionMs: SESSION_MS,
    log: report,
    onCrash: ({ message }) => end({ exitCode: 5, code: 'membership-lost', message }, report),
  })
}

/** Crash-only: what is pending is in the log, and a fresh process finds what this one has lost. */
function end({ exitCode, code, message }: StopReason, report: Logger): void {
  report.fatal({ code }, message)
  process.exit(exitCode)
}
