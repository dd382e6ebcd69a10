import { randomUUID } from 'node:crypto'
import type { Admin } from 'kafkajs'
import { asAdmin, createTopics } from '../admin.ts'
import { loadCodec, type RegistryCodec } from '../codec.ts'
import { connectLog } from '../kafkajs.ts'
import type { Log } from '../seam.ts'
import { prepareTopics } from '../setup.ts'
import { CACHE_BATCH_BYTES_MAX } from '../topic-settings.ts'

/** A namespace that no other test has. */
export function freshNamespace(): string {
  return `test-${randomUUID().slice(0, 8)}.`
}

export interface OwnTopics {
  readonly namespace: string
  readonly log: Log
  readonly codec: RegistryCodec
  /** Settings of the services that are started on them. */
  readonly env: Readonly<Record<string, string>>
}

/** All topics, with their schemas, for one test alone. */
export async function ownTopics(
  { brokers, registryUrl }: { readonly brokers: readonly string[]; readonly registryUrl: string },
  name: string,
  partitions: number,
): Promise<OwnTopics> {
  const namespace = `${name}-${randomUUID().slice(0, 8)}.`
  const [codec, log] = await Promise.all([loadCodec(registryUrl), connectLog({ brokers, namespace, clientId: name })])
  await prepareTopics({ brokers, namespace, log, codec, partitions, replicationFactor: 1, retentionBytes: 1e9 })
  const env = {
    MODE: 'demo', // the test runner has a MODE of its own
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    NAMESPACE: namespace,
    PARTITIONS: String(partitions),
    OPS_PORT: '0',
    LOG_FORMAT: 'json',
  }
  return { namespace, log, codec, env }
}

/** Runs `work` with an admin client of the broker; for tests and benches. */
export function withAdmin<Result>(
  brokers: readonly string[],
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  return asAdmin({ brokers, clientId: 'test' }, work)
}

/** Makes topics of three partitions that keep what is written, however old its time. */
export async function createTestTopics(
  brokers: readonly string[],
  names: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const size = {
    'max.message.bytes': String(CACHE_BATCH_BYTES_MAX),
    'segment.bytes': String(2 * CACHE_BATCH_BYTES_MAX),
  }
  const all = { 'retention.ms': '-1', ...size, ...settings }
  const configEntries = Object.entries(all).map(([name, value]) => ({ name, value }))
  await withAdmin(brokers, (admin) =>
    createTopics(
      admin,
      names.map((topic) => ({ topic, numPartitions: 3, replicationFactor: 1, configEntries })),
    ),
  )
}
