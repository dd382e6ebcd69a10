import type { FetchOptions, LogReader, LogRecord, Position, Slice } from '../../infra/kafka/seam.ts'
import type { TopicName } from '../../schemas/topics.ts'

/** Of what accidents took off a partition's end: the offsets, and what lay there. */
export interface CutPart {
  readonly from: number
  readonly to: number
  readonly records: readonly LogRecord[]
}

interface RetainedRecord extends LogRecord {
  /** Its offset in the log, which another record may have had as well. */
  readonly real: number
}

/**
 * A reader that keeps what some topics have held, so that judges read it after an accident has taken it away. Behind a
 * tail that was cut, offsets of kept topics go on as if it had stayed; `realOf` says what they are in the log.
 */
export class RetainedLog implements LogReader {
  readonly #reader: LogReader
  readonly #topics: ReadonlyMap<string, readonly RetainedPartition[]>

  constructor(reader: LogReader, topics: readonly TopicName[], partitions: number) {
    this.#reader = reader
    const each = (topic: TopicName): RetainedPartition[] =>
      Array.from({ length: partitions }, (_, partition) => new RetainedPartition(reader, topic, partition))
    this.#topics = new Map(topics.map((topic) => [topic, each(topic)]))
  }

  /** Reads on to the end; to be done before an accident takes something away. */
  async advance(): Promise<void> {
    for (const partitions of this.#topics.values()) for (const partition of partitions) await partition.advance()
  }

  /** An accident cut the tail of a partition. The log must have been read to its end shortly before. */
  cut(topic: string, partition: number, part: CutPart): void {
    this.#topics.get(topic)?.[partition]?.cut(part)
  }

  /** Takes out what no reader has read before it was cut: `read` says whether it had read that offset. */
  forget(topic: TopicName, read: (partition: number, cutFrom: number, offset: number) => boolean): void {
    for (const [partition, kept] of (this.#topics.get(topic) ?? []).entries())
      kept.forget((cutFrom, offset) => !read(partition, cutFrom, offset))
  }

  /** The offset in the log of one that we gave. */
  realOf(topic: string, partition: number, offset: number): number {
    return this.#topics.get(topic)?.[partition]?.realOf(offset) ?? offset
  }

  async offsets(
    topic: string,
    partitions: readonly number[],
    at: 'start' | 'end' | { time: number },
  ): Promise<Map<number, number>> {
    const kept = this.#topics.get(topic)
    if (kept === undefined) return this.#reader.offsets(topic, partitions, at)
    await this.advance()
    return new Map(partitions.map((partition) => [partition, kept[partition]?.offsetAt(at) ?? 0]))
  }

  async *toEnd(topic: string, partition: number, from = 0): AsyncIterable<readonly LogRecord[]> {
    const kept = this.#topics.get(topic)?.[partition]
    if (kept === undefined) yield* this.#reader.toEnd(topic, partition, from === 0 ? undefined : from)
    else {
      await kept.advance()
      yield kept.from(from)
    }
  }

  fetch(from: readonly Position[], options: FetchOptions): Promise<Slice[]> {
    return this.#reader.fetch(from, options)
  }

  endOfEpoch(topic: string, partition: number, epoch: number): Promise<number | undefined> {
    return this.#reader.endOfEpoch(topic, partition, epoch)
  }

  close(): Promise<void> {
    return this.#reader.close()
  }
}

class RetainedPartition {
  readonly #reader: LogReader
  readonly #topic: TopicName
  readonly #partition: number
  #records: RetainedRecord[] = []
  /** Records that were cut, by where their cut began. */
  readonly #lost = new Map<RetainedRecord, number>()
  /** What the log has next, and what is added to its offsets. */
  #next = 0
  #shift = 0
  #pending: CutPart | undefined

  constructor(reader: LogReader, topic: TopicName, partition: number) {
    this.#reader = reader
    this.#topic = topic
    this.#partition = partition
  }

  async advance(): Promise<void> {
    for await (const records of this.#reader.toEnd(this.#topic, this.#partition, this.#next)) {
      for (const record of records) {
        if (this.#pending !== undefined && record.offset >= this.#pending.from) this.#lose(this.#pending)
        this.#keep(record)
        this.#next = record.offset + 1
      }
    }
  }

  cut(part: CutPart): void {
    if (part.from < this.#next) this.#lose(part)
    else this.#pending = part
  }

  /** Adds what was cut and not read before; from there on offsets are those of the log once more. */
  #lose(part: CutPart): void {
    this.#pending = undefined
    for (const record of this.#records)
      if (record.real >= part.from && !this.#lost.has(record)) this.#lost.set(record, part.from)
    for (const record of part.records.filter(({ offset }) => offset >= this.#next))
      this.#lost.set(this.#keep(record), part.from)
    this.#next = part.from
    this.#shift += part.to - part.from
  }

  #keep(record: LogRecord): RetainedRecord {
    const { offset: real, key, value } = record
    const kept = { ...record, key, value, real, offset: real + this.#shift }
    this.#records.push(kept)
    return kept
  }

  forget(isUnread: (cutFrom: number, offset: number) => boolean): void {
    this.#records = this.#records.filter((record) => {
      const cutFrom = this.#lost.get(record)
      return cutFrom === undefined || !isUnread(cutFrom, record.real)
    })
  }

  from(offset: number): readonly LogRecord[] {
    return this.#records.slice(this.#indexOf(offset))
  }

  realOf(offset: number): number {
    const record = this.#records[this.#indexOf(offset)]
    return record?.offset === offset ? record.real : offset - this.#shift
  }

  offsetAt(at: 'start' | 'end' | { time: number }): number {
    const end = this.#next + this.#shift
    if (at === 'end') return end
    const first = at === 'start' ? this.#records[0] : this.#records.find(({ time }) => time >= at.time)
    return first?.offset ?? end
  }

  /** Index of the first at or behind an offset. */
  #indexOf(offset: number): number {
    let [low, high] = [0, this.#records.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#records[middle]?.offset ?? Infinity) < offset) low = middle + 1
      else high = middle
    }
    return low
  }
}
