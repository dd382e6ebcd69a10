import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { TapeError } from './tape.ts'
import { AvroReader, writeVarint } from './envelope.ts'

/** Avro object container files: a header with the schema, then compressed blocks, each ended by the file's own mark. */

const MAGIC = Buffer.from([0x4f, 0x62, 0x6a, 0x01])
const SYNC_BYTES = 16
const COMPRESSION = 'zstandard'
/** Blocks that claim more are taken for damage. */
const BLOCK_BYTES_MAX = 256 * 1024 * 1024

interface Header {
  readonly schema: string
  readonly sync: Buffer
}

/** The header's bytes; `sync`: 16 bytes that no other file has. */
export function encodeHeader({ schema, sync }: Header): Buffer {
  const entries: readonly (readonly [string, string])[] = [
    ['avro.schema', schema],
    ['avro.codec', COMPRESSION],
  ]
  const parts = [MAGIC, varint(entries.length)]
  for (const [name, value] of entries) parts.push(text(name), text(value))
  parts.push(varint(0), sync)
  return Buffer.concat(parts)
}

export function encodeBlock({ sync }: Header, count: number, data: Buffer): Buffer {
  const packed = zstdCompressSync(data)
  return Buffer.concat([varint(count), varint(packed.length), packed, sync])
}

interface Block {
  readonly count: number
  readonly data: Buffer
}

/** Reads a whole file; throws `TapeError` `corrupt` with `name` where it is none. */
export function decodeContainer(name: string, file: Buffer): { header: Header; blocks: Generator<Block> } {
  const reader = new AvroReader(file)
  const header = orCorrupt(name, () => headerOf(reader))
  return { header, blocks: blocksOf(name, reader, header) }
}

function headerOf(reader: AvroReader): Header {
  if (!reader.take(MAGIC.length).equals(MAGIC)) throw new Error('it is no Avro file')
  const text = (): string => reader.take(reader.varint()).toString()
  const fields = new Map<string, string>()
  for (let count = reader.varint(); count !== 0; count = reader.varint()) {
    if (count < 0) reader.varint() // a count below zero stands before the size of what follows
    for (let at = 0; at < Math.abs(count); at++) fields.set(text(), text())
  }
  const compression = fields.get('avro.codec')
  if (compression !== COMPRESSION) throw new Error(`its codec is ${compression}; ${COMPRESSION} is read`)
  return { schema: fields.get('avro.schema') ?? '', sync: reader.take(SYNC_BYTES) }
}

function* blocksOf(name: string, reader: AvroReader, { sync }: Header): Generator<Block> {
  while (!reader.isAtEnd) {
    yield orCorrupt(name, () => {
      const count = reader.varint()
      const packed = reader.take(reader.varint())
      if (!reader.take(SYNC_BYTES).equals(sync)) throw new Error('a block does not end where it says')
      return { count, data: zstdDecompressSync(packed, { maxOutputLength: BLOCK_BYTES_MAX }) }
    })
  }
}

function orCorrupt<Value>(name: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw new TapeError('corrupt', `${name} is damaged: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function varint(value: number): Buffer {
  const buffer = Buffer.allocUnsafe(10)
  return buffer.subarray(0, writeVarint(buffer, 0, value))
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([varint(bytes.length), bytes])
}
