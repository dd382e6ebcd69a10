import type { RecordType } from '../../schemas/records.ts'
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
/** How long a tombstone stays for those who follow a topic. */
const TOMBSTONE_MS = 24 * 3_600_000
/** The same where nobody follows: the next owner of the partition reads all of it at once, tombstones as well. */
const OWN_TOMBSTONE_MS = 600_000
const own: ReadonlySet<RecordType> = new Set(['snapshot', 'pending'])
/**
 * Who follows a compacted topic and was not at its end for longer may have missed that keys were deleted, and begins anew
 * at the topic's start; the other half is for the time that this takes.
 */
export const FOLLOWED_WITHIN_MS = TOMBSTONE_MS / 2

/** How many partitions a topic has. */
export function partitionsOf(topic: Topic, { partitions }: Pick<TopicSizes, 'partitions'>): number {
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
    ...(topic.kind === 'cache' || topic.kind === 'upsert' ? { 'delete.retention.ms': tombstoneMsOf(topic) } : {}),
  }
}

function tombstoneMsOf({ records }: Topic): string {
  return String(records.some((record) => own.has(record)) ? OWN_TOMBSTONE_MS : TOMBSTONE_MS)
}

/** Per partition, as the broker counts it; -1: no limit. */
function retentionOf(topic: Topic, sizes: TopicSizes): number {
  return topic.kind === 'facts' && topic.cutBy === undefined
    ? Math.floor(sizes.retentionBytes / partitionsOf(topic, sizes))
    : -1
}

const kept = { 'cleanup.policy': 'delete' }

/**
 * Compaction goes by volume: a pass reads and writes all that a partition keeps, so that it waits until as much again has
 * come. It passes closed segments only: a quiet partition's are closed by time.
 */
const compacted = {
  'cleanup.policy': 'compact',
  'min.cleanable.dirty.ratio': '0.5',
  'segment.ms': '600000',
  'max.compaction.lag.ms': '9223372036854775807', // none: said for logs of before, which had one
}

const byKind: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  facts: kept,
  journal: kept,
  upsert: compacted,
  cache: {
    ...compacted,
    'max.message.bytes': String(CACHE_BATCH_BYTES_MAX),
    'segment.bytes': String(CACHE_SEGMENT_BYTES),
  },
}
