import type { Message, Micros, RecordType } from '../../schemas/records.ts'
import type { KindOf, RecordsOf, TopicName } from '../../schemas/topics.ts'

/** One record of a partition's log, decoded. `topic`, the partition and `offset` are its identity. */
export interface Entry {
  readonly topic: TopicName
  readonly offset: number
  /** Kafka record timestamp, milliseconds; outputs that follow from the entry carry it on. */
  readonly time: number
  readonly message: Message
}

/**
 * One output. It goes to the partition of the input that it follows from, or, in a topic that is partitioned by
 * receiver, to that of `receiver`. A `message` of null is a tombstone: the key's end in a compacted topic.
 */
export type Output<Topics extends TopicName = TopicName> = Topics extends TopicName
  ? {
      readonly topic: Topics
      readonly key: string
      readonly message: Message<RecordsOf<Topics>> | Tombstone<Topics>
      readonly receiver?: string
    }
  : never

/** Only in a cache does a key come to an end. */
type Tombstone<Topics extends TopicName> = KindOf<Topics> extends 'cache' ? null : never

/** What a processor sees of its surroundings: all of it data, so that a replay sees the same. */
export interface Context {
  /** The partition that is worked on. */
  readonly partition: number
  /**
   * Version of what follows from this entry: generation x 2^44 + offset. With several inputs an output key must follow
   * from one of them only, since versions of two logs do not compare.
   */
  readonly v: number
  /** Largest mark of the partition that was followed, this entry's included; 0 before the first. */
  readonly partitionTime: Micros
  /** Nobody reads what is not final before the last of it: it may be held back until `flush`. Left out: somebody does. */
  readonly isUnread?: boolean
}

/**
 * A pure state machine over the log of one partition.
 *
 * The kernel owns clocks, IO, order and recovery; a processor sees one entry after the other and says what follows.
 * The same entries give the same outputs, whatever the batching and wherever a crash fell between them. Where the log has
 * lost something that the processor has not read, or has read, an entry of `log_gap` says so before what follows.
 */
export interface Processor<State, Emitted extends Output = Output> {
  /** The state of a partition that has seen nothing. */
  empty(): State
  /** Folds one entry into `state`, changing it in place, and emits what follows. */
  apply(state: State, entry: Entry, context: Context, emit: (output: Emitted) => void): void
  /**
   * Says again what the state still knows of what it wrote to `output`, whose topic has lost its tail: the same keys, ids
   * and versions, so that what is told twice is told once. Left out where the next records tell it anyway.
   */
  restate?(state: State, output: TopicName, context: Context, emit: (output: Emitted) => void): void
  /** Called after the last entry of a batch, before outputs are written: emits upserts that were held back to coalesce. */
  flush?(state: State, emit: (output: Emitted) => void): void
  /** The parts of the state that changed since the last call, by key; null: the part is gone. Clears the marks. */
  save(state: State): Iterable<readonly [key: string, part: Buffer | null]>
  /** Clears the marks as `save` does, without making the parts: for a replay, which never writes a state. */
  forget?(state: State): void
  /** The state made of the latest version of each part. */
  load(parts: ReadonlyMap<string, Buffer>): State
  /** Running counts that the state keeps (duplicates, refusals), by name, for metrics. */
  counts?(state: State): Readonly<Record<string, number>>
}

/** One row of `processors/topology.ts`. */
export interface ProcessorRow {
  readonly name: string
  readonly inputs: readonly TopicName[]
  /** The only topics that `core` may emit to: they are claimed with the state. */
  readonly outputs: readonly TopicName[]
  readonly state: TopicName
  /** Record types of its inputs that the core looks at, marks among them; others are passed over. Left out: all. */
  readonly reads?: readonly RecordType[]
  /** Least time between two fetches for it, milliseconds, where nobody waits for what it makes. Left out: none. */
  readonly paceMs?: number
  /**
   * Which of its outputs are rows of past times, by the start of that time; undefined for others. A higher generation writes
   * those of the past anew, while the older one still tells the present; all else stays as it was told. Where a log begins
   * too late for a row it is not told: what was told of it of a longer log stands. Left out: none.
   */
  readonly retold?: (message: Message) => Micros | undefined
  /** Raised, with its reason, when derived data are rebuilt by other code or parameters. */
  readonly generation: number
  readonly reason: string
  /** Of whatever state and whichever outputs. */
  readonly core: Processor<unknown>
}
