import type { Writer } from '../../../infra/kafka/seam.ts'
import { partitionOf } from '../../../schemas/catalogue.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Backfill, Gap, Mark, Micros, PriceRange, Records, Trade } from '../../../schemas/records.ts'
import type { FactRecord } from '../facts/fact-book.ts'
import type { TradeLog } from '../trades/id-repair.ts'
import { LogBuffer, logBufferDefaults, type LogBufferOptions, type LostRecords } from './log-buffer.ts'

/** The topics that marks go to: a cache of tokens has no time of its own. */
export const markedTopics = [
  'market.trades',
  'market.tickers',
  'market.funding',
  'market.liquidations',
  'market.candles',
] as const
export type MarkedTopic = (typeof markedTopics)[number]

/** All that a feed writes: what it says of now, and what it reads back of the past. */
export const writtenTopics = [...markedTopics, 'market.tokens', 'market.history', 'control.backfill'] as const
export type WrittenTopic = (typeof writtenTopics)[number]

/** What the topics have in place of the usual. */
const buffers: Readonly<Record<WrittenTopic, Partial<LogBufferOptions>>> = {
  'market.trades': { maxRecords: 200_000 },
  'market.tickers': { lingerMs: 0, everyMs: 0 }, // alerts ring by them, and they are few
  'market.funding': {},
  'market.liquidations': {},
  'market.candles': {},
  'market.history': {},
  // These lie in one partition, by keys of their own.
  'market.tokens': { partitions: 1 },
  'control.backfill': { partitions: 1 },
}

/** Where each record belongs. */
const topicOf = {
  trade: 'market.trades',
  gap: 'market.trades',
  spot_ticker: 'market.tickers',
  price_range: 'market.tickers',
  derivative_ticker: 'market.funding',
  settlement: 'market.funding',
  long_short_ratio: 'market.funding',
  contract_terms: 'market.funding',
  liquidation: 'market.liquidations',
  candle: 'market.candles',
  token: 'market.tokens',
  venue_candle: 'market.history',
  backfill: 'control.backfill',
} as const satisfies Readonly<
  Record<FactRecord | 'trade' | 'gap' | 'price_range' | 'venue_candle' | 'backfill', WrittenTopic>
>

/** What `market.history` holds. */
export type PastRecord = 'venue_candle' | 'settlement' | 'derivative_ticker' | 'long_short_ratio'

interface MarketLogHandlers {
  /** The writer has given a batch up. */
  readonly error: (error: unknown) => void
  readonly lost: (topic: WrittenTopic, records: LostRecords) => void
}

/** What a feed writes: encodes each record and sends it to its asset's partition, in the order of the calls. */
export class MarketLog implements TradeLog {
  readonly #codec: Codec
  readonly #partitions: number
  readonly #buffers: ReadonlyMap<WrittenTopic, LogBuffer>

  constructor(codec: Codec, writer: Writer, partitions: number, on: MarketLogHandlers) {
    this.#codec = codec
    this.#partitions = partitions
    this.#buffers = new Map(
      writtenTopics.map((topic) => {
        const options = { topic, partitions, ...logBufferDefaults, ...buffers[topic] }
        const lost = (records: LostRecords): void => on.lost(topic, records)
        return [topic, new LogBuffer(writer, options, { error: on.error, lost })]
      }),
    )
  }

  trade(trade: Trade): void {
    this.record('trade', trade, trade.received)
  }

  gap(gap: Gap): void {
    this.record('gap', gap, gap.time)
  }

  range(range: PriceRange): void {
    this.record('price_range', range, range.received)
  }

  /** What is read back of the past lies apart from what is told of now. */
  past<Type extends PastRecord>(type: Type, value: Records[Type], now: Micros): void {
    this.record(type, value, now, 'market.history')
  }

  record<Type extends keyof typeof topicOf>(
    type: Type,
    value: Records[Type],
    now: Micros,
    topic: WrittenTopic = topicOf[type],
  ): void {
    const encoded = this.#codec.encode(topic, type, value)
    const own = ownKeyOf(type, value)
    const asset = 'asset' in value ? (value.asset ?? '') : ''
    const partition = own === undefined ? partitionOf(asset, this.#partitions) : 0
    this.of(topic).append(partition, { key: own ?? asset, value: encoded, time: millis(now) })
  }

  mark(topic: MarkedTopic, partition: number, mark: Mark): void {
    const value = this.#codec.encode(topic, 'mark', mark)
    this.of(topic).append(partition, { key: mark.writer, value, time: millis(mark.time) })
  }

  /** What waits for the broker. */
  of(topic: WrittenTopic): LogBuffer {
    const buffer = this.#buffers.get(topic)
    if (buffer === undefined) throw new Error(`nothing is written to ${topic}`)
    return buffer
  }

  get full(): boolean {
    return writtenTopics.some((topic) => this.of(topic).full)
  }

  async drained(): Promise<void> {
    await Promise.all(writtenTopics.map((topic) => this.of(topic).drained()))
  }

  /** Nothing is sent again after this. */
  close(): void {
    for (const topic of writtenTopics) this.of(topic).close()
  }
}

/** The key of what does not lie with its asset; undefined: it does. */
function ownKeyOf<Type extends keyof typeof topicOf>(type: Type, value: Records[Type]): string | undefined {
  if (type === 'token' && 'id' in value) return value.id
  return type === 'backfill' && 'series' in value ? pastKey(value) : undefined
}

/** The key of `control.backfill`. */
export function pastKey({ instrument, series }: Pick<Backfill, 'instrument' | 'series'>): string {
  return `${instrument}|${series}`
}

function millis(time: Micros): number {
  return Math.floor(time / 1_000)
}
