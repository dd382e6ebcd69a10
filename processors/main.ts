import { hostname } from 'node:os'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { hostClock } from '../infra/clock.ts'
import { ConfigError, readConfig, type Config } from '../infra/config/config.ts'
import { startOps } from '../infra/http/ops.ts'
import { loadCodec } from '../infra/kafka/codec.ts'
import { connectLog } from '../infra/kafka/kafkajs.ts'
import { fixedMembership, groupMembership } from '../infra/kafka/membership.ts'
import type { Membership } from '../infra/kafka/seam.ts'
import { runService, sayReady } from '../infra/lifecycle.ts'
import type { Logger } from '../infra/log.ts'
import type { ProcessorRow } from './kernel/processor.ts'
import { Runner, SNAPSHOT_RECORDS } from './kernel/run.ts'
import type { StopReason } from './kernel/watch.ts'
import { createMeter, exposeRunner, Tally } from './metrics.ts'
import { processorsNamed } from './topology.ts'

/** A member of the group that is silent for this long loses its partitions, milliseconds. */
const SESSION_MS = 6_000

const names = [
  'KAFKA_BROKERS',
  'SCHEMA_REGISTRY_URL',
  'NAMESPACE',
  'PARTITIONS',
  'PROCESSORS',
  'MEMBERSHIP',
  'SNAPSHOT_SECONDS',
  'ON_LOST_LOG',
  'RETENTION_BYTES',
  'OPS_HOST',
  'OPS_PORT',
] as const

await runService({
  name: 'processors',
  says: 'Folds the market topics into derived topics: volume, prices, funding, liquidation risk, signals.',
  settings: [...names, 'LOG_LEVEL', 'LOG_FORMAT'],
  start,
})

async function start(report: Logger): Promise<() => Promise<void>> {
  const config = readConfig(process.env, names)
  const rows = rowsOf(config.PROCESSORS)
  const metrics = new Registry()
  collectDefaultMetrics({ register: metrics })
  const deadLetters = new Tally()
  const clientId = `processors-${hostname()}-${process.pid}`
  const { KAFKA_BROKERS: brokers, NAMESPACE: namespace } = config
  const codec = await loadCodec(config.SCHEMA_REGISTRY_URL)
  const log = await connectLog({ brokers, namespace, clientId, log: report, claims: true })
  const members = await Promise.all(
    rows.map(async (row) => ({ row, membership: await join(row, config, clientId, report) })),
  )
  const runner = new Runner({
    rows: members,
    ports: {
      log,
      reader: log.reader(),
      codec,
      lookUp: (id) => codec.lookUp(id),
      hint: async (name, positions) => members.find(({ row }) => row.name === name)?.membership.hint(positions),
      clock: hostClock,
      meter: createMeter(metrics, deadLetters),
      report,
    },
    snapshots: { everyMs: config.SNAPSHOT_SECONDS * 1000, everyRecords: SNAPSHOT_RECORDS },
    partitions: config.PARTITIONS,
    sessionMs: SESSION_MS,
    onLostLog: config.ON_LOST_LOG === 'stop' ? 'stop' : 'go-on',
    retentionBytes: config.RETENTION_BYTES,
  })
  exposeRunner(metrics, runner)
  void runner.failed.then((reason) => end(reason, report))
  const said = () => ({ ...runner.health(), dead_letters: deadLetters.said, refused_marks: runner.refusedMarks() })
  const ops = await startOps(metrics, said, {
    host: config.OPS_HOST,
    port: config.OPS_PORT,
  })
  report.info({ url: ops.url, processors: rows.map(({ name }) => name) }, 'running')
  sayReady(ops.url)
  return async () => {
    await runner.stop()
    await ops.close()
    await log.close()
  }
}

function rowsOf(wanted: readonly string[]): readonly ProcessorRow[] {
  try {
    return processorsNamed(wanted)
  } catch (error) {
    throw new ConfigError(`PROCESSORS: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** Which partitions this host has of a processor: all, or what a consumer group of the processor's name deals out. */
function join(
  row: ProcessorRow,
  config: Config<(typeof names)[number]>,
  clientId: string,
  report: Logger,
): Promise<Membership> {
  if (config.MEMBERSHIP === 'fixed') return Promise.resolve(fixedMembership([...Array(config.PARTITIONS).keys()]))
  return groupMembership({
    brokers: config.KAFKA_BROKERS,
    namespace: config.NAMESPACE,
    clientId,
    group: row.name,
    topics: row.inputs,
    sessionMs: SESSION_MS,
    log: report,
    onCrash: ({ message }) => end({ exitCode: 5, code: 'membership-lost', message }, report),
  })
}

/** Crash-only: state is safe at any point, and a fresh process finds what this one has lost. */
function end({ exitCode, code, message }: StopReason, report: Logger): void {
  report.fatal({ code }, message)
  process.exit(exitCode)
}
