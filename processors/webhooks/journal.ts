import type { OutRecord } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Pending, Stood } from '../../schemas/records.ts'
import type { Clock } from '../kernel/ports.ts'
import { POSITION, UnwrittenRecords } from './delivery.ts'
import { ATTEMPTS, PENDING } from './recall.ts'

/** A batch stays far below what the broker takes at once. */
const RECORDS_PER_SEND = 1_000

export interface JournalOptions {
  readonly codec: Codec
  readonly clock: Clock
  /** The last attempt in the log, as a position keeps it. */
  readonly attempted: () => Readonly<Record<string, Stood>>
  /** Writes a batch of one topic. */
  readonly send: (topic: typeof ATTEMPTS | typeof PENDING, records: readonly OutRecord[]) => Promise<void>
  /** Called once, when the log refused or did not answer for long: nothing more is written. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Writes what a partition's deliveries say: the attempts first, then what is pending, the position last. So a position in
 * the log never stands behind anything that is not. One writing at a time; what is said meanwhile goes with the next.
 */
export class Journal {
  readonly #options: JournalOptions
  #batch = new UnwrittenRecords()
  /** Of the writing that is under way. */
  #writing = 0
  #isFailed = false
  #written: Promise<void> = Promise.resolve()

  constructor(options: JournalOptions) {
    this.#options = options
  }

  /** What is written next; `write` follows in the same turn. */
  get batch(): UnwrittenRecords {
    return this.#batch
  }

  /** Records that the log has not acknowledged. */
  get unwritten(): number {
    return this.#batch.size + this.#writing
  }

  write(): void {
    if (this.#writing > 0 || this.#isFailed || this.#batch.size === 0) return
    this.#written = this.#drain()
  }

  /** Resolves when all that was said is in the log, or writing has failed. */
  async flushed(): Promise<void> {
    this.write()
    await this.#written
  }

  async #drain(): Promise<void> {
    try {
      while (this.#batch.size > 0) {
        const batch = this.#batch
        this.#batch = new UnwrittenRecords()
        this.#writing = batch.size
        await this.#send(batch)
        this.#writing = 0
      }
    } catch (error) {
      this.#isFailed = true
      this.#options.onFailed(error)
    }
  }

  async #send(batch: UnwrittenRecords): Promise<void> {
    const { codec, clock, attempted } = this.#options
    const time = clock.now()
    await this.#append(
      ATTEMPTS,
      batch.attempts.map((attempt) => ({
        key: attempt.trigger_id,
        value: codec.encode(ATTEMPTS, 'attempt', attempt),
        time,
      })),
    )
    const written = attempted()
    const pending = positionLast(batch.pending).map(([key, value]) => {
      const whole = value !== null && key === POSITION ? { ...value, stood: { ...value.stood, ...written } } : value
      return { key, value: whole === null ? null : codec.encode(PENDING, 'pending', whole), time }
    })
    await this.#append(PENDING, pending)
  }

  async #append(topic: typeof ATTEMPTS | typeof PENDING, records: readonly OutRecord[]): Promise<void> {
    for (let at = 0; at < records.length; at += RECORDS_PER_SEND)
      await this.#options.send(topic, records.slice(at, at + RECORDS_PER_SEND))
  }
}

/** What was put after the position may be of a trigger before it, as a retry is. */
function positionLast(pending: UnwrittenRecords['pending']): [string, Pending | null][] {
  return [...pending].toSorted(([a], [b]) => Number(a === POSITION) - Number(b === POSITION))
}
