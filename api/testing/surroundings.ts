import { migrate } from '../../infra/clickhouse/migrate.ts'
import { ingestedTopics } from '../../infra/clickhouse/readings.ts'
import { dropDatabase } from '../../infra/clickhouse/testing/database.ts'
import { readingOptions, readingSettings, type ClickhouseAccess } from '../../infra/config/clickhouse.ts'
import { readConfig } from '../../infra/config/config.ts'
import { ownTopics, type OwnTopics } from '../../infra/kafka/testing/topics.ts'
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
export interface Surroundings extends OwnTopics {
  readonly database: string
  /** Takes the tables away. */
  close(): Promise<void>
}

/** Makes what `infra/prepare.ts` makes. A caller's rate has no limit unless the settings say one. */
export async function surroundings(
  parts: Parts,
  { name, partitions = 2, reads, settings }: Wishes,
): Promise<Surroundings> {
  const { clickhouse } = parts
  const own = await ownTopics(parts, name, partitions)
  const database = own.namespace.replace(/\.$/, '').replaceAll('-', '_')
  const env = {
    ...own.env,
    CLICKHOUSE_URL: clickhouse.url,
    CLICKHOUSE_USER: clickhouse.user,
    CLICKHOUSE_PASSWORD: clickhouse.password,
    CLICKHOUSE_DATABASE: database,
    API_PORT: '0',
    RATE_LIMIT_PER_SECOND: '0',
    SERVICE_SECRET: 'a-secret-of-the-tests-that-is-long-enough',
    ...settings,
  }
  await migrate({
    ...readingOptions(readConfig(env, readingSettings)),
    topics: reads?.map(topicOf) ?? ingestedTopics,
  })
  return {
    ...own,
    database,
    env,
    async close() {
      await dropDatabase(clickhouse, database)
      await own.log.close()
    },
  }
}
