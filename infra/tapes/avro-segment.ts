import { createHash } from 'node:crypto'
import type { Codec } from '../../schemas/codec.ts'
import { avroType } from '../../schemas/codec.ts'
import type { RecordType } from '../../schemas/records.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { decodeContainer, encodeBlock, encodeHeader } from './container.ts'
import { branchIds, EntryReader, EntryWriter, envelopeSchema, type FileCodec } from './envelope.ts'
import { TapeError } from './tape.ts'

/**
 * Records that are made at a time: as many as an import sends at once, and so few that most are done with before the
 * engine copies what it takes for lasting.
 */
const BATCH_RECORDS = 2_000
/** Unpacked; large enough to pack well. */
const BLOCK_BYTES = 512 * 1024
const SYNC_BYTES = 16

/** A segment's records as an Avro file. Records whose schema is not ours are decoded and written with ours. */
export function encodeSegment(codec: Codec, topic: TopicName, name: string, records: readonly LogRecord[]): Buffer {
  const schema = JSON.stringify(envelopeSchema(topic))
  // The same records make the same bytes, so that two exports can be compared by their checksums.
  const sync = createHash('sha256').update(`${name} ${schema}`).digest().subarray(0, SYNC_BYTES)
  const header = { schema, sync }
  const parts = [encodeHeader(header)]
  const writer = new EntryWriter()
  const drain = (): void => {
    const { count, data } = writer.take()
    if (count > 0) parts.push(encodeBlock(header, count, data))
  }
  for (const { key, offset, time, value } of records) {
    const { branch, body } = valueOf(codec, topic, value)
    writer.add(key, offset, time, branch, body)
    if (writer.bytes >= BLOCK_BYTES) drain()
  }
  drain()
  return Buffer.concat(parts)
}

function valueOf(codec: Codec, topic: TopicName, value: Buffer | null): { branch: number; body: Buffer | undefined } {
  if (value === null) return { branch: 0, body: undefined }
  const plain = codec.bodyOf(value)
  if (plain !== undefined) return { branch: branchOf(topic, plain.record), body: plain.body }
  const { type, value: record } = codec.decode(value)
  return { branch: branchOf(topic, type), body: avroType(type).toBuffer(record) }
}

function branchOf(topic: TopicName, record: RecordType): number {
  const index = topicOf(topic).records.indexOf(record)
  if (index < 0) throw new TapeError('corrupt', `${topic} holds a ${record}, which is none of its record types`)
  return index + 1
}

/**
 * The records of an Avro file, some at a time. Values are in the wire format, for `files.codec`. Throws `TapeError`
 * `corrupt` where it comes to what it cannot read.
 */
export function* decodeSegment(
  files: FileCodec,
  topic: TopicName,
  name: string,
  content: Buffer,
): Generator<readonly LogRecord[]> {
  const { header, blocks } = decodeContainer(name, content)
  const ids = branchIds(header.schema, topic, files)
  for (const { count, data } of blocks) {
    const entry = new EntryReader(data, ids)
    let read = 0
    for (let records = take(entry, name); records.length > 0; records = take(entry, name)) {
      read += records.length
      yield records
    }
    if (read !== count) throw new TapeError('corrupt', `${name} is damaged: a block has not all its records`)
  }
}

/** The next records of a block; none at its end. */
function take(entry: EntryReader, name: string): LogRecord[] {
  const records: LogRecord[] = []
  try {
    while (records.length < BATCH_RECORDS && entry.next()) {
      records.push({ offset: entry.offset, time: entry.time, key: entry.key, value: entry.value })
    }
  } catch (error) {
    throw new TapeError('corrupt', `${name} is damaged: a record of it cannot be read`, { cause: error })
  }
  return records
}
