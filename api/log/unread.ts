import { SchemaError } from '../../infra/kafka/codec.ts'
import type { LogRecord } from '../../infra/kafka/seam.ts'
import type { Logger } from '../../infra/log.ts'
import type { TopicName } from '../../schemas/topics.ts'

/** Where a record lies that this instance passed over. */
export interface UnreadPosition {
  readonly topic: TopicName
  readonly partition: number
  readonly offset: number
}

type Take = (record: LogRecord, partition: number) => Promise<void> | void

/** The records of followed topics that this instance could not take in: they do not stop the others, and are told. */
export class Unread {
  #count = 0
  #newest: UnreadPosition | null = null

  /** How many since the start, and the newest. */
  get report(): { readonly count: number; readonly newest: UnreadPosition | null } {
    return { count: this.#count, newest: this.#newest }
  }

  /**
   * `take`, but that what it cannot take in is counted, logged (the 1st, 2nd, 4th, 8th) and passed over. While the registry
   * does not say what a schema id means nothing is passed over: the record is fetched again.
   */
  passing(topic: TopicName, log: Logger, take: Take): Take {
    return async (record, partition) => {
      try {
        await take(record, partition)
      } catch (error) {
        if (error instanceof SchemaError) throw error
        this.add({ topic, partition, offset: record.offset }, error, log)
      }
    }
  }

  add(position: UnreadPosition, error: unknown, log: Logger): void {
    this.#count += 1
    this.#newest = position
    const isPowerOfTwo = (this.#count & (this.#count - 1)) === 0 // a flood of them must not flood the log
    if (isPowerOfTwo) log.error({ err: error, ...position, count: this.#count }, 'a record cannot be read')
  }
}
