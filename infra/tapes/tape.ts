import type { Codec } from '../../schemas/codec.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'

/** A range of record times (Kafka timestamps, milliseconds): start inclusive, end exclusive. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/** A partition's part of a time range. */
export interface Span {
  readonly topic: TopicName
  readonly partition: number
  /** Offset of the first record. */
  readonly from: number
  /** One past the last. */
  readonly to: number
  /** It begins where the partition itself began: nothing older was ever there. */
  readonly isWhole: boolean
}

/** What a tape cannot give. `no-data` names the topic and the range that it was asked for. */
export class TapeError extends Error {
  readonly code: 'no-tape' | 'no-data' | 'corrupt' | 'newer' | 'older' | 'disk' | 'refused'
  constructor(code: TapeError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** What a full or missing disk means for a tape; other errors as they are. */
export function diskError(file: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOSPC' && code !== 'EDQUOT' && code !== 'EROFS' && code !== 'EACCES') return error
  const hint = 'make room and run the same command again: it goes on where it stopped'
  return new TapeError('disk', `cannot write ${file} (${code}); ${hint}`, { cause: error })
}

/** History of topics, wherever it is kept: a broker, files, ClickHouse. Records are the log's own, with its offsets. */
export interface Tape {
  /** For people: where it comes from. */
  readonly name: string
  /** Of the topics that are partitioned by asset. */
  readonly partitions: number
  readonly topics: ReadonlySet<TopicName>
  /** Topics that hold what the live system derived, where that is not `topics`; without marks and with the last versions alone. */
  readonly compared?: ReadonlySet<TopicName>
  /**
   * Record time that inputs were taken up to, milliseconds; outputs behind it are there to be compared with. undefined: all
   * that is there belongs to the tape.
   */
  readonly until?: number
  readonly codec: Codec
  /** Learns a schema id that the codec does not know; false: there is none. */
  lookUp(id: number): Promise<boolean>
  span(topic: TopicName, partition: number, range: TimeRange): Promise<Span>
  /** The records of a span in the order of the log, in batches. Throws `TapeError`, or the log's own error. */
  read(span: Span): AsyncIterable<readonly LogRecord[]>
  close(): Promise<void>
}
