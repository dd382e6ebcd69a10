import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'

/** The record in `bytes`; a schema id that we do not know is asked of the registry once. Throws `UndecodableError`. */
export async function decode(codec: RegistryCodec, bytes: Buffer): Promise<Message> {
  try {
    return codec.decode(bytes)
  } catch (error) {
    if (!(error instanceof UndecodableError) || error.code !== 'unknown-schema') throw error
    if (!(await codec.lookUp(error.schemaId))) throw error
    return codec.decode(bytes)
  }
}
