import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import type { LogReader, LogRecord } from '../../infra/kafka/seam.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import type { RecordPosition } from '../../schemas/record-id.ts'
import { topicOf } from '../../schemas/topics.ts'
import { ApiError } from '../errors.ts'
import type { PublicRecord } from './alerts.ts'
import { decode } from '../log/decode.ts'
import { isPublicRecord, isPublicTopic } from './public-records.ts'

/** Reads under way; each is one fetch after the other, so more would only wait. */
const READS_MAX = 50
/** While a partition has no leader it is asked again, so often. */
const TRIES_MAX = 5
const FETCH = { maxWaitMs: 50, maxBytesPerPartition: 64 * 1024 }

export interface RecordReaderOptions {
  readonly reader: LogReader
  readonly codec: RegistryCodec
  readonly partitions: number
}

/** Reads single public records of the log. */
export class RecordReader {
  readonly #options: RecordReaderOptions
  #reads = 0

  constructor(options: RecordReaderOptions) {
    this.#options = options
  }

  /** The record at a place; undefined where there is none, or none that may be shown. */
  async read(place: RecordPosition): Promise<PublicRecord | undefined> {
    const { topic, partition } = place
    const partitions = topicOf(topic).partitions === 'one' ? 1 : this.#options.partitions
    if (!isPublicTopic(topic) || partition >= partitions) return undefined
    if (this.#reads >= READS_MAX)
      throw new ApiError('overloaded', 'Too many records are being read; try again in a second.', {
        retryAfterSeconds: 1,
      })
    this.#reads += 1
    try {
      return await this.#show(place, await this.#find(place))
    } finally {
      this.#reads -= 1
    }
  }

  async #show({ topic }: RecordPosition, record: LogRecord | undefined): Promise<PublicRecord | undefined> {
    if (record === undefined || record.value === null) return undefined
    try {
      const message = await decode(this.#options.codec, record.value)
      return isPublicRecord(topic, message.type) ? { time: record.time, message } : undefined
    } catch (error) {
      if (error instanceof UndecodableError) return undefined
      throw error
    }
  }

  async #find({ topic, partition, offset }: RecordPosition): Promise<LogRecord | undefined> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const [slice] = await this.#options.reader.fetch([{ topic, partition, offset }], FETCH)
      if (slice !== undefined && slice.error !== 'moved')
        return slice.records.find((record) => record.offset === offset)
    }
    throw new ApiError('data_unavailable', 'The record cannot be read right now; try again in a moment.', {
      retryAfterSeconds: 1,
    })
  }
}
