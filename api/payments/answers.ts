import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import type { LogReader, LogRecord, Writer } from '../../infra/kafka/seam.ts'
import type { PaymentAnswer } from '../../schemas/records.ts'

export const ANSWERS = 'payments.answers'
/** One hot wallet, one log of payments. */
const PARTITION = 0

/** How long an answer is kept, milliseconds. */
export const KEPT_MS = 24 * 3_600_000
/** Answers that one sweep lets go. */
const SWEPT_MAX = 5_000
/** While the partition has no leader it is asked again, so often. */
const TRIES_MAX = 5
const FETCH = { maxWaitMs: 50, maxBytesPerPartition: 1024 * 1024 }

export interface AnswersOptions {
  readonly codec: Pick<RegistryCodec, 'encode' | 'read'>
  readonly writer: Writer
  readonly reader: LogReader
  /** Host's clock, milliseconds. */
  readonly now: () => number
}

/** The answers that payments bought, as the log keeps them. */
export class Answers {
  readonly #index = new AnswerIndex()
  readonly #options: AnswersOptions
  /** Those that wait for a payment's first answer. */
  readonly #awaited = new Map<string, Set<(answer: PaymentAnswer) => void>>()

  constructor(options: AnswersOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#index.size
  }

  /** A record of `payments.answers`. A deletion that was missed does not matter: `find` looks at what is there. */
  async heard({ key, value, offset, time }: LogRecord): Promise<void> {
    const id = key?.toString() ?? ''
    if (value === null) return this.#index.remove(id)
    if (!this.#index.put(id, offset, time)) return
    const awaited = this.#awaited.get(id)
    if (awaited === undefined) return
    const message = await this.#options.codec.read(value)
    if (message.type === 'payment_answer') for (const resolve of awaited) resolve(message.value)
  }

  /** The first answer of a payment as far as the log was followed; undefined: there is none. */
  async find(id: string): Promise<PaymentAnswer | undefined> {
    const entry = this.#index.find(id)
    if (entry === undefined) return undefined
    return (await this.#read(id, entry.first)) ?? this.#read(id, entry.last)
  }

  /**
   * Writes an answer and gives the first one of its payment; `leave` it in the end. Compaction keeps the last: who finds
   * another instance's before its own writes that one again.
   */
  keep(answer: PaymentAnswer): { first: Promise<PaymentAnswer>; leave: () => void } {
    const { payment_id: id } = answer
    const { promise: heard, resolve } = Promise.withResolvers<PaymentAnswer>()
    const all = this.#awaited.get(id) ?? new Set()
    this.#awaited.set(id, all.add(resolve))
    const leave = (): void => {
      if (all.delete(resolve) && all.size === 0) this.#awaited.delete(id)
    }
    return { first: this.#keep(answer, heard), leave }
  }

  async #keep(answer: PaymentAnswer, heard: Promise<PaymentAnswer>): Promise<PaymentAnswer> {
    const known = await this.find(answer.payment_id)
    if (known !== undefined) return known
    await this.#write(answer)
    const first = await heard
    if (!first.body.equals(answer.body)) await this.#write(first)
    return first
  }

  /** Lets go what is older than a day. Every instance does so: a tombstone more is nothing. */
  async sweep(): Promise<void> {
    const time = this.#options.now()
    const old = this.#index.olderThan(time - KEPT_MS, SWEPT_MAX)
    const tombstones = old.map((id) => ({ key: id, value: null, time }))
    if (tombstones.length > 0) await this.#options.writer.send(ANSWERS, PARTITION, tombstones)
  }

  async #write(answer: PaymentAnswer): Promise<void> {
    const { codec, writer, now } = this.#options
    const value = codec.encode(ANSWERS, 'payment_answer', answer)
    await writer.send(ANSWERS, PARTITION, [{ key: answer.payment_id, value, time: now() }])
  }

  async #read(id: string, offset: number): Promise<PaymentAnswer | undefined> {
    const { reader, codec } = this.#options
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const [slice] = await reader.fetch([{ topic: ANSWERS, partition: PARTITION, offset }], FETCH)
      if (slice === undefined || slice.error === 'moved') continue
      const record = slice.records.find((each) => each.offset === offset)
      if (record?.value === undefined || record.value === null) return undefined
      const message = await codec.read(record.value)
      return message.type === 'payment_answer' && message.value.payment_id === id ? message.value : undefined
    }
    throw new Error('payments.answers cannot be read')
  }
}

/** Where the answers of payments lie in `payments.answers`. The first of a payment counts; the last is the same text. */
interface AnswerOffsets {
  readonly first: number
  readonly last: number
  /** Kafka record timestamp, milliseconds. */
  readonly time: number
}

/** Offsets only: the answers themselves stay in the log. */
class AnswerIndex {
  readonly #offsets = new Map<string, AnswerOffsets>()

  get size(): number {
    return this.#offsets.size
  }

  find(id: string): AnswerOffsets | undefined {
    return this.#offsets.get(id)
  }

  /** A record of the log; gives whether it is the payment's first. */
  put(id: string, offset: number, time: number): boolean {
    const known = this.#offsets.get(id)
    this.#offsets.set(id, known === undefined ? { first: offset, last: offset, time } : { ...known, last: offset })
    return known === undefined
  }

  remove(id: string): void {
    this.#offsets.delete(id)
  }

  /** Payments whose answers were kept before `time`, milliseconds; at most `count` of them. */
  olderThan(time: number, count: number): string[] {
    const old: string[] = []
    for (const [id, known] of this.#offsets) {
      if (known.time >= time || old.length === count) break
      old.push(id)
    }
    return old
  }
}
