import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import type { LogReader, LogRecord } from '../../infra/kafka/seam.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import type { RecordPosition } from '../../schemas/record-id.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'
import type { RecordType } from '../../schemas/records.ts'
import { ApiError } from '../request/errors.ts'
import type { PublicRecord } from './alerts.ts'

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
  async read(position: RecordPosition): Promise<PublicRecord | undefined> {
    const { topic, partition } = position
    const partitions = topicOf(topic).partitions === 'one' ? 1 : this.#options.partitions
    if (!isPublicTopic(topic) || partition >= partitions) return undefined
    if (this.#reads >= READS_MAX)
      throw new ApiError('overloaded', 'Too many records are being read; try again in a second.', {
        retryAfterSeconds: 1,
      })
    this.#reads += 1
    try {
      return await this.#show(position, await this.#find(position))
    } finally {
      this.#reads -= 1
    }
  }

  async #show({ topic }: RecordPosition, record: LogRecord | undefined): Promise<PublicRecord | undefined> {
    if (record === undefined || record.value === null) return undefined
    try {
      const message = await this.#options.codec.read(record.value)
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

/**
 * What `GET /records/:id` may show: the record types by topic. It is a list of what may, not of what may not, so that a
 * new record is hidden until somebody decides otherwise. Commands hold sealed URLs and wallets; they are not in it.
 */
const shown: Readonly<Partial<Record<TopicName, readonly RecordType[]>>> = {
  'market.trades': ['trade', 'gap', 'mark'],
  'market.tickers': ['spot_ticker', 'price_range', 'mark'],
  'market.funding': ['derivative_ticker', 'settlement', 'long_short_ratio', 'contract_terms', 'mark'],
  'market.liquidations': ['liquidation', 'mark'],
  'market.candles': ['candle', 'mark'],
  'market.history': ['venue_candle'],
  'market.instruments': ['instrument'],
  'derived.flow': ['flow', 'flow_hour', 'flow_five', 'cvd', 'mark'],
  'derived.signals': ['signal', 'mark'],
  'derived.funding': ['funding', 'mark'],
  'derived.audit': ['audit', 'mark'],
  'alerts.inputs': ['composite_price', 'liquidation_risk', 'metric', 'mark'],
}

/** Whether anything of the topic may be shown: others are not even read. */
function isPublicTopic(topic: TopicName): boolean {
  return shown[topic] !== undefined
}

function isPublicRecord(topic: TopicName, type: RecordType): boolean {
  return shown[topic]?.includes(type) === true
}
