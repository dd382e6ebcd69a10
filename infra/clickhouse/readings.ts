import { topics, type Topic, type TopicName } from '../../schemas/topics.ts'
import { checksumOf } from './migrations.ts'

/** Where Kafka and the registry are, and as whom the database reads. */
export interface Surroundings {
  readonly database: string
  /**
   * Identity of the database: consumer groups are named by it, so that one that was dropped and made again is filled
   * again from the log's start.
   */
  readonly databaseId: string
  /** Put before topic and group names. */
  readonly namespace: string
  /** Brokers as ClickHouse reaches them. */
  readonly brokers: readonly string[]
  /** Schema registry as ClickHouse reaches it. */
  readonly registryUrl: string
  /**
   * Trades and flow are written at least this often while any come, milliseconds, what comes of other topics half as
   * often, of minutes long past an eighth as often. A flush costs a core 20 to 50 ms however little it brings, and most
   * topics have a mark a second in each partition.
   */
  readonly flushMs: number
}

/** How a topic gets into the database. */
export interface Reading {
  readonly topic: string
  /** Its consumer group. */
  readonly group: string
  /** The view that moves what its Kafka table brings into the topic's `_in` table. */
  readonly pump: string
  /** The Kafka table. */
  readonly queue: string
  /** Tells a reading from what it was before brokers, registry, namespace or pace changed; the comment of its pump. */
  readonly comment: string
  /** Takes what was there away. A group's offsets stay: reading goes on where it was. */
  readonly drop: readonly string[]
  readonly create: readonly string[]
}

/** Read by their processors only: caches but for the registry's tokens, and what credit's entries follow from. */
export const ingestedTopics: readonly Topic[] = topics.filter(
  ({ name, kind }: Topic) => (kind !== 'cache' && name !== 'payments.credit') || name === 'market.tokens',
)

/**
 * Of a record of these that cannot be read no bytes are kept: they may hold what no table may, as a signature or a
 * webhook's URL.
 */
export const bytesUnkept: ReadonlySet<string> = new Set<TopicName>([
  'alerts.inputs',
  'alerts.events',
  'alerts.triggers',
  'webhooks.attempts',
  'payments.intents',
  'payments.events',
  'control.dead_letters',
])

/** What candles and volumes are made of. */
const prompt: ReadonlySet<string> = new Set<TopicName>(['market.trades', 'derived.flow'])

/** What is of minutes long past when it comes: nearly all flushes of it would bring marks alone. */
const unhurried: ReadonlySet<string> = new Set<TopicName>(['market.candles', 'derived.audit'])

/**
 * What is read beside a topic's reading, from where its own group is put before; see `reread.ts`. By the number its group
 * is told from those of earlier times.
 */
export function rereadingOf(topic: string, around: Surroundings, number: number): Reading {
  return tablesOf(topic, around, { name: `${nameOf(topic)}_again`, group: `${groupOf(topic, around)}.again-${number}` })
}

/**
 * One Kafka table per topic, with the columns of all its record types; a field that a record does not have is left at its
 * default. What cannot be read comes with log_error and goes to ingest_errors_log, and ingestion goes on.
 *
 * A schema id that the registry does not know (404) is such an error, and so is one whose schema ClickHouse cannot use (it names
 * the row). A registry that does not answer is none: then the view throws, nothing of the block is kept, the group's offsets
 * stay, and the block is read again until it answers.
 */
export function readingOf(topic: string, around: Surroundings): Reading {
  return tablesOf(topic, around, { name: nameOf(topic), group: groupOf(topic, around) })
}

/** The group by which our own services keep up to where ClickHouse has all that this one reads. */
export function keptBy(group: string): string {
  return `${group}.complete`
}

/** A topic's part of the names of its tables and views. */
export function nameOf(topic: string): string {
  return topic.replace('.', '_')
}

function groupOf(topic: string, { namespace, database, databaseId }: Surroundings): string {
  return `${namespace}clickhouse.${database}.${databaseId}.${topic}`
}

function tablesOf(topic: string, around: Surroundings, { name, group }: { name: string; group: string }): Reading {
  const into = `${nameOf(topic)}_in`
  const raw = bytesUnkept.has(topic) ? "''" : "if(_error = '', '', substring(_raw_message, 1, 4096))"
  const flushMs = around.flushMs * (prompt.has(topic) ? 1 : unhurried.has(topic) ? 8 : 2)
  const lookMs = Math.ceil(Math.min(flushMs / 2, around.flushMs))
  const queue = `CREATE TABLE ${name}_queue AS ${into}
ENGINE = Kafka
SETTINGS
    kafka_broker_list = ${literal(around.brokers.join(','))},
    kafka_topic_list = ${literal(around.namespace + topic)},
    kafka_group_name = ${literal(group)},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = ${literal(around.registryUrl)},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = ${flushMs},
    kafka_poll_timeout_ms = ${lookMs},
    kafka_consumer_reschedule_ms = ${lookMs}`
  const pump = `CREATE MATERIALIZED VIEW ${name}_pump TO ${into} AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %' AND _error NOT LIKE '%(at row %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    ${raw} AS log_raw
FROM ${name}_queue`
  const comment = `Reads ${topic} (${checksumOf(queue + pump)})`
  return {
    topic,
    group,
    pump: `${name}_pump`,
    queue: `${name}_queue`,
    comment,
    drop: [`DROP VIEW IF EXISTS ${name}_pump`, `DROP TABLE IF EXISTS ${name}_queue`],
    create: [queue, `${pump}\nCOMMENT ${literal(comment)}`],
  }
}

export function literal(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
