import { setTimeout as delay } from 'node:timers/promises'
import { hostMoment, Lease, type Moment } from '../../infra/kafka/lease.ts'
import type { LogReader, LogRecord, Slice } from '../../infra/kafka/seam.ts'
import { FOLLOWED_WITHIN_MS } from '../../infra/kafka/topic-settings.ts'
import type { Logger } from '../../infra/log.ts'
import type { TopicName } from '../../schemas/topics.ts'

const FETCH = { maxWaitMs: 500, maxBytesPerPartition: 1024 * 1024 }
/** After a fetch that failed beyond what the reader mends by itself, milliseconds. */
const PAUSE_MS = 1_000

export interface TailOptions {
  readonly topic: TopicName
  readonly partitions: number
  /** A reader of its own: its fetches wait long. */
  readonly reader: LogReader
  readonly log: Logger
  /** Least time between two fetches, milliseconds (default 0: as soon as there is something). Fewer are cheaper. */
  readonly everyMs?: number
  readonly take: (record: LogRecord, partition: number) => Promise<void> | void
  /**
   * For a topic whose keys are deleted by tombstones, which go in time: called when some may have been missed, because
   * its end was not seen for too long. What was told is void; everything is told again from the topic's start.
   */
  readonly onMissed?: () => void
  /** The host's clocks. */
  readonly moment?: () => Moment
}

interface Waiting {
  readonly ends: ReadonlyMap<number, number>
  readonly done: () => void
}

/** Follows all partitions of a topic and tells each record once, in the order of its partition. */
export class Tail {
  readonly #options: TailOptions
  readonly #positions = new Map<number, number>()
  /** By partition: since its end was last seen. */
  readonly #followed = new Map<number, Lease>()
  readonly #waiting = new Set<Waiting>()
  readonly #moment: () => Moment
  #closed = false
  #running: Promise<void> = Promise.resolve()

  constructor(options: TailOptions) {
    this.#options = options
    this.#moment = options.moment ?? hostMoment
  }

  /** Starts at the first record, behind the last one, or at a time (milliseconds); resolves when it follows. */
  async start(at: Parameters<LogReader['offsets']>[2]): Promise<void> {
    const { reader, topic, partitions } = this.#options
    this.startFrom(await reader.offsets(topic, [...Array(partitions).keys()], at))
  }

  /** Starts at these offsets. */
  startFrom(offsets: ReadonlyMap<number, number>): void {
    this.#begin(offsets)
    this.#running = this.#run()
  }

  #begin(offsets: ReadonlyMap<number, number>): void {
    const moment = this.#moment()
    for (const [partition, offset] of offsets) {
      this.#positions.set(partition, offset)
      this.#followed.set(partition, new Lease(FOLLOWED_WITHIN_MS, moment, this.#moment))
    }
  }

  /** Resolves when every record before `ends` was told. `Catching` waits once at a time, whatever its callers do. */
  reach(ends: ReadonlyMap<number, number>): Promise<void> {
    if (this.#has(ends)) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.add({ ends, done: resolve }))
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#options.reader.close()
    await this.#running
  }

  async #run(): Promise<void> {
    const { reader, topic, log, everyMs = 0 } = this.#options
    while (!this.#closed) {
      const next = performance.now() + everyMs
      const from = [...this.#positions].map(([partition, offset]) => ({ topic, partition, offset }))
      try {
        const asked = this.#moment()
        const slices = await reader.fetch(from, FETCH)
        if (this.#hasMissed()) await this.#beginAnew()
        else for (const slice of slices) await this.#take(slice, asked)
      } catch (error) {
        if (this.#closed) return
        log.warn({ err: error, topic }, 'a topic cannot be followed just now')
        await delay(PAUSE_MS)
      }
      this.#tellReached()
      const early = next - performance.now()
      if (early > 0) await delay(early)
    }
  }

  #hasMissed(): boolean {
    return this.#options.onMissed !== undefined && [...this.#followed.values()].some(({ holds }) => !holds)
  }

  async #beginAnew(): Promise<void> {
    const { reader, topic, log, onMissed } = this.#options
    const starts = await reader.offsets(topic, [...this.#positions.keys()], 'start')
    log.warn(
      { topic },
      'a topic was not followed for long: keys may have been deleted meanwhile; reading all of it again',
    )
    onMissed?.()
    this.#begin(starts)
  }

  async #take({ partition, records, next, start, end, error }: Slice, asked: Moment): Promise<void> {
    if (error === 'moved') return
    for (const record of records) {
      await this.#options.take(record, partition)
      this.#positions.set(partition, record.offset + 1)
    }
    this.#positions.set(partition, error === 'out-of-range' ? start : next)
    if (error === undefined && next >= end) this.#followed.get(partition)?.renewed(asked)
  }

  #tellReached(): void {
    for (const waiting of this.#waiting) {
      if (!this.#has(waiting.ends)) continue
      this.#waiting.delete(waiting)
      waiting.done()
    }
  }

  #has(ends: ReadonlyMap<number, number>): boolean {
    return [...ends].every(([partition, end]) => (this.#positions.get(partition) ?? 0) >= end)
  }
}
