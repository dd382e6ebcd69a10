import { isUtf8 } from 'node:buffer'
import type { Codec } from '../../schemas/codec.ts'
import type { Records, RecordType } from '../../schemas/records.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { columnsOf, fieldNames, LOG_COLUMNS } from './columns.ts'
import type { SegmentReader, SegmentWriter } from './folder.ts'
import { decodeParquet, encodeParquet, type Cells } from './parquet-file.ts'
import type { ColumnTypes } from './parquet-types.ts'
import { readChecked, segmentName, writeFile } from './segment-file.ts'
import { TapeError, type Tape } from './tape.ts'

/** Of tombstones, which have no value and so no record type. */
const NONE = 'none'
const BATCH_RECORDS = 2_000

/** The log's times are in milliseconds, a file's in microseconds, as all times in it. */
const MICROS = 1_000

/**
 * A Parquet file for each record type and day (UTC, of `_time`) of a segment: the record's fields, with key, offset and time
 * of the log. A folder for each type, as tools read tables: `trade/day=2026-01-02/market.trades.3.OFFSET.trade.parquet`.
 */
export function parquetWriter(tape: Tape, folder: string): SegmentWriter {
  return (span, records) => {
    const segment = segmentName(span.topic, span.partition, span.from).replaceAll('/', '.')
    const files = [...rowsByType(tape.codec, records)].flatMap(([type, rows]) =>
      [...Map.groupBy(rows, dayOf)].map(([day, own]) =>
        writeFile(folder, `${type}/day=${day}/${segment}.${type}.parquet`, encodeRows(type, own)),
      ),
    )
    return Promise.resolve(files)
  }
}

type Type = RecordType | typeof NONE
type Row = Readonly<Record<string, unknown>>

function dayOf({ _time }: Row): string {
  return new Date(Number(_time) / MICROS).toISOString().slice(0, 10)
}

function rowsByType(codec: Codec, records: readonly LogRecord[]): Map<Type, Row[]> {
  const rows = new Map<Type, Row[]>()
  for (const { offset, time, key, value } of records) {
    const message = value === null ? undefined : codec.decode(value)
    const type = message?.type ?? NONE
    const known = rows.get(type) ?? []
    rows.set(type, known)
    known.push({ _offset: offset, _time: time * MICROS, _key: textOf(key), ...message?.value })
  }
  return rows
}

/** Keys are text in every topic; bytes that are none would not come back. */
function textOf(key: Buffer | null): string | null {
  if (key !== null && !isUtf8(key)) throw new TapeError('refused', 'a key is no text, which Parquet needs; use Avro')
  return key?.toString() ?? null
}

/** One file's bytes. The rows of an instrument lie together, which packs them best, else they are in the log's order. */
export function encodeRows(type: Type, rows: readonly Row[]): Buffer {
  const sorted = [...Map.groupBy(rows, ({ instrument }) => (typeof instrument === 'string' ? instrument : ''))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, own]) => own)
  const columns = columnsIn(type)
  const cells = new Map(columns.map(([name]) => [name, sorted.map((row) => row[name] ?? null)] as const))
  return encodeParquet(columns, cells)
}

function columnsIn(type: Type): ColumnTypes {
  return type === NONE ? LOG_COLUMNS : columnsOf(type)
}

/** Reads segments of Parquet files, encoded again in the wire format of `codec`. */
export function parquetReader(codec: Codec, folder: string): SegmentReader {
  return async function* (segment) {
    const records: LogRecord[] = []
    for (const file of segment.files) {
      const type = typeIn(segment.topic, file.path)
      const cells = await decodeRows(file.path, readChecked(folder, file), type)
      for (const record of recordsOf(codec, segment.topic, type, cells)) records.push(record)
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

/** A file's columns, with `_time` in milliseconds. */
async function decodeRows(name: string, content: Buffer, type: Type): Promise<ReadonlyMap<string, Cells>> {
  const cells = await decodeParquet(name, content, columnsIn(type))
  const times = (cells.get('_time') ?? []).map((time) => Number(time) / MICROS)
  return new Map([...cells, ['_time', times]])
}

function* recordsOf(
  codec: Codec,
  topic: TopicName,
  type: Type,
  cells: ReadonlyMap<string, Cells>,
): Generator<LogRecord> {
  const column = (name: string): Cells => cells.get(name) ?? []
  const [offsets, times, keys] = [column('_offset'), column('_time'), column('_key')]
  const fields = type === NONE ? [] : fieldNames(type).map((name) => [name, column(name)] as const)
  for (let row = 0; row < offsets.length; row++) {
    const key = keys[row]
    const value: Record<string, unknown> = {}
    for (const [name, own] of fields) value[name] = own[row]
    yield {
      offset: Number(offsets[row]),
      time: Number(times[row]),
      key: typeof key === 'string' ? Buffer.from(key) : null,
      value: type === NONE ? null : encode(codec, topic, type, value),
    }
  }
}

function typeIn(topic: TopicName, name: string): Type {
  const part = name.split('.').at(-2)
  const type = topicOf(topic).records.find((record) => record === part)
  if (type === undefined && part !== NONE) throw new TapeError('corrupt', `${name} names no record type of ${topic}`)
  return type ?? NONE
}

/** The columns were made of the record type's own schema, and the encoder checks every value. */
function encode(codec: Codec, topic: TopicName, type: RecordType, value: object): Buffer {
  return codec.encode<RecordType>(topic, type, value as Records[RecordType])
}
