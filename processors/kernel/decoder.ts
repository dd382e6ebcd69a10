import { UndecodableError, type Codec } from '../../schemas/codec.ts'
import type { Message, RecordType } from '../../schemas/records.ts'

/** Decodes records; an unknown schema id is looked up, which waits for it and remembers what is not there. */
export class Decoder {
  readonly #codec: Codec
  readonly #lookUp: (id: number) => Promise<boolean>

  constructor(codec: Codec, lookUp: (id: number) => Promise<boolean>) {
    this.#codec = codec
    this.#lookUp = lookUp
  }

  /** Whether it is a record of none of these types; `undefined`: all are wanted. */
  skips(value: Buffer, wanted: readonly RecordType[] | undefined): boolean {
    const type = wanted === undefined ? undefined : this.#codec.typeOf(value)
    return type !== undefined && wanted?.includes(type) === false
  }

  /** The record; undefined where its schema id is to be looked up first; throws `UndecodableError`. */
  decode(value: Buffer): Message | undefined {
    try {
      return this.read(value)
    } catch (error) {
      if (error instanceof UndecodableError && error.code === 'unknown-schema') return undefined
      throw error
    }
  }

  /** As `decode`, with the look-up. Rejects with another error when the registry cannot be asked. */
  async decodeOrAsk(value: Buffer): Promise<Message> {
    const message = this.decode(value)
    if (message !== undefined) return message
    await this.#lookUp(value.readInt32BE(1))
    return this.read(value)
  }

  /** The record as far as its schema id is known by now; throws `UndecodableError`. */
  read(value: Buffer): Message {
    try {
      return this.#codec.decode(value)
    } catch (error) {
      if (error instanceof UndecodableError) throw error
      throw new UndecodableError('bad-body', value.length < 5 ? -1 : value.readInt32BE(1), error)
    }
  }
}
