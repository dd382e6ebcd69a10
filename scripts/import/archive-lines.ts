import { createReadStream, openSync, readSync, closeSync, fstatSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createGunzip, createInflateRaw } from 'node:zlib'
import { TapeError } from '../../infra/tapes/tape.ts'

/** The lines of a CSV file, plain, gzipped (.gz) or the only entry of a .zip, without their end. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  const stream = open(file)
  const ended = finished(stream)
  ended.catch(() => undefined) // told to whoever reads to the end
  try {
    yield* createInterface({ input: stream, crlfDelay: Infinity })
    await ended
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new TapeError('corrupt', `${file} cannot be read: ${why}`, { cause: error })
  } finally {
    stream.destroy()
  }
}

function open(file: string): Readable {
  const extension = path.extname(file).toLowerCase()
  if (extension === '.gz') return unpacked(createReadStream(file), createGunzip())
  if (extension !== '.zip') return createReadStream(file)
  const { start, end, isStored } = zipEntry(file)
  const packed = createReadStream(file, { start, end: end - 1 })
  return isStored ? packed : unpacked(packed, createInflateRaw())
}

function unpacked(source: Readable, unpacker: ReturnType<typeof createGunzip>): Readable {
  source.once('error', (error) => unpacker.destroy(error))
  return source.pipe(unpacker)
}

const END_BYTES_MAX = 66_000
const END_MARK = 0x06054b50
const ENTRY_MARK = 0x02014b50

/** Where the bytes of a zip file's first entry lie, by its directory (the local header may not know the size). */
function zipEntry(file: string): { start: number; end: number; isStored: boolean } {
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    const tail = readAt(handle, Math.max(0, size - END_BYTES_MAX), Math.min(size, END_BYTES_MAX))
    let at = tail.length - 22
    while (at >= 0 && tail.readUInt32LE(at) !== END_MARK) at -= 1
    if (at < 0) throw new TapeError('corrupt', `${file} is no zip file`)
    const entry = readAt(handle, tail.readUInt32LE(at + 16), 46)
    const method = entry.readUInt16LE(10)
    if (entry.readUInt32LE(0) !== ENTRY_MARK || (method !== 8 && method !== 0))
      throw new TapeError('corrupt', `${file}: its entry cannot be read (method ${method})`)
    const local = entry.readUInt32LE(42)
    const header = readAt(handle, local, 30)
    const start = local + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
    return { start, end: start + entry.readUInt32LE(20), isStored: method === 0 }
  } finally {
    closeSync(handle)
  }
}

function readAt(handle: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length)
  readSync(handle, buffer, 0, length, position)
  return buffer
}
