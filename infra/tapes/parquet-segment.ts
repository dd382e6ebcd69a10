import path from 'node:path'
import { readFileSync } from 'node:fs'
import type { Codec } from '../../schemas/codec.ts'
import type { Records, RecordType } from '../../schemas/records.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { columnsOf, fromRow, LOG_COLUMNS, toRow } from './columns.ts'
import type { SegmentReader } from './file-tape.ts'
import type { SegmentFile } from './folder.ts'
import type { ParquetEngine } from './parquet-engine.ts'
import { readChecked, segmentName, sha256 } from './segment-file.ts'
import { TapeError, type Tape } from './tape.ts'
import type { SegmentWriter } from './write-tape.ts'

/** Of tombstones, which have no value and so no record type. */
const NONE = 'none'
const BATCH_RECORDS = 2_000

/** A Parquet file for each record type of a segment: the record's fields, with key, offset and time of the log. */
export function parquetWriter(tape: Tape, folder: string, engine: ParquetEngine): SegmentWriter {
  return async (span, records) => {
    const files: SegmentFile[] = []
    for (const [type, rows] of rowsByType(tape.codec, records)) {
      const name = `${segmentName(span.topic, span.partition, span.from)}.${type}.parquet`
      const columns = type === NONE ? LOG_COLUMNS : [...LOG_COLUMNS, ...columnsOf(type)]
      await engine.write(path.join(folder, name), columns, rows)
      const bytes = readFileSync(path.join(folder, name))
      files.push({ path: name, bytes: bytes.length, sha256: sha256(bytes) })
    }
    return files
  }
}

type Type = RecordType | typeof NONE

function rowsByType(codec: Codec, records: readonly LogRecord[]): Map<Type, Readonly<Record<string, unknown>>[]> {
  const rows = new Map<Type, Readonly<Record<string, unknown>>[]>()
  for (const { offset, time, key, value } of records) {
    const message = value === null ? undefined : codec.decode(value)
    const type = message?.type ?? NONE
    const known = rows.get(type) ?? []
    rows.set(type, known)
    const log = { _offset: offset, _time: time, _key: key?.toString() ?? null }
    known.push(message === undefined ? log : { ...log, ...toRow(message.type, message.value) })
  }
  return rows
}

/** Reads segments of Parquet files, encoded again in the wire format of `codec`. */
export function parquetReader(codec: Codec, folder: string, engine: ParquetEngine): SegmentReader {
  return async function* (segment) {
    const records: LogRecord[] = []
    for (const file of segment.files) {
      readChecked(folder, file)
      records.push(...(await readFile(codec, engine, segment.topic, folder, file.path)))
    }
    records.sort((a, b) => a.offset - b.offset)
    if (records.length !== segment.records)
      throw new TapeError(
        'corrupt',
        `${folder}: ${segment.topic}/${segment.partition} from ${segment.from} has not all its records`,
      )
    for (let at = 0; at < records.length; at += BATCH_RECORDS) yield records.slice(at, at + BATCH_RECORDS)
  }
}

async function readFile(
  codec: Codec,
  engine: ParquetEngine,
  topic: TopicName,
  folder: string,
  name: string,
): Promise<LogRecord[]> {
  const type = typeIn(topic, name)
  const columns = type === NONE ? LOG_COLUMNS : [...LOG_COLUMNS, ...columnsOf(type)]
  const rows = await engine.read(path.join(folder, name), columns)
  return rows.map((row) => {
    const { _offset: offset, _time: time, _key: key } = row
    return {
      offset: Number(offset),
      time: Number(time),
      key: typeof key === 'string' ? Buffer.from(key) : null,
      value: type === NONE ? null : encode(codec, topic, type, fromRow(type, row)),
    }
  })
}

function typeIn(topic: TopicName, name: string): Type {
  const said = name.split('.').at(-2)
  const type = topicOf(topic).records.find((record) => record === said)
  if (type === undefined && said !== NONE) throw new TapeError('corrupt', `${name} names no record type of ${topic}`)
  return type ?? NONE
}

/** The columns were made of the record type's own schema, and the encoder checks every value. */
function encode(codec: Codec, topic: TopicName, type: RecordType, value: object): Buffer {
  return codec.encode<RecordType>(topic, type, value as Records[RecordType])
}
