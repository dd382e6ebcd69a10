import { UndecodableError, type Codec } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'

/** Registry ids asked for and not found are remembered up to this many; then the memory starts anew. */
const UNKNOWN_IDS_MAX = 1_000

/** Decodes records; an unknown schema id is looked up once. One per process. */
export class Decoder {
  readonly #codec: Codec
  readonly #lookUp: (id: number) => Promise<boolean>
  readonly #unknown = new Set<number>()

  constructor(codec: Codec, lookUp: (id: number) => Promise<boolean>) {
    this.#codec = codec
    this.#lookUp = lookUp
  }

  /** The record; undefined where its schema id is to be looked up first; throws `UndecodableError`. */
  decode(value: Buffer): Message | undefined {
    try {
      return this.#codec.decode(value)
    } catch (error) {
      if (!(error instanceof UndecodableError)) throw new UndecodableError('bad-body', schemaIdOf(value), error)
      if (error.code !== 'unknown-schema' || this.#unknown.has(error.schemaId)) throw error
      return undefined
    }
  }

  /** As `decode`, with the look-up. Rejects with another error when the registry cannot be asked. */
  async decodeOrAsk(value: Buffer): Promise<Message> {
    const message = this.decode(value)
    if (message !== undefined) return message
    const id = schemaIdOf(value)
    if (!(await this.#lookUp(id))) this.#remember(id)
    return this.#codec.decode(value)
  }

  #remember(id: number): void {
    if (this.#unknown.size >= UNKNOWN_IDS_MAX) this.#unknown.clear()
    this.#unknown.add(id)
  }
}

function schemaIdOf(value: Buffer): number {
  return value.length < 5 ? -1 : value.readInt32BE(1)
}
