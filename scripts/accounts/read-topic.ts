import type { LogReader } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'

/** Reads a topic again and again from where it left off; a record is handed on once. */
export class TopicFollower {
  readonly #next = new Map<number, number>()
  readonly #reader: LogReader
  readonly #codec: Codec
  readonly #topic: TopicName
  readonly #partitions: number

  constructor(reader: LogReader, codec: Codec, topic: TopicName, partitions: number) {
    this.#reader = reader
    this.#codec = codec
    this.#topic = topic
    this.#partitions = partitions
  }

  /** Reads every partition to its end as of now. */
  async advance(onRecord: (key: string, message: Message) => void): Promise<void> {
    for (let partition = 0; partition < this.#partitions; partition++) {
      for await (const records of this.#reader.toEnd(this.#topic, partition, this.#next.get(partition) ?? 0)) {
        for (const { key, value, offset } of records) {
          this.#next.set(partition, offset + 1)
          if (value !== null) onRecord(key?.toString() ?? '', this.#codec.decode(value))
        }
      }
    }
  }
}
