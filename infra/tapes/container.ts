import { deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { TapeError } from './tape.ts'
import { writeVarint } from './envelope.ts'

/** Avro object container files: a header with the schema, then compressed blocks, each ended by the file's own mark. */

const MAGIC = Buffer.from([0x4f, 0x62, 0x6a, 0x01])
const SYNC_BYTES = 16
/** Blocks that claim more are taken for damage. */
const BLOCK_BYTES_MAX = 256 * 1024 * 1024

export type Compression = 'zstandard' | 'deflate' | 'null'

interface Header {
  readonly schema: string
  readonly compression: Compression
  readonly sync: Buffer
}

/** The header's bytes; `sync`: 16 bytes that no other file has. */
export function encodeHeader({ schema, compression, sync }: Header): Buffer {
  const entries: readonly (readonly [string, string])[] = [
    ['avro.schema', schema],
    ['avro.codec', compression],
  ]
  const parts = [MAGIC, varint(entries.length)]
  for (const [name, value] of entries) parts.push(text(name), text(value))
  parts.push(varint(0), sync)
  return Buffer.concat(parts)
}

export function encodeBlock({ compression, sync }: Header, count: number, data: Buffer): Buffer {
  const packed = compress(compression, data)
  return Buffer.concat([varint(count), varint(packed.length), packed, sync])
}

interface Block {
  readonly count: number
  readonly data: Buffer
}

/** Reads a whole file; throws `TapeError` `corrupt` with `name` where it is none. */
export function decodeContainer(name: string, file: Buffer): { header: Header; blocks: Generator<Block> } {
  const corrupt = (why: string): TapeError => new TapeError('corrupt', `${name} is damaged: ${why}`)
  const cursor = new Cursor(file, corrupt)
  if (!cursor.take(MAGIC.length).equals(MAGIC)) throw corrupt('it is no Avro file')
  const fields = new Map<string, string>()
  for (let count = cursor.varint(); count !== 0; count = cursor.varint()) {
    if (count < 0) cursor.varint() // a count below zero stands before the size of what follows
    for (let at = 0; at < Math.abs(count); at++) fields.set(cursor.text(), cursor.text())
  }
  const compression = fields.get('avro.codec') ?? 'null'
  if (compression !== 'zstandard' && compression !== 'deflate' && compression !== 'null')
    throw corrupt(`its codec is ${compression}; zstandard, deflate and null are read`)
  const header = { schema: fields.get('avro.schema') ?? '', compression, sync: cursor.take(SYNC_BYTES) } as const
  return { header, blocks: blocksOf(cursor, header, corrupt) }
}

function* blocksOf(cursor: Cursor, header: Header, corrupt: (why: string) => TapeError): Generator<Block> {
  while (!cursor.isAtEnd) {
    const count = cursor.varint()
    const packed = cursor.take(cursor.varint())
    if (!cursor.take(SYNC_BYTES).equals(header.sync)) throw corrupt('a block does not end where it says')
    let data: Buffer
    try {
      data = decompress(header.compression, packed)
    } catch (error) {
      throw corrupt(`a block cannot be unpacked: ${error instanceof Error ? error.message : String(error)}`)
    }
    yield { count, data }
  }
}

class Cursor {
  readonly #file: Buffer
  readonly #corrupt: (why: string) => TapeError
  #at = 0

  constructor(file: Buffer, corrupt: (why: string) => TapeError) {
    this.#file = file
    this.#corrupt = corrupt
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#file.length
  }

  take(size: number): Buffer {
    if (size < 0 || size > BLOCK_BYTES_MAX || this.#at + size > this.#file.length)
      throw this.#corrupt('it ends in the middle')
    this.#at += size
    return this.#file.subarray(this.#at - size, this.#at)
  }

  text(): string {
    return this.take(this.varint()).toString()
  }

  varint(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const [byte = 0] = this.take(1)
      value += (byte & 127) * scale
      if (byte < 128) break
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
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

function compress(compression: Compression, data: Buffer): Buffer {
  if (compression === 'zstandard') return zstdCompressSync(data)
  return compression === 'deflate' ? deflateRawSync(data) : data
}

function decompress(compression: Compression, data: Buffer): Buffer {
  const options = { maxOutputLength: BLOCK_BYTES_MAX }
  if (compression === 'zstandard') return zstdDecompressSync(data, options)
  return compression === 'deflate' ? inflateRawSync(data, options) : Buffer.from(data)
}
