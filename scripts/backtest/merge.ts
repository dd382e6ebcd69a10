import { UndecodableError } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../../infra/kafka/seam.ts'
import type { Span, Tape } from '../../infra/tapes/tape.ts'
import { Decoder } from '../../processors/kernel/decoder.ts'

/** One record of a tape, decoded. */
export interface TapeEntry {
  readonly topic: TopicName
  readonly partition: number
  /** Largest record time of the topic so far, milliseconds. */
  readonly time: number
  readonly record: LogRecord
  readonly message: Message
}

export interface MergeOptions {
  readonly tape: Tape
  readonly spans: readonly Span[]
  readonly onEntry: (entry: TapeEntry) => void
  /** A record that cannot be read is skipped, as the live host skips it. */
  readonly onUndecodable: (topic: TopicName, offset: number, error: UndecodableError) => void
  /** Called between batches: records read since the last call, and the record time reached (ms). */
  readonly onProgress: (records: number, time: number) => Promise<void> | undefined
}

/**
 * Reads several topics of one partition as one story: each topic in the order of its log, topics against each other by
 * record time (a topic that stands still in time, or goes back, keeps the largest time it had), at equal times in the
 * order of `spans`. So the outcome depends on the records alone, never on how they were fetched.
 */
export async function merge(options: MergeOptions): Promise<void> {
  const decoder = new Decoder(options.tape.codec, (id) => options.tape.lookUp(id))
  const cursors = options.spans.map((span) => new PartitionCursor(span, options, decoder))
  for (const cursor of cursors) await cursor.fill()
  let open = cursors.filter((cursor) => !cursor.isEmpty)
  while (open.length > 0) {
    const { first, bound } = earliest(open)
    if (first === undefined) break
    const taken = first.drain(bound)
    if (first.isEmpty) {
      await first.fill()
      open = open.filter((cursor) => !cursor.isEmpty)
    }
    const pause = options.onProgress(taken, first.time)
    if (pause !== undefined) await pause
  }
}

/** The cursor whose turn it is, and up to where it may go on alone. */
function earliest(cursors: readonly PartitionCursor[]): { first: PartitionCursor | undefined; bound: Bound } {
  let first: PartitionCursor | undefined
  for (const cursor of cursors) if (first === undefined || cursor.time < first.time) first = cursor
  let time = Infinity
  let isInclusive = true
  let isBehind = false
  for (const cursor of cursors) {
    if (cursor === first) isBehind = true
    else if (cursor.time < time) {
      time = cursor.time
      isInclusive = isBehind
    }
  }
  return { first, bound: { time, isInclusive } }
}

/** Bytes before the body of a record in the wire format: a zero and the schema id. */
const WIRE_HEADER_BYTES = 5
/** Registries give ids above it. */
const NO_ID = -1

interface Bound {
  readonly time: number
  readonly isInclusive: boolean
}

class PartitionCursor {
  readonly #span: Span
  readonly #options: MergeOptions
  readonly #decoder: Decoder
  readonly #batches: AsyncIterator<readonly LogRecord[]>
  #records: readonly LogRecord[] = []
  #at = 0
  #largest = 0
  #known = NO_ID

  constructor(span: Span, options: MergeOptions, decoder: Decoder) {
    this.#span = span
    this.#options = options
    this.#decoder = decoder
    this.#batches = options.tape.read(span)[Symbol.asyncIterator]()
  }

  get isEmpty(): boolean {
    return this.#at >= this.#records.length
  }

  /** Of its next record. */
  get time(): number {
    return Math.max(this.#largest, this.#records[this.#at]?.time ?? this.#largest)
  }

  /** Fetches the next batch that holds anything; stays empty at the end. Schema ids of the batch are known after it. */
  async fill(): Promise<void> {
    do {
      const { done, value } = await this.#batches.next()
      if (done === true) return
      this.#records = value
      this.#at = 0
    } while (this.isEmpty)
    await this.#learn()
  }

  /** Hands its records on, up to the bound or the end of the batch; gives how many. */
  drain({ time, isInclusive }: Bound): number {
    const start = this.#at
    const records = this.#records
    for (let record = records[this.#at]; record !== undefined; record = records[this.#at]) {
      const own = Math.max(this.#largest, record.time)
      if (isInclusive ? own > time : own >= time) break
      this.#largest = own
      this.#at += 1
      const message = this.#read(record)
      if (message === undefined) continue
      const { topic, partition } = this.#span
      this.#options.onEntry({ topic, partition, time: own, record, message })
    }
    return this.#at - start
  }

  async #learn(): Promise<void> {
    for (const { value } of this.#records) {
      if (value === null || this.#isKnown(value)) continue
      await this.#decoder.decodeOrAsk(value).catch((error: unknown) => {
        if (!(error instanceof UndecodableError)) throw error // an unreadable record is told of when its turn comes
      })
    }
  }

  /** Nearly all records of a cursor have one schema or two: the id that was known last is not looked up again. */
  #isKnown(value: Buffer): boolean {
    const id = value.length < WIRE_HEADER_BYTES ? NO_ID : value.readInt32BE(1)
    if (id !== NO_ID && id === this.#known) return true
    if (this.#options.tape.codec.typeOf(value) === undefined) return false
    this.#known = id
    return true
  }

  #read({ offset, value }: LogRecord): Message | undefined {
    if (value === null) return undefined
    try {
      return this.#decoder.read(value)
    } catch (error) {
      if (!(error instanceof UndecodableError)) throw error
      this.#options.onUndecodable(this.#span.topic, offset, error)
      return undefined
    }
  }
}
