import { LogError, type OutRecord, type Writer } from '../../infra/kafka/seam.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { hostNow } from './clock-socket.ts'

/** Records of one send; more in one batch cost the client time that grows faster than their number. */
const maxBatchRecords = 2_000

export interface LogBufferOptions {
  readonly topic: TopicName
  readonly partitions: number
  /** How long a first record waits for company, milliseconds. */
  readonly lingerMs: number
  /** Least time between two rounds of sends, milliseconds: what comes sooner after one waits, and goes together. */
  readonly everyMs: number
  /** Records held while the broker is away. Beyond it `full` is true: the sockets are not read until there is room. */
  readonly maxRecords: number
  /** First and longest pause after a failed send, milliseconds. */
  readonly retryMs: number
  readonly maxRetryMs: number
  /** How long one batch is tried; then the process gives up, and a later one repairs from the log's tail. */
  readonly giveUpMs: number
}

export const logBufferDefaults = {
  lingerMs: 1,
  everyMs: 10,
  maxRecords: 200_000,
  retryMs: 100,
  maxRetryMs: 1_000,
  giveUpMs: 1_800_000,
} as const

interface Lane {
  readonly partition: number
  queue: OutRecord[]
  sending: boolean
  failures: number
}

/**
 * Writes records to the partitions of one topic, each partition in the order of the calls, and holds what the broker
 * cannot take. A batch that failed is sent again as it was; what was written after all is a duplicate that readers drop.
 */
export class LogBuffer {
  readonly #writer: Writer
  readonly #options: LogBufferOptions
  readonly #lanes: readonly Lane[]
  readonly #onRoom: () => void
  readonly #onError: (error: unknown, fatal: boolean) => void
  #size = 0
  #full = false
  #closed = false
  #timer: NodeJS.Timeout | undefined
  #flushed = -Infinity
  readonly #idle: (() => void)[] = []

  constructor(
    writer: Writer,
    options: LogBufferOptions,
    on: { room: () => void; error: (error: unknown, fatal: boolean) => void },
  ) {
    this.#writer = writer
    this.#options = options
    this.#onRoom = on.room
    this.#onError = on.error
    this.#lanes = Array.from({ length: options.partitions }, (_, partition) => ({
      partition,
      queue: [],
      sending: false,
      failures: 0,
    }))
  }

  /** Records that the broker does not have yet. */
  get size(): number {
    return this.#size
  }

  /** No more should be appended until `room` is called. What comes nevertheless is taken: it was read already. */
  get full(): boolean {
    return this.#full
  }

  append(partition: number, record: OutRecord): void {
    const lane = this.#lanes[partition]
    if (lane === undefined) throw new Error(`partition ${partition} of ${this.#options.topic} does not exist`)
    lane.queue.push(record)
    this.#size++
    if (this.#size >= this.#options.maxRecords) this.#full = true
    this.#schedule()
  }

  /** Resolves when the broker has everything that was appended before. */
  async drained(): Promise<void> {
    if (this.#size === 0) return
    this.#flush()
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve)
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
    for (const lane of this.#lanes) if (!lane.sending && lane.queue.length > 0) void this.#drain(lane)
  }

  async #drain(lane: Lane): Promise<void> {
    lane.sending = true
    do {
      const batch = lane.queue.slice(0, maxBatchRecords)
      await this.#send(lane, batch)
      lane.queue = lane.queue.slice(batch.length)
      this.#sent(batch.length)
    } while (lane.queue.length >= maxBatchRecords && !this.#closed)
    lane.sending = false
    // What came meanwhile goes with what comes to the other lanes.
    if (lane.queue.length > 0 && !this.#closed) this.#schedule()
  }

  async #send(lane: Lane, batch: readonly OutRecord[]): Promise<void> {
    const since = hostNow()
    for (;;) {
      try {
        await this.#writer.send(this.#options.topic, lane.partition, batch)
        lane.failures = 0
        return
      } catch (error) {
        const hopeless = error instanceof LogError && !error.retriable
        const fatal = hopeless || hostNow() - since > this.#options.giveUpMs
        this.#onError(error, fatal)
        if (fatal || this.#closed) return
        await pause(Math.min(this.#options.maxRetryMs, this.#options.retryMs * 2 ** lane.failures++))
      }
    }
  }

  #sent(count: number): void {
    this.#size -= count
    if (this.#full && this.#size < this.#options.maxRecords / 2) {
      this.#full = false
      this.#onRoom()
    }
    if (this.#size === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
