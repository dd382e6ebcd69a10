import { Canonical, RunningHash } from './core/canonical.ts'
import { Series } from './core/chart.ts'
import type { Fill, Study } from './core/study.ts'
import type { ReplayOutput } from './core/replay.ts'
import type { LogRecord } from '../../infra/kafka/seam.ts'
import type { Message } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { RecordPosition } from '../../schemas/record-id.ts'
import type { TapeEntry } from './merge.ts'
import type { Observer } from './run.ts'

/** Bytes of a schema id: they differ from registry to registry, and say nothing of the record. */
const WIRE_HEADER_BYTES = 5

/** Where prices come from: composite prices, or trades of one instrument of each asset (archives have no tickers). */
type PriceSource = 'composite' | 'trades'

export interface CollectOptions {
  readonly study: Study
  readonly prices: PriceSource
  /** The place that a record had before the tape was rearranged. */
  readonly placeOf: (place: RecordPosition) => RecordPosition
}

/** What was read of one topic and partition, with the SHA-256 over offsets, times and bodies. */
export interface InputSum {
  readonly records: number
  readonly first: number
  readonly last: number
  readonly hash: string
}

interface Input {
  records: number
  readonly first: number
  last: number
  readonly hash: RunningHash
}

/** Watches a run and keeps what its results are made of. */
export class Collect implements Observer {
  readonly inputs = new Map<string, Input>()
  readonly outputs = new Canonical()
  readonly prices = new Map<string, Series>()
  /** Of each asset the instrument whose trades are its price: the first that is seen. */
  readonly #references = new Map<string, string>()
  readonly #options: CollectOptions
  /** Of the partition that is read, by topic. */
  readonly #inputsHere = new Map<TopicName, Input>()
  /** The asset that was read last: most records are of few. */
  #asset: string | undefined
  /** Assets of which anything was read. */
  readonly assets = new Set<string>()
  events = 0

  constructor(options: CollectOptions) {
    this.#options = options
  }

  partition(): void {
    this.#inputsHere.clear()
  }

  entry({ topic, partition, record, message }: TapeEntry, isReported: boolean): void {
    this.events += 1
    this.#note(message)
    this.#input(topic, partition, record)
    if (message.type !== 'trade' || this.#options.prices !== 'trades') return
    const { asset, instrument, price, time } = message.value
    const reference = this.#references.get(asset)
    if (reference === undefined) this.#references.set(asset, instrument)
    else if (reference !== instrument) return
    this.#price(asset, { price, time, place: this.#place({ topic, partition, offset: record.offset }) }, isReported)
  }

  happening({ row, output, body, cause, partitionTime }: ReplayOutput, isReported: boolean): void {
    const { topic, key, message } = output
    if (message === null) return
    const { study } = this.#options
    if (message.type === 'composite_price' && this.#options.prices === 'composite' && !message.value.late) {
      const { asset, price, time } = message.value
      this.#price(asset, { price, time, place: this.#place(cause) }, isReported)
    }
    if (message.type === 'signal') study.signal(message.value, partitionTime, this.#place(cause), isReported)
    if (!isReported) return
    if (message.type === 'trigger' && !message.value.test)
      study.trigger(message.value, partitionTime, this.#place(cause))
    this.outputs.add(row, cause.partition, { topic, key, message, body })
  }

  /** By `topic/partition`; nothing may follow. */
  inputSums(): [string, InputSum][] {
    return [...this.inputs].map(([name, { hash, ...rest }]) => [name, { ...rest, hash: hash.digest() }])
  }

  #note({ value }: Message): void {
    if (!('asset' in value) || value.asset === null || value.asset === this.#asset) return
    this.#asset = value.asset
    this.assets.add(value.asset)
  }

  #price(asset: string, fill: Fill, isReported: boolean): void {
    this.#options.study.price(asset, fill)
    if (!isReported) return
    const series = this.prices.get(asset) ?? new Series()
    this.prices.set(asset, series)
    series.add(fill.time, fill.price)
  }

  #place(place: RecordPosition): RecordPosition {
    return this.#options.placeOf(place)
  }

  #input(topic: TopicName, partition: number, { offset, time, value }: LogRecord): void {
    const input = this.#inputsHere.get(topic) ?? this.#openInput(topic, partition, offset)
    input.records += 1
    input.last = offset
    input.hash.number(offset).number(time)
    if (value !== null) input.hash.bytes(value, WIRE_HEADER_BYTES)
  }

  #openInput(topic: TopicName, partition: number, first: number): Input {
    const input = { records: 0, first, last: first, hash: new RunningHash() }
    this.inputs.set(`${topic}/${partition}`, input)
    this.#inputsHere.set(topic, input)
    return input
  }
}
