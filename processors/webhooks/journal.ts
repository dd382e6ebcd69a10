import type { OutRecord, Writer } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Grounds, LostOutput } from '../kernel/grounds.ts'
import type { Clock } from '../kernel/ports.ts'
import { POSITION, Said } from './delivery.ts'

/** A batch stays far below what the broker takes at once. */
const RECORDS_PER_SEND = 1_000

export interface JournalOptions {
  readonly partition: number
  readonly claim: Writer
  readonly codec: Codec
  readonly clock: Clock
  readonly grounds: Grounds
  /** Records of a topic that the log has acknowledged. */
  readonly onWritten: (topic: TopicName, records: number) => void
  /** Called once, when the log refused or did not answer for long: nothing more is written. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Writes what a partition's deliveries say: the attempts first, then what is pending, the position last. So a position in
 * the log never stands behind anything that is not. One writing at a time; what is said meanwhile goes with the next.
 */
export class Journal {
  readonly #options: JournalOptions
  #said = new Said()
  /** Of the writing that is under way. */
  #writing = 0
  #isFailed = false
  #written: Promise<void> = Promise.resolve()

  constructor(options: JournalOptions) {
    this.#options = options
  }

  /** Where things are said; `write` follows in the same turn. */
  get said(): Said {
    return this.#said
  }

  /** Records that the log has not acknowledged. */
  get unwritten(): number {
    return this.#said.size + this.#writing
  }

  write(): void {
    if (this.#writing > 0 || this.#isFailed || this.#said.size === 0) return
    this.#written = this.#drain()
  }

  /** Resolves when all that was said is in the log, or writing has failed. */
  async flushed(): Promise<void> {
    this.write()
    await this.#written
  }

  async #drain(): Promise<void> {
    try {
      while (this.#said.size > 0) {
        const said = this.#said
        this.#said = new Said()
        this.#writing = said.size
        await this.#send(said)
        this.#writing = 0
      }
    } catch (error) {
      this.#isFailed = true
      this.#options.onFailed(error)
    }
  }

  async #send(said: Said): Promise<void> {
    const { codec, clock, grounds, partition } = this.#options
    const time = clock.now()
    await this.#append(
      'webhooks.attempts',
      said.attempts.map((attempt) => ({
        key: attempt.trigger_id,
        value: codec.encode('webhooks.attempts', 'attempt', attempt),
        time,
      })),
    )
    const written = grounds.saved('webhooks.attempts', partition)
    const pending = [...said.pending].map(([key, value]) => {
      const whole = value !== null && key === POSITION ? { ...value, stood: { ...value.stood, ...written } } : value
      return { key, value: whole === null ? null : codec.encode('webhooks.pending', 'pending', whole), time }
    })
    await this.#append('webhooks.pending', pending)
  }

  async #append(topic: TopicName, records: readonly OutRecord[]): Promise<void> {
    const { claim, partition, onWritten, grounds } = this.#options
    for (let at = 0; at < records.length; at += RECORDS_PER_SEND) {
      const batch = records.slice(at, at + RECORDS_PER_SEND)
      grounds.wrote(topic, partition, await claim.send(topic, partition, batch), batch)
      for (const lost of grounds.takeOverwritten()) await tellLost(grounds, lost)
      onWritten(topic, batch.length)
    }
  }
}

/** Of the attempts it is told; without what was pending nobody knows what is left to do, so it is read anew. */
export async function tellLost(grounds: Grounds, lost: LostOutput): Promise<void> {
  await grounds.tellOutput(lost)
  if (lost.topic === 'webhooks.pending') throw new Error('webhooks.pending has lost its tail')
}
