import type { LogRecord, Writer } from '../../../infra/kafka/seam.ts'
import { UndecodableError } from '../../../schemas/codec.ts'
import type { Message } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import { DeadLetters, type LetterPorts } from '../../kernel/dead-letters.ts'
import { Decoder } from '../../kernel/decoder.ts'
import type { Ports } from '../../kernel/ports.ts'

/** Who sets records aside, and the partition of its letters: a feed process has none of its own. */
const OWNER = 'feeds'
const PARTITION = 0

/** What reading back needs of the world. */
export interface ReadbackPorts extends LetterPorts, Pick<Ports, 'lookUp'> {
  readonly writer: Writer
}

/** A record and what it says; null: a tombstone. */
interface Read {
  readonly record: LogRecord
  readonly message: Message | null
}

/**
 * Decodes what a feed process reads back of one topic. A record that cannot be decoded is set aside, with its place and
 * why, before the reader is behind it; the others are given. Calls must not overlap.
 */
export class Readback {
  readonly #topic: TopicName
  readonly #writer: Writer
  readonly #decoder: Decoder
  readonly #dead: DeadLetters

  constructor(topic: TopicName, ports: ReadbackPorts) {
    this.#topic = topic
    this.#writer = ports.writer
    this.#decoder = new Decoder(ports.codec, (id) => ports.lookUp(id))
    this.#dead = new DeadLetters(OWNER, PARTITION, ports)
  }

  /** Rejects where the registry does not answer, or the log does not take a letter: to be tried again. */
  async read(records: readonly LogRecord[]): Promise<Read[]> {
    const read: Read[] = []
    for (const record of records) {
      const known = this.#known(record)
      const message = known === undefined ? await this.#dead.read(this.#decoder, this.#topic, record) : known
      if (message !== undefined) read.push({ record, message })
    }
    await this.#dead.write(this.#writer)
    return read
  }

  /** Without a wait, which an hour of trades could not afford one by one; undefined: it takes one. */
  #known({ value }: LogRecord): Message | null | undefined {
    if (value === null) return null
    try {
      return this.#decoder.decode(value)
    } catch (error) {
      if (error instanceof UndecodableError) return undefined
      throw error
    }
  }
}
