import { randomUUID } from 'node:crypto'
import { migrate } from '../../infra/clickhouse/migrate.ts'
import { ingestedTopics } from '../../infra/clickhouse/readings.ts'
import { dropDatabase } from '../../infra/clickhouse/testing/database.ts'
import { clickhouseEnv, readingOptions, readingSettings, type ClickhouseAccess } from '../../infra/config/clickhouse.ts'
import { readConfig } from '../../infra/config/config.ts'
import { loadCodec, type RegistryCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import type { Log } from '../../infra/kafka/seam.ts'
import { prepareTopics } from '../../infra/kafka/setup.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'

/** The real parts that are shared. */
export interface Parts {
  readonly brokers: readonly string[]
  readonly registryUrl: string
  readonly clickhouse: ClickhouseAccess
}

interface Wishes {
  readonly name: string
  readonly partitions?: number
  /**
   * What ClickHouse reads; left out: all that it can. Each Kafka table that reads costs the parts that are shared, also
   * where nothing comes.
   */
  readonly reads?: readonly TopicName[]
  /** Settings of the services, beside those of the surroundings. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Topics and tables of their own, for services that are started on them. */
export interface Surroundings {
  readonly namespace: string
  readonly database: string
  readonly env: Readonly<Record<string, string>>
  readonly log: Log
  readonly codec: RegistryCodec
  /** Takes the tables away. */
  close(): Promise<void>
}

/** Makes what `infra/prepare.ts` makes. A caller's rate has no limit unless the settings say one. */
export async function surroundings(
  { brokers, registryUrl, clickhouse }: Parts,
  { name, partitions = 2, reads, settings }: Wishes,
): Promise<Surroundings> {
  const id = randomUUID().slice(0, 8)
  const namespace = `${name}-${id}.`
  const database = `${name.replaceAll('-', '_')}_${id}`
  const env = {
    MODE: 'demo', // a test runner has a MODE of its own
    NAMESPACE: namespace,
    PARTITIONS: String(partitions),
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    ...clickhouseEnv(clickhouse),
    CLICKHOUSE_DATABASE: database,
    API_PORT: '0',
    OPS_PORT: '0',
    RATE_LIMIT_PER_SECOND: '0',
    SERVICE_SECRET: 'a-secret-of-the-tests-that-is-long-enough',
    LOG_FORMAT: 'json',
    ...settings,
  }
  const config = readConfig(env, [...readingSettings, 'REPLICATION_FACTOR', 'RETENTION_BYTES'])
  const [log, codec] = await Promise.all([connectLog({ brokers, namespace, clientId: name }), loadCodec(registryUrl)])
  const { REPLICATION_FACTOR: replicationFactor, RETENTION_BYTES: retentionBytes } = config
  await Promise.all([
    prepareTopics({ brokers, namespace, log, codec, partitions, replicationFactor, retentionBytes }),
    migrate({ ...readingOptions(config), topics: [] }),
  ])
  await migrate({ ...readingOptions(config), topics: reads?.map(topicOf) ?? ingestedTopics })
  return {
    namespace,
    database,
    env,
    log,
    codec,
    async close() {
      await dropDatabase(clickhouse, database)
      await log.close()
    },
  }
}
