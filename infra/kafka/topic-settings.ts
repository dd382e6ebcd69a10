import type { Kind, Topic } from '../../schemas/topics.ts'

export interface TopicSizes {
  /** Partitions of the topics that are partitioned by asset. */
  readonly partitions: number
  readonly replicationFactor: number
  /** Limit of a facts topic over all its partitions, bytes. */
  readonly retentionBytes: number
}

const BATCH_BYTES_MAX = 10 * 1024 * 1024
/** A claim's snapshot is one batch; 32 MB of it and some room. The broker takes requests of up to 100 MB. */
export const CACHE_BATCH_BYTES_MAX = 34 * 1024 * 1024
/** The unit of deletion and compaction. Never below the largest batch: the broker would refuse that batch. */
const SEGMENT_BYTES = 16 * 1024 * 1024
const CACHE_SEGMENT_BYTES = 64 * 1024 * 1024
/** How long a tombstone stays for those who read along. */
const TOMBSTONE_MS = 60_000

/** How many partitions a topic has. */
export function partitionsOf(topic: Topic, { partitions }: TopicSizes): number {
  return topic.partitions === 'one' ? 1 : partitions
}

/**
 * The broker's settings of a topic. No kind has a limit by age: records carry event time, so that a tape of last year
 * would be deleted within seconds of its writing.
 */
export function settingsOf(topic: Topic, sizes: TopicSizes): Readonly<Record<string, string>> {
  return {
    'message.timestamp.type': 'CreateTime',
    'max.message.bytes': String(BATCH_BYTES_MAX),
    'segment.bytes': String(SEGMENT_BYTES),
    'min.insync.replicas': sizes.replicationFactor > 2 ? '2' : '1',
    'retention.ms': '-1',
    'retention.bytes': String(retentionOf(topic, sizes)),
    ...byKind[topic.kind],
  }
}

/** Per partition, as the broker counts it; -1: no limit. */
function retentionOf(topic: Topic, sizes: TopicSizes): number {
  return topic.kind === 'facts' ? Math.floor(sizes.retentionBytes / partitionsOf(topic, sizes)) : -1
}

const kept = { 'cleanup.policy': 'delete' }

/** Compaction passes closed segments only, so that they are closed by time and passed soon. */
const compacted = {
  'cleanup.policy': 'compact',
  'min.cleanable.dirty.ratio': '0.05',
  'delete.retention.ms': String(TOMBSTONE_MS),
}

const byKind: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  facts: kept,
  journal: kept,
  upsert: { ...compacted, 'segment.ms': '60000', 'max.compaction.lag.ms': '60000' },
  cache: {
    ...compacted,
    'segment.ms': '10000',
    'max.compaction.lag.ms': '10000',
    'max.message.bytes': String(CACHE_BATCH_BYTES_MAX),
    'segment.bytes': String(CACHE_SEGMENT_BYTES),
  },
}
