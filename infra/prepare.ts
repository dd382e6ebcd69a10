import { MigrationError, migrate } from './clickhouse/migrate.ts'
import { readingOptions, readingSettings } from './config/clickhouse.ts'
import { ConfigError, readConfig, settingsHelp } from './config/config.ts'
import { loadCodec, SchemaError } from './kafka/codec.ts'
import { GroupOffsets } from './kafka/group-offsets.ts'
import { connectLog } from './kafka/kafkajs.ts'
import { LayoutError, prepareTopics } from './kafka/setup.ts'
import { createLog, type Logger } from './log.ts'

const settings = [
  'PARTITIONS',
  'REPLICATION_FACTOR',
  'RETENTION_BYTES',
  ...readingSettings,
  'CLICKHOUSE_REBUILD',
] as const

/**
 * Runs once before the services: topics, schemas with their compatibility check, the log's layout, ClickHouse's tables.
 * Changes nothing the second time; refuses a log or a database that it must not touch, with what to do.
 */
async function prepare(report: Logger): Promise<void> {
  const config = readConfig(process.env, settings)
  const { KAFKA_BROKERS: brokers, NAMESPACE: namespace, SCHEMA_REGISTRY_URL: registryUrl } = config
  const codec = await loadCodec(registryUrl)
  const log = await connectLog({ brokers, namespace, clientId: 'prepare', log: report })
  try {
    const layout = await prepareTopics({
      brokers,
      namespace,
      log,
      codec,
      report,
      partitions: config.PARTITIONS,
      replicationFactor: config.REPLICATION_FACTOR,
      retentionBytes: config.RETENTION_BYTES,
    })
    report.info({ log: layout.log, partitions: layout.partitions }, 'the log is ready')
  } finally {
    await log.close()
  }
  const offsets = new GroupOffsets({ brokers, clientId: 'prepare', log: report })
  try {
    const { rebuilt, applied, reading } = await migrate({
      ...readingOptions(config),
      log: { offsets, partitions: config.PARTITIONS },
      rebuild: config.CLICKHOUSE_REBUILD,
    })
    if (rebuilt)
      report.warn(
        { database: config.CLICKHOUSE_DATABASE },
        'the database was of another release or another log: it was dropped',
      )
    report.info({ applied, reading }, 'the database is ready')
  } finally {
    await offsets.close()
  }
}

if (process.argv.includes('--help')) {
  console.log(
    `prepare: topics, schemas and tables, once before the services.\n\nEnvironment:\n${settingsHelp(settings)}`,
  )
} else {
  try {
    await prepare(createLog('prepare'))
  } catch (error) {
    const expected = [ConfigError, LayoutError, SchemaError, MigrationError].some((kind) => error instanceof kind)
    console.error(expected && error instanceof Error ? error.message : error)
    process.exitCode = error instanceof ConfigError ? 2 : 1
  }
}
