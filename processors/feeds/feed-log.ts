import type { OutRecord } from '../../infra/kafka/seam.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Gap, Mark, Micros, Trade } from '../../schemas/records.ts'

/** Takes records for a partition; what it cannot write yet it holds. */
export interface Sink {
  append(partition: number, record: OutRecord): void
}

/** The feed's side of `market.trades`: encodes, and sends each record to its asset's partition in the order of the calls. */
export class FeedLog {
  readonly #codec: Codec
  readonly #sink: Sink
  readonly #partitions: number

  constructor(codec: Codec, sink: Sink, partitions: number) {
    this.#codec = codec
    this.#sink = sink
    this.#partitions = partitions
  }

  trade(trade: Trade): void {
    const value = this.#codec.encode('market.trades', 'trade', trade)
    this.#append(trade.asset, trade.received, value)
  }

  gap(gap: Gap): void {
    this.#append(gap.asset, gap.time, this.#codec.encode('market.trades', 'gap', gap))
  }

  mark(partition: number, mark: Mark): void {
    const value = this.#codec.encode('market.trades', 'mark', mark)
    this.#sink.append(partition, { key: mark.writer, value, time: millis(mark.time) })
  }

  #append(asset: string, time: Micros, value: Buffer): void {
    this.#sink.append(partitionOf(asset, this.#partitions), { key: asset, value, time: millis(time) })
  }
}

function millis(time: Micros): number {
  return Math.floor(time / 1_000)
}
