import { partitionOf } from '../../schemas/catalogue.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Mark, Micros, PriceRange, Records } from '../../schemas/records.ts'
import type { FactRecord } from './fact-book.ts'
import type { Sink } from './feed-log.ts'
import type { FactTopic } from './source.ts'

/** The topics that marks go to: a cache of tokens has no time of its own. */
export const markedTopics = ['market.tickers', 'market.funding', 'market.liquidations', 'market.candles'] as const
export type MarkedTopic = (typeof markedTopics)[number]

export const factTopics = [...markedTopics, 'market.tokens'] as const satisfies readonly FactTopic[]

/** Where each record of the book belongs. */
const topicOf: Readonly<Record<FactRecord, FactTopic>> = {
  spot_ticker: 'market.tickers',
  derivative_ticker: 'market.funding',
  settlement: 'market.funding',
  long_short_ratio: 'market.funding',
  contract_terms: 'market.funding',
  liquidation: 'market.liquidations',
  candle: 'market.candles',
  token: 'market.tokens',
}

/** The feed's side of the topics beside trades: encodes, and sends each record to its asset's partition. */
export class FactLog {
  readonly #codec: Codec
  readonly #sinks: Readonly<Record<FactTopic, Sink>>
  readonly #partitions: number

  constructor(codec: Codec, sinks: Readonly<Record<FactTopic, Sink>>, partitions: number) {
    this.#codec = codec
    this.#sinks = sinks
    this.#partitions = partitions
  }

  record<Type extends FactRecord>(type: Type, value: Records[Type], now: Micros): void {
    const topic = topicOf[type]
    const encoded = this.#codec.encode(topic, type, value)
    // The registry's tokens lie in one partition, by their id.
    if ('id' in value && type === 'token')
      this.#sinks[topic].append(0, { key: value.id, value: encoded, time: millis(now) })
    else this.#byAsset(topic, value.asset ?? '', encoded, now)
  }

  range(range: PriceRange): void {
    const encoded = this.#codec.encode('market.tickers', 'price_range', range)
    this.#byAsset('market.tickers', range.asset, encoded, range.received)
  }

  mark(topic: MarkedTopic, partition: number, mark: Mark): void {
    const value = this.#codec.encode(topic, 'mark', mark)
    this.#sinks[topic].append(partition, { key: mark.writer, value, time: millis(mark.time) })
  }

  #byAsset(topic: FactTopic, asset: string, value: Buffer, now: Micros): void {
    this.#sinks[topic].append(partitionOf(asset, this.#partitions), { key: asset, value, time: millis(now) })
  }
}

function millis(time: Micros): number {
  return Math.floor(time / 1_000)
}
