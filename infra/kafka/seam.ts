/**
 * The thin seam between us and any Kafka client: types only. What is built on it: the kernel's runner, the feeds, the
 * API's tails, replays. Implementations: `kafkajs.ts` here and the in-memory log of `processors/kernel`; both pass
 * `testing/contract.ts`. Topic names are bare names of `schemas/topics.ts`; an implementation adds its namespace.
 */

/** One record as it lies in a partition. Offsets stay below 2^53. Key and value may be getters: a copy names them. */
export interface LogRecord {
  readonly offset: number
  /** Kafka record timestamp, milliseconds: when we received what it tells. */
  readonly time: number
  readonly key: Buffer | null
  /** null: a tombstone. */
  readonly value: Buffer | null
  /**
   * Epoch of the leader that took it in: never falls within a partition, and rises when a leader comes back, so that a
   * record that took the place of a lost one has a higher one. Left out where the log does not say.
   */
  readonly epoch?: number
}

export interface OutRecord {
  readonly key: string | Buffer | null
  readonly value: Buffer | null
  /** Kafka record timestamp, milliseconds. */
  readonly time: number
}

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** Where to read on: the offset of the next record. */
export interface Position extends TopicPartition {
  readonly offset: number
}

/** What one fetch brought of one partition. */
export interface Slice extends TopicPartition {
  /** The position that was asked for. */
  readonly from: number
  readonly records: readonly LogRecord[]
  /** Where to read on; past control records and compacted holes. */
  readonly next: number
  /** One past the last record (high watermark). */
  readonly end: number
  /** The first offset that is still there. */
  readonly start: number
  /** `out-of-range`: the position is not there any more; `moved`: ask again. */
  readonly error?: 'out-of-range' | 'moved'
}

export interface FetchOptions {
  /** Longest wait for a first record, milliseconds. */
  readonly maxWaitMs: number
  readonly maxBytesPerPartition: number
}

/** Reads partitions without a consumer group; one per process is enough. */
export interface LogReader {
  /** Offsets of each partition at its start, its end, or of the first record at or after `time` (ms); past the data: the end. */
  offsets(
    topic: string,
    partitions: readonly number[],
    at: 'start' | 'end' | { time: number },
  ): Promise<Map<number, number>>
  /**
   * One fetch over many partitions; returns when any has data or `maxWaitMs` is over. While no broker answers every
   * slice says `moved`. Fetches of one reader queue behind each other: whoever waits long takes a reader of its own.
   */
  fetch(from: readonly Position[], options: FetchOptions): Promise<Slice[]>
  /**
   * One past the last record that leaders up to `epoch` took in and the log still has: where a log that lost its tail
   * differs from what was read of it. Undefined: it knows nothing of that epoch, so it is another log.
   */
  endOfEpoch(topic: string, partition: number, epoch: number): Promise<number | undefined>
  /** Reads one partition from `from` (default: its start) to the end as of the call. */
  toEnd(topic: string, partition: number, from?: number): AsyncIterable<readonly LogRecord[]>
  close(): Promise<void>
}

/** Appends to partitions. Records of one call to one partition are one batch: all of it is in the log or none. */
export interface Writer {
  /**
   * Resolves when the broker has it (acks all), with the offset of the first record; undefined where it does not say.
   * Order per partition is the order of the calls. Retries by itself while the broker is away, then rejects with
   * `LogError`.
   */
  send(topic: string, partition: number, records: readonly OutRecord[]): Promise<number | undefined>
  close(): Promise<void>
}

/**
 * A write was refused because a newer claim stands, or because the broker has forgotten the owner, so that one may stand.
 * Never retried: the task is dropped.
 */
export class FencedError extends Error {
  readonly code = 'fenced'
}

/**
 * Why the log did not do what was asked.
 * - `unavailable`: no broker answered in time; trying later can help. A write may have reached the log.
 * - `no-topic`: the topic does not exist.
 * - `refused`: the broker refused the request for what it holds (too large, a time too far in the future).
 * - `full`: too much waits to be written.
 * - `closed`: the log, or this part of it, was closed.
 */
export class LogError extends Error {
  readonly code: 'unavailable' | 'no-topic' | 'refused' | 'full' | 'closed'
  constructor(code: LogError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** Whether the same call can succeed later. */
  get retriable(): boolean {
    return this.code === 'unavailable' || this.code === 'full'
  }
}

/**
 * A writer whose partitions are its own until another claims them; then its writes fail with `FencedError`. It renews
 * itself until it is closed; an owner that was away for too long asks before it writes on.
 */
export interface Claim extends Writer {
  readonly epoch: number
  /** Resolves when a renewal finds that it is another's by now, or forgotten: whoever writes seldom hears of it here. */
  readonly lost: Promise<FencedError>
}

export interface Log {
  reader(): LogReader
  /** `giveUpMs`: how long a batch is tried while no broker takes it, where the usual 10 minutes are not right. */
  writer(giveUpMs?: number): Writer
  /** Claims `targets` for `owner` (`<processor>-<partition>`); when it resolves, no older owner can write to them. */
  claim(owner: string, targets: readonly TopicPartition[]): Promise<Claim>
  /** Deletes what lies before an offset. */
  trim(before: Position): Promise<void>
  close(): Promise<void>
}

/** Which partition numbers this instance owns. Fixed on one machine, a consumer group on many. */
export interface Membership {
  /** Nobody deals the partitions out: they are this instance's for good, and may be no other's. */
  readonly isFixed: boolean
  /** Calls `listener` with the owned partitions, at first and at each change. */
  onChange(listener: (partitions: readonly number[]) => void): void
  /** When the last sign came that the membership holds, milliseconds of this process's steady clock (`performance.now`). */
  readonly lastSeen: number
  /** Tells the group how far we are; only a hint for lag displays, errors are ignored. */
  hint(positions: readonly Position[]): Promise<void>
  leave(): Promise<void>
}
