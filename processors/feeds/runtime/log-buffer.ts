import type { OutRecord, Writer } from '../../../infra/kafka/seam.ts'
import type { TopicName } from '../../../schemas/topics.ts'

/** Records of one send; more in one batch cost the client time that grows faster than their number. */
const maxBatchRecords = 2_000

export interface LogBufferOptions {
  readonly topic: TopicName
  readonly partitions: number
  /** How long a first record waits for company, milliseconds. */
  readonly lingerMs: number
  /** Least time between two rounds of sends, milliseconds: what comes sooner after one waits, and goes together. */
  readonly everyMs: number
  /** Records held while the broker is away. Beyond it `full` is true: what feeds the topic is not read until there is room. */
  readonly maxRecords: number
}

export const logBufferDefaults = { lingerMs: 1, everyMs: 10, maxRecords: 50_000 } as const

/** How long the writer tries one batch; then the process ends, and the next one repairs from the log's tail. */
export const giveUpMs = 1_800_000

/** Records that the log had and has no more: it lost its tail, and what was written since took their places. */
export interface LostRecords {
  readonly partition: number
  /** Offsets: the first that was lost, and where the lost ones ended. */
  readonly from: number
  readonly to: number
}

interface LogBufferHandlers {
  /** The writer has given a batch up. */
  readonly error: (error: unknown) => void
  readonly lost: (records: LostRecords) => void
}

interface Queue {
  readonly partition: number
  /** One past the last record that the broker has said it has. */
  next: number
  records: OutRecord[]
  sending: boolean
  /** Who waits until so many of the records are written. */
  waiting: { records: number; readonly resolve: () => void }[]
}

/**
 * Collects records for the partitions of one topic and sends each partition's in the order of the calls, one batch at a
 * time. What the writer has not written yet is held and counted; the writer tries again by itself.
 */
export class LogBuffer {
  readonly #writer: Writer
  readonly #options: LogBufferOptions
  readonly #queues: readonly Queue[]
  readonly #on: LogBufferHandlers
  #size = 0
  #full = false
  #closed = false
  #timer: NodeJS.Timeout | undefined
  #flushed = -Infinity
  readonly #room: (() => void)[] = []

  constructor(writer: Writer, options: LogBufferOptions, on: LogBufferHandlers) {
    this.#writer = writer
    this.#options = options
    this.#on = on
    this.#queues = Array.from({ length: options.partitions }, (_, partition) => ({
      partition,
      next: 0,
      records: [],
      sending: false,
      waiting: [],
    }))
  }

  /** Records that the broker does not have yet. */
  get size(): number {
    return this.#size
  }

  /** No more should be appended until there is room. What comes nevertheless is taken: it was read already. */
  get full(): boolean {
    return this.#full
  }

  append(partition: number, record: OutRecord): void {
    const queue = this.#queues[partition]
    if (queue === undefined) throw new Error(`partition ${partition} of ${this.#options.topic} does not exist`)
    queue.records.push(record)
    this.#size++
    if (this.#size >= this.#options.maxRecords) this.#full = true
    this.#schedule()
  }

  /** Resolves when it is not full. */
  async room(): Promise<void> {
    if (this.#full) await resolvedBy(this.#room)
  }

  /** Resolves when the broker has everything that was appended before. */
  async drained(): Promise<void> {
    this.#flush()
    await Promise.all(this.#queues.map(({ partition }) => this.written(partition)))
  }

  /** Resolves when the broker has what was appended to the partition before. */
  async written(partition: number): Promise<void> {
    const queue = this.#queues[partition]
    if (queue === undefined || queue.records.length === 0) return
    await new Promise<void>((resolve) => {
      queue.waiting.push({ records: queue.records.length, resolve })
    })
  }

  /** Nothing is sent again after this. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    const { lingerMs, everyMs } = this.#options
    this.#timer ??= setTimeout(() => this.#flush(), Math.max(lingerMs, this.#flushed + everyMs - performance.now()))
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#flushed = performance.now()
    for (const queue of this.#queues) if (!queue.sending && queue.records.length > 0) void this.#drain(queue)
  }

  async #drain(queue: Queue): Promise<void> {
    queue.sending = true
    do {
      const batch = queue.records.slice(0, maxBatchRecords)
      try {
        this.#written(queue, await this.#writer.send(this.#options.topic, queue.partition, batch), batch.length)
      } catch (error) {
        if (!this.#closed) this.#on.error(error)
        return
      }
      queue.records = queue.records.slice(batch.length)
      this.#sent(batch.length)
      tell(queue, batch.length)
    } while (queue.records.length >= maxBatchRecords && !this.#closed)
    queue.sending = false
    // What came meanwhile goes with what comes to the other partitions.
    if (queue.records.length > 0 && !this.#closed) this.#schedule()
  }

  /** `first`: the offset of the batch, where the broker says it. */
  #written(queue: Queue, first: number | undefined, count: number): void {
    if (first === undefined) return
    const { partition, next } = queue
    queue.next = first + count
    if (first < next) this.#on.lost({ partition, from: first, to: next })
  }

  #sent(count: number): void {
    this.#size -= count
    if (this.#full && this.#size < this.#options.maxRecords / 2) {
      this.#full = false
      for (const resolve of this.#room.splice(0)) resolve()
    }
  }
}

function tell(queue: Queue, written: number): void {
  const waiting = queue.waiting.map(({ records, resolve }) => ({ records: records - written, resolve }))
  queue.waiting = waiting.filter(({ records }) => records > 0)
  for (const { records, resolve } of waiting) if (records <= 0) resolve()
}

function resolvedBy(waiters: (() => void)[]): Promise<void> {
  return new Promise((resolve) => {
    waiters.push(resolve)
  })
}
