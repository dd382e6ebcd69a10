import avro from 'avsc'
import { localCodec, schemaOf, schemaText, type Codec } from '../../schemas/codec.ts'
import type { RecordType } from '../../schemas/records.ts'
import { subjectOf, topicOf, topics, type TopicName } from '../../schemas/topics.ts'

/** Bytes of a schema id in the wire format. */
const WIRE_HEADER_BYTES = 5

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/**
 * The schema of a topic's Avro file: each record of the log with its key, offset and time, and its value as one of the
 * topic's record types. `size` are the bytes of the value's own encoding, so that a reader can pass it without decoding.
 */
export function envelopeSchema(topic: TopicName): Json {
  const seen = new Set<string>()
  const values = topicOf(topic).records.map((record) => once(JSON.parse(schemaText(record)) as Json, '', seen))
  return {
    type: 'record',
    name: 'Entry',
    namespace: 'tape',
    doc: `One record of ${topic}`,
    fields: [
      { name: 'key', type: ['null', 'bytes'], doc: 'Kafka key' },
      { name: 'offset', type: 'long', doc: 'Kafka offset in the partition' },
      { name: 'time', type: 'long', doc: 'Kafka record time, milliseconds since the Unix epoch' },
      { name: 'size', type: 'int', doc: 'Bytes of the encoded value; 0: none' },
      { name: 'value', type: ['null', ...values], doc: 'The record; null: a tombstone' },
    ],
  }
}

/** A name may be defined once in a schema; later uses say the name alone. */
function once(schema: Json, space: string, seen: Set<string>): Json {
  if (Array.isArray(schema)) return schema.map((part: Json) => once(part, space, seen))
  if (!isObject(schema)) return schema
  const { name, namespace } = schema
  const own = typeof namespace === 'string' ? namespace : space
  if ((schema['type'] === 'enum' || schema['type'] === 'record') && typeof name === 'string') {
    const full = `${own}.${name}`
    if (seen.has(full)) return full
    seen.add(full)
  }
  return Object.fromEntries(
    Object.entries(schema).map(([field, value]) => {
      const isSchema = field === 'type' || field === 'items' || field === 'values'
      if (field === 'fields' && Array.isArray(value)) return [field, value.map((part: Json) => once(part, own, seen))]
      return [field, isSchema ? once(value, own, seen) : value]
    }),
  )
}

