import { FencedError, LogError } from '../../../infra/kafka/seam.ts'
import type {
  Claim,
  FetchOptions,
  Log,
  LogReader,
  LogRecord,
  OutRecord,
  Position,
  Slice,
  TopicPartition,
  Writer,
} from '../../../infra/kafka/seam.ts'
import type { Clock } from '../ports.ts'

/** Time stands still: nothing in a task depends on it but when it writes its state, and that goes by records here. */
export const stillClock: Clock = {
  now: () => 0,
  steady: () => 0,
  delay: () => Promise.resolve(),
  turn: () => Promise.resolve(),
}

/**
 * A broker in memory for tests: partitions, claims that fence by owner and leave a hole in the offsets as control
 * records do, compaction and retention on request. Topics and partitions exist as soon as they are named. Several
 * instances connect to one broker; every call takes a moment of the clock, its effect is there at once.
 */
export class MemoryBroker {
  readonly #clock: Clock
  readonly #partitions = new Map<string, MemoryPartition>()
  readonly #epochs = new Map<string, number>()
  /** Claims that are held, to be told at a renewal. */
  readonly #claims = new Set<{ owner: string; epoch: number; lose: (error: FencedError) => void }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A client of one instance. */
  connect(): Log {
    return {
      reader: () => new MemoryReader(this, this.#clock),
      writer: () => this.#writer((topic, partition, records) => this.append(topic, partition, records)),
      claim: async (owner, targets) => {
        const claim = this.#claim(owner, targets)
        await this.#clock.delay(0)
        return claim
      },
      trim: async ({ topic, partition, offset }) => {
        this.truncate(topic, partition, offset)
        await this.#clock.delay(0)
      },
      close: () => Promise.resolve(),
    }
  }

  /** Appends as a producer that nobody fences; gives the offset of the first. */
  append(topic: string, partition: number, records: readonly OutRecord[]): number {
    return this.at(topic, partition).append(records)
  }

  /** What lies in a partition now. */
  records(topic: string, partition: number): readonly LogRecord[] {
    return this.at(topic, partition).records
  }

  /** Drops what lies before an offset, as retention does. */
  truncate(topic: string, partition: number, before: number): void {
    this.at(topic, partition).truncate(before)
  }

  /** Drops what lies at or behind an offset, as a broker that lost power does; it comes back with a new epoch. */
  lose(topic: string, partition: number, from: number): void {
    this.at(topic, partition).lose(from)
    this.restart()
  }

  /** The broker goes and comes: what is appended from here on has another epoch. */
  restart(): void {
    for (const partition of this.#partitions.values()) partition.renew()
  }

  /** Puts an empty partition in the place of one, as a log that was restored elsewhere. */
  replace(topic: string, partition: number): void {
    this.#partitions.set(`${topic}-${partition}`, new MemoryPartition())
  }

  /** Keeps the last record of each key, and of a tombstone nothing, as the cleaner does in the end. */
  compact(topic: string, partition: number): void {
    this.at(topic, partition).compact()
  }

  /** Claims are renewed: owners that another has replaced hear of it. */
  renew(): void {
    for (const claim of this.#claims) {
      const { owner, epoch, lose } = claim
      if (this.#epochs.get(owner) === epoch) continue
      this.#claims.delete(claim)
      lose(new FencedError(`${owner} was claimed again`))
    }
  }

  at(topic: string, partition: number): MemoryPartition {
    const id = `${topic}-${partition}`
    const known = this.#partitions.get(id)
    if (known !== undefined) return known
    const made = new MemoryPartition()
    this.#partitions.set(id, made)
    return made
  }

  #claim(owner: string, targets: readonly TopicPartition[]): Claim {
    const epoch = (this.#epochs.get(owner) ?? -1) + 1
    this.#epochs.set(owner, epoch)
    for (const { topic, partition } of targets) this.at(topic, partition).skip()
    const writer = this.#writer((topic, partition, records) => {
      if (this.#epochs.get(owner) !== epoch) throw new FencedError(`${owner} was claimed again`)
      return this.append(topic, partition, records)
    })
    const { promise: lost, resolve: lose } = Promise.withResolvers<FencedError>()
    const claim = { owner, epoch, lose }
    this.#claims.add(claim)
    const close = async (): Promise<void> => {
      this.#claims.delete(claim)
      await writer.close()
    }
    return { epoch, lost, ...writer, close }
  }

  #writer(append: (topic: string, partition: number, records: readonly OutRecord[]) => number): Writer {
    let isClosed = false
    return {
      send: async (topic, partition, records) => {
        if (isClosed) throw new LogError('closed', 'the writer was closed')
        const first = append(topic, partition, records)
        await this.#clock.delay(0)
        return records.length === 0 ? undefined : first
      },
      close: async () => {
        isClosed = true
      },
    }
  }
}

class MemoryPartition {
  records: LogRecord[] = []
  start = 0
  end = 0
  #epoch = 0
  /** Where each epoch begins, ascending. */
  #epochs: { readonly epoch: number; readonly start: number }[] = [{ epoch: 0, start: 0 }]
  #waiting: (() => void)[] = []

