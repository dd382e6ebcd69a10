import { readFileSync } from 'node:fs' // rule: purity - reads only the schema files beside it, once
import avro from 'avsc'
import type { Message, Records, RecordType } from './records.ts'
import { subjectOf, topics, type TopicName } from './topics.ts'
import { compileReader, type Read } from './reader.ts'
import { compileWriter, type RecordSchema, type Write } from './writer.ts'

/** Confluent wire format: one zero byte, the schema id as a big-endian 32-bit number, then the Avro body. */
export const HEADER_BYTES = 5
/** Grows when a record does not fit; most are under 300 bytes. */
const SCRATCH_BYTES = 64 * 1024

/** The .avsc text of a record type, as registered. */
export function schemaText(record: RecordType): string {
  return readFileSync(new URL(`records/${record}.avsc`, import.meta.url), 'utf8')
}

/** The same, read: its fields with their types and meanings. */
export function schemaOf(record: RecordType): RecordSchema {
  return JSON.parse(schemaText(record)) as RecordSchema
}

const compiled = new Map<RecordType, avro.Type>()

/** The compiled Avro type of a record type; compiled once per process. */
export function avroType(record: RecordType): avro.Type {
  let type = compiled.get(record)
  if (type === undefined) {
    type = avro.Type.forSchema(JSON.parse(schemaText(record)) as avro.Schema)
    compiled.set(record, type)
  }
  return type
}

/** The fields of a record that may be null or an empty list. */
type EmptyFields<Type extends RecordType> = {
  readonly [
    Field in keyof Records[Type] as null extends Records[Type][Field]
      ? Field
      : Records[Type][Field] extends readonly unknown[]
        ? Field
        : never
  ]: null extends Records[Type][Field] ? null : readonly []
}

const emptyFieldsOf = new Map<RecordType, object>()

/** A record's fields that may be null, and its lists, as null and empty: all others must be given beside them. */
export function emptyFields<Type extends RecordType>(record: Type): EmptyFields<Type> {
  let empty = emptyFieldsOf.get(record)
  if (empty === undefined) {
    const entries = schemaOf(record).fields.flatMap(({ name, type }): [string, null | readonly []][] => {
      if (typeof type === 'string') return []
      if ('length' in type) return [[name, null]]
      return type.type === 'array' ? [[name, []]] : []
    })
    empty = Object.fromEntries(entries)
    emptyFieldsOf.set(record, empty)
  }
  // What the schema lets be null or empty is what the generated type lets be so.
  return empty as EmptyFields<Type>
}

const writers = new Map<RecordType, Write>()

/**
 * Writes a record's Avro body into `bytes` from `at` on and gives where it ends: behind the bytes' end where they are too
 * few. Throws on a value that does not fit its schema: a programmer's error.
 */
export function writeBody({ type, value }: Message, bytes: Buffer, at: number): number {
  let write = writers.get(type)
  if (write === undefined) {
    write = compileWriter(schemaOf(type))
    writers.set(type, write)
  }
  return write(value, bytes, at)
}

const readers = new Map<RecordType, Read>()

/** Reads a record's Avro body that was written with our own schema. Compiled when the first of the type comes. */
export function readBody(record: RecordType, bytes: Buffer, at = 0): unknown {
  let read = readers.get(record)
  if (read === undefined) {
    read = compileReader(schemaOf(record))
    readers.set(record, read)
  }
  return read(bytes, at)
}

/** Reads what was written with another version of a type's schema. */
function resolving(type: avro.Type, writer: string): Read {
  const resolver = type.createResolver(avro.Type.forSchema(JSON.parse(writer) as avro.Schema))
  return (bytes, start) => {
    const { value, offset } = type.decode(bytes, start, resolver)
    if (offset < 0) throw new RangeError('a record ends behind its bytes')
    return value as unknown
  }
}

/** Why bytes could not be read. `unknown-schema` can be mended by asking the registry for the id. */
export class UndecodableError extends Error {
  readonly code: 'not-wire-format' | 'unknown-schema' | 'bad-body'
  readonly schemaId: number
  constructor(code: UndecodableError['code'], schemaId: number, cause?: unknown) {
    super(`cannot decode: ${code}, schema id ${schemaId}`, { cause })
    this.code = code
    this.schemaId = schemaId
  }
}