function isObject(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The schema ids that a codec knows for the branches of a file's value, by branch; adds those that it does not know. */
export function branchIds(schema: string, topic: TopicName, codec: FileCodec): number[] {
  const own = schema === JSON.stringify(envelopeSchema(topic))
  if (own) return [-1, ...topicOf(topic).records.map((record) => codec.idOf(topic, record))]
  const envelope = avro.Type.forSchema(JSON.parse(schema) as avro.Schema) as avro.types.RecordType
  const value = envelope.field('value')?.type as avro.types.UnwrappedUnionType | avro.types.WrappedUnionType
  return value.types.map((type) => {
    const record = topicOf(topic).records.find((candidate) => recordName(candidate) === type.name)
    return record === undefined ? -1 : codec.learn(topic, record, JSON.stringify(type.schema({ exportAttrs: true })))
  })
}

function recordName(record: RecordType): string {
  const { name, namespace } = schemaOf(record)
  return namespace === undefined ? name : `${namespace}.${name}`
}

/** A codec that gives ids of its own to schemas that files bring. */
export interface FileCodec {
  readonly codec: Codec
  idOf(topic: TopicName, record: RecordType): number
  /** The id of an older or newer version of a record's schema. */
  learn(topic: TopicName, record: RecordType, writer: string): number
}

/** A file codec over the ids of `localCodec`. */
export function fileCodec(): FileCodec {
  const codec = localCodec()
  const names = topics.flatMap(({ name, records }) => records.map((record) => subjectOf(name, record)))
  const subjects = new Map(names.map((subject, index) => [subject, index + 1]))
  const learned = new Map<string, number>()
  return {
    codec,
    idOf: (topic, record) => subjects.get(subjectOf(topic, record)) ?? -1,
    learn: (topic, record, writer) => {
      const name = `${topic}-${record} ${writer}`
      const known = learned.get(name)
      if (known !== undefined) return known
      const id = subjects.size + learned.size + 1
      learned.set(name, id)
      codec.add({ id, topic, record, writer })
      return id
    },
  }
}

/** Appends values as Avro does, in a buffer that grows. */
export class EntryWriter {
  #buffer = Buffer.allocUnsafe(1 << 20)
  #at = 0
  count = 0

  get bytes(): number {
    return this.#at
  }

  /** One record of the log; `branch`: 0 for none, else 1 + the record type's place in the topic's list. */
  add(key: Buffer | null, offset: number, time: number, branch: number, body: Buffer | undefined): void {
    const size = body?.length ?? 0
    this.#room((key?.length ?? 0) + size + 60)
    if (key === null) this.#varint(0)
    else {
      this.#varint(1)
      this.#varint(key.length)
      this.#at += key.copy(this.#buffer, this.#at)
    }
    this.#varint(offset)
    this.#varint(time)
    this.#varint(size)
    this.#varint(branch)
    if (body !== undefined) this.#at += body.copy(this.#buffer, this.#at)
    this.count += 1
  }

  /** What was added since the last call. */
  take(): { readonly count: number; readonly data: Buffer } {
    const taken = { count: this.count, data: Buffer.from(this.#buffer.subarray(0, this.#at)) }
    this.#at = 0
    this.count = 0
    return taken
  }

  #varint(value: number): void {
    this.#at = writeVarint(this.#buffer, this.#at, value)
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }
}

/** A long as Avro writes it: zigzag, seven bits a byte, the low ones first. Gives where the next begins. */
export function writeVarint(buffer: Buffer, at: number, value: number): number {
  let rest = value >= 0 ? value * 2 : -value * 2 - 1
  while (rest >= 128) {
    buffer[at++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  buffer[at++] = rest
  return at
}

/** Reads values as Avro writes them, in order. Throws a `RangeError` where the bytes are none. */
export class AvroReader {
  protected readonly data: Buffer
  protected at = 0

  constructor(data: Buffer) {
    this.data = data
  }

  get isAtEnd(): boolean {
    return this.at >= this.data.length
  }

  take(size: number): Buffer {
    const end = this.at + size
    if (size < 0 || end > this.data.length) throw new RangeError('it ends in the middle of a value')
    const taken = this.data.subarray(this.at, end)
    this.at = end
    return taken
  }

  varint(): number {
    let value = 0
    let scale = 1
    for (;;) {
      const byte = this.data[this.at++]
      if (byte === undefined) throw new RangeError('it ends in the middle of a number')
      value += (byte & 127) * scale
      if (byte < 128) break
      scale *= 128
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
}

/** Reads the entries of a block of a file, in order. */
export class EntryReader extends AvroReader {
  readonly #ids: readonly number[]
  key: Buffer | null = null
  offset = 0
  time = 0
  value: Buffer | null = null

  constructor(data: Buffer, ids: readonly number[]) {
    super(data)
    this.#ids = ids
  }

  /** Moves on to the next; false at the end. Throws a `RangeError` where the bytes are none. */
  next(): boolean {
    if (this.isAtEnd) return false
    this.key = this.varint() === 0 ? null : this.take(this.varint())
    this.offset = this.varint()
    this.time = this.varint()
    const size = this.varint()
    const branch = this.varint()
    this.value = branch === 0 ? null : this.#wire(size, this.#ids[branch] ?? -1)
    return true
  }

  /**
   * The value in the wire format without copying it: the schema id is written over the fields before it, which have been
   * read and have at least as many bytes (a time has six).
   */
  #wire(size: number, id: number): Buffer {
    const start = this.at - WIRE_HEADER_BYTES
    this.take(size)
    this.data[start] = 0
    this.data.writeInt32BE(id, start + 1)
    return this.data.subarray(start, this.at)
  }
}
