import { gunzipSync } from 'node:zlib'
import crc32C from 'kafkajs/src/protocol/recordBatch/crc32C/index.js'
import type { LogRecord, OutRecord } from '../seam.ts'
import { packZstd, unpackZstd } from './zstd.ts'

/** RecordBatch, magic 2: fixed fields before the records. Source: Kafka's "Message Format". */
const HEADER_BYTES = 61
const LENGTH_AT = 8
const LEADER_EPOCH_AT = 12
const MAGIC_AT = 16
const CRC_AT = 17
const ATTRIBUTES_AT = 21
const LAST_DELTA_AT = 23
const FIRST_TIME_AT = 27
const MAX_TIME_AT = 35
const PRODUCER_AT = 43
const EPOCH_AT = 51
const SEQUENCE_AT = 53
const COUNT_AT = 57
/** Bytes before `LENGTH`'s own count begins. */
const PREFIX_BYTES = 12

const COMPRESSION = 0x07
const GZIP = 1
const ZSTD = 4
/** Records of fewer bytes are left as they are: a header of zstd and little to repeat. */
const PACKED_FROM_BYTES = 160
const CONTROL = 0x20
/** Most bytes that a record needs beside key and value: six varints and the attributes. */
const RECORD_OVERHEAD_BYTES = 40
const SEQUENCES = 2 ** 31

/** Who writes: what the broker checks against doubles and against older owners. */
export interface Producer {
  readonly id: bigint
  readonly epoch: number
  /** Sequence of the batch's first record. */
  readonly sequence: number
}

/**
 * One batch of records, ready to be appended: all of it or nothing gets into the log. Linear in its size, where
 * kafkajs' own encoder is quadratic in the number of records (7.5 s for 40,000).
 */
export function encodeBatch(records: readonly OutRecord[], producer: Producer): Buffer {
  const first = records[0]?.time ?? 0
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + records.reduce((sum, record) => sum + boundOf(record), 0))
  const cursor = { bytes, at: HEADER_BYTES }
  let maxTime = first
  for (const [index, record] of records.entries()) {
    writeRecord(cursor, record, record.time - first, index)
    if (record.time > maxTime) maxTime = record.time
  }
  const packed = pack(bytes.subarray(HEADER_BYTES, cursor.at))
  const batch =
    packed === undefined
      ? bytes.subarray(0, cursor.at)
      : bytes.subarray(0, HEADER_BYTES + packed.copy(bytes, HEADER_BYTES))
  batch.writeBigInt64BE(0n, 0)
  batch.writeInt32BE(batch.length - PREFIX_BYTES, LENGTH_AT)
  batch.writeInt32BE(-1, LEADER_EPOCH_AT) // the leader's epoch is the broker's to fill in
  batch.writeInt8(2, MAGIC_AT)
  batch.writeInt16BE(packed === undefined ? 0 : ZSTD, ATTRIBUTES_AT)
  batch.writeInt32BE(records.length - 1, LAST_DELTA_AT)
  batch.writeBigInt64BE(BigInt(first), FIRST_TIME_AT)
  batch.writeBigInt64BE(BigInt(maxTime), MAX_TIME_AT)
  batch.writeBigInt64BE(producer.id, PRODUCER_AT)
  batch.writeInt16BE(producer.epoch, EPOCH_AT)
  batch.writeInt32BE(producer.sequence, SEQUENCE_AT)
  batch.writeInt32BE(records.length, COUNT_AT)
  batch.writeUInt32BE(crc32C(batch.subarray(ATTRIBUTES_AT)), CRC_AT)
  return batch
}

/** Records compressed by zstd; undefined where that does not make them smaller. */
function pack(records: Buffer): Buffer | undefined {
  if (records.length < PACKED_FROM_BYTES) return undefined
  const packed = packZstd(records)
  return packed.length < records.length ? packed : undefined
}

/** The sequence after `count` records; it wraps as the broker's does. */
export function nextSequence(sequence: number, count: number): number {
  return (sequence + count) % SEQUENCES
}

/** Upper bound of a record's size, bytes. */
export function boundOf({ key, value }: OutRecord): number {
  const keyBytes = key === null ? 0 : Buffer.byteLength(key)
  return RECORD_OVERHEAD_BYTES + keyBytes + (value?.length ?? 0)
}

interface Cursor {
  readonly bytes: Buffer
  at: number
}

function writeRecord(cursor: Cursor, { key, value }: OutRecord, timeDelta: number, offsetDelta: number): void {
  const keyBytes = key === null ? -1 : Buffer.byteLength(key)
  const valueBytes = value === null ? -1 : value.length
  const body =
    1 +
    sizeOf(timeDelta) +
    sizeOf(offsetDelta) +
    sizeOf(keyBytes) +
    Math.max(keyBytes, 0) +
    sizeOf(valueBytes) +
    Math.max(valueBytes, 0) +
    1
  writeSigned(cursor, body)
  cursor.bytes[cursor.at] = 0 // attributes
  cursor.at += 1
  writeSigned(cursor, timeDelta)
  writeSigned(cursor, offsetDelta)
  writeSigned(cursor, keyBytes)
  if (typeof key === 'string') cursor.at += cursor.bytes.write(key, cursor.at)
  else if (key !== null) cursor.at += key.copy(cursor.bytes, cursor.at)
  writeSigned(cursor, valueBytes)
  if (value !== null) cursor.at += value.copy(cursor.bytes, cursor.at)
  cursor.bytes[cursor.at] = 0 // headers
  cursor.at += 1
}

