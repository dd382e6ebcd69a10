import { hostname } from 'node:os'
import type { Registry } from 'prom-client'
import { hostClock } from '../infra/clock.ts'
import type { Config } from '../infra/config/config.ts'
import { processMetrics, startOps, type Health } from '../infra/http/ops.ts'
import { loadCodec } from '../infra/kafka/codec.ts'
import { connectLog } from '../infra/kafka/kafkajs.ts'
import { laterMembership, membershipOf, SESSION_MS } from '../infra/kafka/membership.ts'
import type { Membership } from '../infra/kafka/seam.ts'
import { sayReady } from '../infra/lifecycle.ts'
import type { Logger } from '../infra/log.ts'
import type { TopicName } from '../schemas/topics.ts'
import type { LostLogPolicy, Ports } from './kernel/ports.ts'
import type { StopReason } from './kernel/watch.ts'
import { createMeter, Tally } from './metrics.ts'

/** The settings of every process that owns partitions. */
export const hostSettings = [
  'KAFKA_BROKERS',
  'SCHEMA_REGISTRY_URL',
  'NAMESPACE',
  'MEMBERSHIP',
  'ON_LOST_LOG',
  'OPS_HOST',
  'OPS_PORT',
] as const

type HostConfig = Config<(typeof hostSettings)[number]>

/** What runs in a host. */
interface Running {
  /** Resolves when the process must end. */
  readonly failed: Promise<StopReason>
  stop(): Promise<void>
}

/** What every process that owns partitions has around them: the log, its part of it, metrics and health. */
export interface Host {
  /** Names this process to the broker. */
  readonly clientId: string
  readonly ports: Ports
  readonly metrics: Registry
  readonly onLostLog: LostLogPolicy
  readonly sessionMs: number
  /**
   * Which of these partitions this process has of a group's topics: all, or what a consumer group of that name deals out;
   * none before `ready` is over.
   */
  join(
    group: string,
    topics: readonly TopicName[],
    partitions: readonly number[],
    ready?: Promise<void>,
  ): Promise<Membership>
  /** Says how it is, and that it is ready; `fields` go into the log. Gives the clean stop. */
  serve(running: Running, health: () => Health, fields: object): Promise<() => Promise<void>>
}

/** Connects a host to its log and registry; rejects where they cannot be used. */
export async function connectHost(name: string, config: HostConfig, report: Logger): Promise<Host> {
  const { KAFKA_BROKERS: brokers, NAMESPACE: namespace, OPS_HOST: host, OPS_PORT: port } = config
  const metrics = processMetrics()
  const deadLetters = new Tally()
  const clientId = `${name}-${hostname()}-${process.pid}`
  const codec = await loadCodec(config.SCHEMA_REGISTRY_URL, report)
  const log = await connectLog({ brokers, namespace, clientId, log: report, claims: true })
  const memberships = new Map<string, Membership>()
  return {
    clientId,
    ports: {
      log,
      reader: log.reader(),
      codec,
      lookUp: (id) => codec.lookUp(id),
      hint: async (group, positions) => memberships.get(group)?.hint(positions),
      clock: hostClock,
      meter: createMeter(metrics, deadLetters),
      report,
    },
    metrics,
    onLostLog: config.ON_LOST_LOG === 'stop' ? 'stop' : 'go-on',
    sessionMs: SESSION_MS,
    async join(group, topics, partitions, ready) {
      const onCrash = ({ message }: Error): void => end({ exitCode: 5, code: 'membership-lost', message }, report)
      const common = { brokers, namespace, clientId, log: report }
      const open = (): Promise<Membership> =>
        membershipOf(config.MEMBERSHIP, partitions, { ...common, group, topics, onCrash })
      const membership =
        ready === undefined ? await open() : laterMembership(config.MEMBERSHIP === 'fixed', ready.then(open), onCrash)
      memberships.set(group, membership)
      return membership
    },
    async serve(running, health, fields) {
      void running.failed.then((reason) => end(reason, report))
      const healthReport = (): Health => ({ ...health(), dead_letters: deadLetters.report })
      const ops = await startOps(metrics, healthReport, { host, port })
      report.info({ url: ops.url, ...fields }, 'running')
      sayReady(ops.url)
      return async () => {
        await running.stop()
        await ops.close()
        await log.close()
      }
    },
  }
}

/** Crash-only: what is known is in the log at any point, and a fresh process finds what this one has lost. */
function end({ exitCode, code, message }: StopReason, report: Logger): void {
  report.fatal({ code }, message)
  process.exit(exitCode)
}