/** A schema id that the registry gave to a topic's record type, or an older version of it with its own text. */
export interface RegisteredSchema {
  readonly id: number
  readonly topic: TopicName
  readonly record: RecordType
  /** The writer's schema where it differs from ours. */
  readonly writer?: string
}

interface Reader {
  readonly record: RecordType
  readonly read: Read
  /** It was written with our own schema. */
  readonly isOwn: boolean
}

/**
 * Encodes and decodes the records of all topics.
 *
 * Types and resolvers are made once; a message costs one copy out of a shared scratch buffer and no registry call.
 */
export class Codec {
  readonly #ids = new Map<string, number>()
  readonly #readers = new Map<number, Reader>()
  #scratch = Buffer.allocUnsafe(SCRATCH_BYTES)

  constructor(schemas: readonly RegisteredSchema[]) {
    for (const schema of schemas) this.add(schema)
  }

  /** Makes a schema id readable; without `writer` it also becomes the id that is written. */
  add({ id, topic, record, writer }: RegisteredSchema): void {
    if (writer === undefined) this.#ids.set(subjectOf(topic, record), id)
    const read = writer === undefined ? readBody.bind(undefined, record) : resolving(avroType(record), writer)
    this.#readers.set(id, { record, read, isOwn: writer === undefined })
  }

  /** The bytes of one record for `topic`. Throws on a value that does not fit its schema: a programmer's error. */
  encode<Type extends RecordType>(topic: TopicName, type: Type, value: Records[Type]): Buffer {
    const id = this.#ids.get(subjectOf(topic, type))
    if (id === undefined) throw new Error(`${type} is not a registered record of ${topic}`)
    const end = writeBody({ type, value } as Message, this.#scratch, HEADER_BYTES)
    if (end > this.#scratch.length) {
      this.#scratch = Buffer.allocUnsafe(end + SCRATCH_BYTES)
      return this.encode(topic, type, value)
    }
    this.#scratch[0] = 0
    this.#scratch.writeInt32BE(id, 1)
    return Buffer.from(this.#scratch.subarray(0, end))
  }

  /** The record in `bytes`; throws `UndecodableError`. */
  decode(bytes: Buffer): Message {
    if (bytes.length < HEADER_BYTES || bytes[0] !== 0) throw new UndecodableError('not-wire-format', -1)
    const id = bytes.readInt32BE(1)
    const reader = this.#readers.get(id)
    if (reader === undefined) throw new UndecodableError('unknown-schema', id)
    try {
      // The reader compiled from a record's schema gives that record's shape.
      return { type: reader.record, value: reader.read(bytes, HEADER_BYTES) } as Message
    } catch (error) {
      throw new UndecodableError('bad-body', id, error)
    }
  }

  /** The Avro body of `bytes` where it was written with our own schema of its record type; else it must be decoded. */
  bodyOf(bytes: Buffer): { readonly record: RecordType; readonly body: Buffer } | undefined {
    const reader = bytes.length < HEADER_BYTES ? undefined : this.#readers.get(bytes.readInt32BE(1))
    if (reader === undefined || !reader.isOwn) return undefined
    return { record: reader.record, body: bytes.subarray(HEADER_BYTES) }
  }

  /** Whether records of a schema can be read. */
  knows(id: number): boolean {
    return this.#readers.has(id)
  }

  /** The record type of `bytes` without decoding the body, undefined where the id is not known. */
  typeOf(bytes: Buffer): RecordType | undefined {
    return bytes.length < HEADER_BYTES ? undefined : this.#readers.get(bytes.readInt32BE(1))?.record
  }
}

/** A codec whose ids are positions in the topic table: for tests and for files, where no registry is at hand. */
export function localCodec(): Codec {
  const subjects = topics.flatMap((topic) => topic.records.map((record) => ({ topic: topic.name, record })))
  return new Codec(subjects.map((subject, index) => ({ ...subject, id: index + 1 })))
}
