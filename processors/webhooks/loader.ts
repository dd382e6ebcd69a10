import type { LogReader } from '../../infra/kafka/seam.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import type { Message, Trigger } from '../../schemas/records.ts'
import type { Decoder } from '../kernel/decoder.ts'
import { keepNewest } from '../kernel/newest.ts'
import type { Clock } from '../kernel/ports.ts'

const TOPIC = 'alerts.triggers'
/** Triggers that are kept in memory; older ones are read again when they are needed. */
const KEPT_MAX = 10_000
/** Those that lie behind the wanted one come with it. */
const FETCH = { maxWaitMs: 100, maxBytesPerPartition: 64 * 1024 }
const RETRY_MS = 100
const TRIES_MAX = 300

/** Triggers by their place in the log. One reading at a time, with a reader of its own. */
export class Loader {
  readonly #reader: LogReader
  readonly #decoder: Decoder
  readonly #clock: Clock
  readonly #kept = new Map<string, Trigger>()
  #queue: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor({ reader, decoder, clock }: { reader: LogReader; decoder: Decoder; clock: Clock }) {
    this.#reader = reader
    this.#decoder = decoder
    this.#clock = clock
  }

  /** A trigger that was just read. */
  keep(partition: number, offset: number, trigger: Trigger): void {
    this.#kept.set(`${partition} ${offset}`, trigger)
    keepNewest(this.#kept, KEPT_MAX)
  }

  /** The trigger `id` at that place; undefined: it is not there. Rejects where the log cannot be read for long. */
  load(partition: number, offset: number, id: string): Promise<Trigger | undefined> {
    const known = this.#known(partition, offset, id)
    if (known !== undefined) return Promise.resolve(known)
    const loading = this.#queue.then(() => this.#known(partition, offset, id) ?? this.#read(partition, offset, id))
    this.#queue = loading.catch(() => undefined) // whoever asked for it is told
    return loading
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#reader.close()
  }

  /** Where the log lost its tail, another one may have lain there. */
  #known(partition: number, offset: number, id: string): Trigger | undefined {
    const trigger = this.#kept.get(`${partition} ${offset}`)
    return trigger?.trigger_id === id ? trigger : undefined
  }

  async #read(partition: number, offset: number, id: string): Promise<Trigger | undefined> {
    for (let tries = 0; tries < TRIES_MAX && !this.#isClosed; tries++) {
      const [slice] = await this.#reader.fetch([{ topic: TOPIC, partition, offset }], FETCH)
      if (slice === undefined || slice.error === 'moved') {
        await this.#clock.delay(RETRY_MS)
        continue
      }
      for (const record of slice.records) {
        const message = record.value === null ? undefined : await this.#decode(record.value)
        if (message?.type === 'trigger') this.keep(partition, record.offset, message.value)
      }
      return this.#known(partition, offset, id)
    }
    throw new Error(`trigger ${offset} of partition ${partition} of ${TOPIC} could not be read`)
  }

  /** One that cannot be read is told of where it is taken in; here it must not hide those that came with it. */
  async #decode(value: Buffer): Promise<Message | undefined> {
    try {
      return await this.#decoder.decodeOrAsk(value)
    } catch (error) {
      if (error instanceof UndecodableError) return undefined
      throw error
    }
  }
}