/** Zigzag, then seven bits a byte. Time deltas may pass 32 bits, so no bitwise operators on the value. */
function writeSigned(cursor: Cursor, value: number): void {
  let rest = zigzag(value)
  while (rest > 0x7f) {
    cursor.bytes[cursor.at] = (rest % 0x80) + 0x80
    cursor.at += 1
    rest = Math.floor(rest / 0x80)
  }
  cursor.bytes[cursor.at] = rest
  cursor.at += 1
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value
}

function sizeOf(value: number): number {
  let bytes = 1
  for (let rest = zigzag(value); rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes += 1
  return bytes
}

/**
 * Appends to `out` the records at or after `from`, and returns where to read on: past control batches and past holes
 * that compaction left. A batch that is cut at the end of `bytes` is left for the next fetch. Keys and values are
 * slices of `bytes`. For a batch that cannot be read stands one record at its last offset, whose value says why: no
 * record of ours, so that whoever decodes it sets it aside.
 */
export function decodeBatches(bytes: Buffer, from: number, out: LogRecord[]): number {
  let at = 0
  let next = from
  while (at + HEADER_BYTES <= bytes.length) {
    const end = at + PREFIX_BYTES + bytes.readInt32BE(at + LENGTH_AT)
    if (end > bytes.length) break
    const batch = bytes.subarray(at, end)
    const last = lastOf(batch)
    if (last >= from) {
      if ((batch.readInt16BE(ATTRIBUTES_AT) & CONTROL) === 0) readBatch(batch, from, out)
      next = last + 1
    }
    at = end
  }
  return next
}

/** A whole batch as it lies in bytes that were read. */
export interface BatchBounds {
  /** Its first byte, and one past its last. */
  readonly at: number
  readonly end: number
  /** Offset of its first record, and one past its last. */
  readonly base: number
  readonly next: number
  /** No record of it was taken out by compaction. */
  readonly isWhole: boolean
  /** Records that a reader is given; a claim's mark is none. */
  readonly records: number
}

/** Where each whole batch lies in `bytes`. */
export function boundsOf(bytes: Buffer): BatchBounds[] {
  const bounds = []
  for (let at = 0; at + HEADER_BYTES <= bytes.length;) {
    const end = at + PREFIX_BYTES + bytes.readInt32BE(at + LENGTH_AT)
    if (end > bytes.length) break
    const base = Number(bytes.readBigInt64BE(at))
    const last = bytes.readInt32BE(at + LAST_DELTA_AT)
    const count = bytes.readInt32BE(at + COUNT_AT)
    const records = (bytes.readInt16BE(at + ATTRIBUTES_AT) & CONTROL) === 0 ? count : 0
    bounds.push({ at, end, base, next: base + last + 1, isWhole: count === last + 1, records })
    at = end
  }
  return bounds
}

/** Whether a batch is as it was written, by its own checksum. */
export function isSound(batch: Buffer): boolean {
  return batch[MAGIC_AT] === 2 && batch.readUInt32BE(CRC_AT) === crc32C(batch.subarray(ATTRIBUTES_AT))
}

/**
 * The batch for another cluster, changed in place: its brokers count leaders and producers anew, so that it names none.
 * Offsets, times, keys and values stay.
 */
export function forgetWriters(batch: Buffer): void {
  batch.writeInt32BE(0, LEADER_EPOCH_AT)
  batch.writeBigInt64BE(-1n, PRODUCER_AT)
  batch.writeInt16BE(-1, EPOCH_AT)
  batch.writeInt32BE(-1, SEQUENCE_AT)
  batch.writeUInt32BE(crc32C(batch.subarray(ATTRIBUTES_AT)), CRC_AT)
}

/** A print of what a batch says, by which it is known in another cluster too. */
export function printOf(batch: Buffer): number {
  const copy = Buffer.from(batch)
  forgetWriters(copy)
  return copy.readUInt32BE(CRC_AT)
}

/** Looks for a producer's batch by its first sequence, without decoding records; `next` as in `decodeBatches`. */
export function scanBatches(bytes: Buffer, from: number, producer: Producer): { next: number; found: boolean } {
  let at = 0
  let next = from
  while (at + HEADER_BYTES <= bytes.length) {
    const end = at + PREFIX_BYTES + bytes.readInt32BE(at + LENGTH_AT)
    if (end > bytes.length) break
    const same =
      bytes.readBigInt64BE(at + PRODUCER_AT) === producer.id &&
      bytes.readInt16BE(at + EPOCH_AT) === producer.epoch &&
      bytes.readInt32BE(at + SEQUENCE_AT) === producer.sequence
    next = Number(bytes.readBigInt64BE(at)) + bytes.readInt32BE(at + LAST_DELTA_AT) + 1
    if (same && next > from) return { next, found: true }
    at = end
  }
  return { next: Math.max(next, from), found: false }
}

/** What is wrong with a batch's bytes. */
class BrokenBatch extends Error {}

/** Whether the bytes are to blame; a Node that cannot unpack, or has no memory for it, is another matter. */
function isBroken(error: unknown): error is Error {
  const { code } = error as { code?: unknown }
  return error instanceof BrokenBatch || /^(Z_DATA_ERROR|Z_BUF_ERROR|ZSTD_error_(?!memory).+)$/.test(String(code))
}

function readBatch(batch: Buffer, from: number, out: LogRecord[]): void {
  const before = out.length
  try {
    readRecords(batch, from, out)
  } catch (error) {
    if (!isBroken(error)) throw error
    out.length = before
    const [base, last] = [Number(batch.readBigInt64BE(0)), lastOf(batch)]
    const time = isRecordBatch(batch) ? Number(batch.readBigInt64BE(FIRST_TIME_AT)) : 0
    const value = Buffer.from(`the record batch of offsets ${base} to ${last} cannot be read: ${error.message}`)
    out.push({ offset: last, time, epoch: batch.readInt32BE(LEADER_EPOCH_AT), key: null, value })
  }
}

function isRecordBatch(batch: Buffer): boolean {
  return batch[MAGIC_AT] === 2
}

/** Offset of its last record; what Kafka wrote before there were record batches is a single one. */
function lastOf(batch: Buffer): number {
  return Number(batch.readBigInt64BE(0)) + (isRecordBatch(batch) ? batch.readInt32BE(LAST_DELTA_AT) : 0)
}

function readRecords(batch: Buffer, from: number, out: LogRecord[]): void {
  if (!isRecordBatch(batch)) throw new BrokenBatch(`format ${batch[MAGIC_AT]}; 2 is needed`)
  const [base, last] = [Number(batch.readBigInt64BE(0)), lastOf(batch)]
  const epoch = batch.readInt32BE(LEADER_EPOCH_AT)
  const firstTime = Number(batch.readBigInt64BE(FIRST_TIME_AT))
  const records = decompress(batch.subarray(HEADER_BYTES), batch.readInt16BE(ATTRIBUTES_AT) & COMPRESSION)
  const cursor = { bytes: records, at: 0 }
  for (let left = batch.readInt32BE(COUNT_AT); left > 0; left -= 1) {
    const length = readSigned(cursor)
    const recordEnd = cursor.at + length
    cursor.at += 1 // attributes
    const time = firstTime + readSigned(cursor)
    const offset = base + readSigned(cursor)
    if (length < 0 || recordEnd > records.length || offset < base || offset > last)
      throw new BrokenBatch('its records are damaged')
    if (offset >= from) out.push(new ReadRecord({ offset, time, epoch }, records, cursor.at))
    cursor.at = recordEnd // headers are not ours
  }
}

/** Ours are plain or zstd; foreign producers may use gzip. */
function decompress(bytes: Buffer, codec: number): Buffer {
  if (codec === 0) return bytes
  if (codec === GZIP) return gunzipSync(bytes)
  if (codec === ZSTD) return unpackZstd(bytes)
  throw new BrokenBatch(`compressed with codec ${codec}; none, gzip (1) and zstd (4) can be read`)
}

/**
 * Key and value are cut from the bytes when they are asked for: a fetch brings tens of thousands of records, and Buffers
 * that wait for their turn are most of what the collector has to copy.
 */
class ReadRecord implements LogRecord {
  readonly offset: number
  readonly time: number
  readonly epoch: number
  readonly #bytes: Buffer
  readonly #keyAt: number

  /** `keyAt`: where in `bytes` the length of its key stands. */
  constructor(
    { offset, time, epoch }: Pick<Required<LogRecord>, 'offset' | 'time' | 'epoch'>,
    bytes: Buffer,
    keyAt: number,
  ) {
    this.offset = offset
    this.time = time
    this.epoch = epoch
    this.#bytes = bytes
    this.#keyAt = keyAt
  }

  get key(): Buffer | null {
    return readNullable({ bytes: this.#bytes, at: this.#keyAt })
  }

  get value(): Buffer | null {
    const cursor = { bytes: this.#bytes, at: this.#keyAt }
    const keyLength = readSigned(cursor)
    cursor.at += Math.max(keyLength, 0)
    return readNullable(cursor)
  }
}

function readNullable(cursor: Cursor): Buffer | null {
  const length = readSigned(cursor)
  return length < 0 ? null : cursor.bytes.subarray(cursor.at, cursor.at + length)
}

function readSigned(cursor: Cursor): number {
  const { bytes } = cursor
  let byte = bytes[cursor.at] ?? 0
  cursor.at += 1
  let value = byte & 0x7f
  for (let factor = 0x80; byte > 0x7f; factor *= 0x80) {
    byte = bytes[cursor.at] ?? 0
    cursor.at += 1
    value += (byte & 0x7f) * factor
  }
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}