  append(records: readonly OutRecord[]): number {
    const first = this.end
    const epoch = this.#epoch
    for (const { key, value, time } of records) {
      this.records.push({ offset: this.end++, time, key: key === null ? null : Buffer.from(key), value, epoch })
    }
    this.#wake()
    return first
  }

  lose(from: number): void {
    this.records = this.records.filter(({ offset }) => offset < from)
    this.end = Math.min(this.end, from)
    this.#epochs = this.#epochs.filter(({ start }) => start < this.end)
  }

  renew(): void {
    this.#epoch += 1
    this.#epochs.push({ epoch: this.#epoch, start: this.end })
  }

  endOfEpoch(epoch: number): number | undefined {
    if (epoch > this.#epoch) return undefined
    return this.#epochs.find((known) => known.epoch > epoch)?.start ?? this.end
  }

  /** A control record: it has an offset and is never seen. */
  skip(): void {
    this.end += 1
    this.#wake()
  }

  truncate(before: number): void {
    this.start = Math.min(before, this.end)
    this.records = this.records.filter(({ offset }) => offset >= before)
  }

  compact(): void {
    const last = new Map(this.records.map((record) => [record.key?.toString() ?? null, record]))
    this.records = [...last.values()].filter(({ value }) => value !== null).sort((a, b) => a.offset - b.offset)
  }

  /** Resolves with the next append. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
    })
  }

  slice({ topic, partition, offset }: Position, bytesMax: number): Slice {
    const { start, end } = this
    const position = { topic, partition, from: offset, start, end }
    if (offset < start || offset > end) return { ...position, records: [], next: offset, error: 'out-of-range' }
    const records: LogRecord[] = []
    let bytes = 0
    for (let at = this.#firstFrom(offset); at < this.records.length; at++) {
      const record = this.records[at]
      if (record === undefined) break
      bytes += (record.key?.length ?? 0) + (record.value?.length ?? 0)
      if (records.length > 0 && bytes > bytesMax) return { ...position, records, next: record.offset }
      records.push(record)
    }
    return { ...position, records, next: end }
  }

  #firstFrom(offset: number): number {
    const at = this.records.findIndex((record) => record.offset >= offset)
    return at < 0 ? this.records.length : at
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

class MemoryReader implements LogReader {
  readonly #broker: MemoryBroker
  readonly #clock: Clock

  constructor(broker: MemoryBroker, clock: Clock) {
    this.#broker = broker
    this.#clock = clock
  }

  offsets: LogReader['offsets'] = async (topic, partitions, at) => {
    await this.#clock.delay(0)
    const offsetOf = (partition: number): number => {
      const log = this.#broker.at(topic, partition)
      if (at === 'start') return log.start
      if (at === 'end') return log.end
      return log.records.find(({ time }) => time >= at.time)?.offset ?? log.end
    }
    return new Map(partitions.map((partition) => [partition, offsetOf(partition)]))
  }

  async fetch(from: readonly Position[], { maxWaitMs, maxBytesPerPartition }: FetchOptions): Promise<Slice[]> {
    const partitions = from.map((position) => ({ position, log: this.#broker.at(position.topic, position.partition) }))
    const read = (): Slice[] => partitions.map(({ position, log }) => log.slice(position, maxBytesPerPartition))
    const slices = read()
    if (slices.some(({ records, error }) => records.length > 0 || error !== undefined)) return slices
    await Promise.race([...partitions.map(({ log }) => log.changed()), this.#clock.delay(maxWaitMs)])
    return read()
  }

  endOfEpoch: LogReader['endOfEpoch'] = async (topic, partition, epoch) => {
    await this.#clock.delay(0)
    return this.#broker.at(topic, partition).endOfEpoch(epoch)
  }

  toEnd(topic: string, partition: number, from?: number): AsyncIterable<readonly LogRecord[]> {
    const log = this.#broker.at(topic, partition)
    const records = log.records.filter(({ offset }) => offset >= (from ?? log.start))
    return once(records)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

async function* once(records: readonly LogRecord[]): AsyncGenerator<readonly LogRecord[]> {
  if (records.length > 0) yield records
}
