import { randomUUID } from 'node:crypto'
import type { Admin } from 'kafkajs'
import { asAdmin, createTopics } from '../admin.ts'
import { CACHE_BATCH_BYTES_MAX } from '../topic-settings.ts'

/** A namespace that no other test has. */
export function freshNamespace(): string {
  return `test-${randomUUID().slice(0, 8)}.`
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
