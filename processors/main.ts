import { Rereader } from '../infra/clickhouse/reread.ts'
import { readingOptions, readingSettings } from '../infra/config/clickhouse.ts'
import { ConfigError, readConfig, type Config } from '../infra/config/config.ts'
import { GroupOffsets } from '../infra/kafka/group-offsets.ts'
import { runService } from '../infra/lifecycle.ts'
import type { Logger } from '../infra/log.ts'
import { connectHost, hostSettings, type Host } from './host.ts'
import { catchUpAll, findBesides } from './kernel/beside.ts'
import { Decoder } from './kernel/decoder.ts'
import type { ProcessorRow } from './kernel/processor.ts'
import { runProcessors, SNAPSHOT_RECORDS } from './kernel/run.ts'
import { exposeRunner } from './metrics.ts'
import { processorsNamed } from './topology.ts'

const own = ['PARTITIONS', 'PROCESSORS', 'SNAPSHOT_SECONDS', 'RETENTION_BYTES'] as const
const names = [...hostSettings, ...own, ...readingSettings] as const

await runService({
  name: 'processors',
  description: 'Folds the market topics into derived topics: volume, prices, funding, liquidation risk, signals.',
  settings: [...names, 'LOG_LEVEL', 'LOG_FORMAT'],
  start,
})

async function start(report: Logger): Promise<() => Promise<void>> {
  const config = readConfig(process.env, names)
  const { PARTITIONS: partitions, SNAPSHOT_SECONDS: seconds, RETENTION_BYTES: retentionBytes } = config
  const rows = rowsOf(config.PROCESSORS)
  const host = await connectHost('processors', config, report)
  const all = [...Array(partitions).keys()]
  const decoder = new Decoder(host.ports.codec, (id) => host.ports.lookUp(id))
  const behind = new Set<string>()
  const hosted = await Promise.all(
    rows.map(async (row) => {
      const besides = await findBesides(row, all, { ...host, decoder, partitions })
      if (besides.size > 0) behind.add(row.name)
      const ready =
        besides.size === 0 ? undefined : catchUpAll(besides, report).then(() => void behind.delete(row.name))
      return { row, besides, membership: await host.join(row.name, row.inputs, all, ready) }
    }),
  )
  const runner = runProcessors({
    ...host,
    rows: hosted,
    snapshots: { everyMs: seconds * 1000, everyRecords: SNAPSHOT_RECORDS },
    partitions,
    retentionBytes,
  })
  exposeRunner(host.metrics, runner)
  const refusedMarks = (): number => runner.owners().reduce((sum, { work }) => sum + (work?.refusedMarks ?? 0), 0)
  const health = () => ({
    ok: runner.isWell,
    ready: behind.size === 0,
    processors: runner.partitions(),
    refused_marks: refusedMarks(),
    catching_up: hosted.flatMap(({ besides }) => [...besides.values()].map((beside) => beside.report)),
  })
  const stopRereader = await startRereader(config, host, report)
  const stop = await host.serve(runner, health, { processors: rows.map(({ name }) => name) })
  return async () => {
    await Promise.all([stopRereader(), stop()])
  }
}

/** Any host can do it, one at a time: a group deals out the one partition of a topic that is there in any case. */
async function startRereader(
  config: Config<(typeof names)[number]>,
  host: Host,
  report: Logger,
): Promise<() => Promise<void>> {
  const { KAFKA_BROKERS: brokers, PARTITIONS: partitions } = config
  const offsets = new GroupOffsets({ brokers, clientId: host.clientId, log: report })
  let isOurs = false
  const membership = await host.join('reread', ['control.layout'], [0])
  membership.onChange((held) => {
    isOurs = held.includes(0)
  })
  const rereader = new Rereader({
    ...readingOptions(config),
    partitions,
    reader: host.ports.log.reader(),
    offsets,
    report,
    isOurs: () => isOurs,
  })
  rereader.start()
  return async () => {
    await rereader.stop()
    await membership.leave()
  }
}

function rowsOf(wanted: readonly string[]): readonly ProcessorRow[] {
  try {
    return processorsNamed(wanted)
  } catch (error) {
    throw new ConfigError(`PROCESSORS: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
