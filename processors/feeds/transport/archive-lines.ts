import { createReadStream, openSync, readSync, closeSync, fstatSync } from 'node:fs'
import path from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { finished } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { crc32, createGunzip, createInflateRaw } from 'node:zlib'
import { TapeError } from '../../../infra/tapes/tape.ts'

/** A line that is longer is none of a table's; what unpacks without an end would fill the memory. */
const LINE_MAX = 65_536
/** No file unpacks to more, bytes: the longest day so far has some 3 GB. */
const UNPACKED_MAX = 16e9

/**
 * The lines of a CSV file, plain, gzipped (.gz) or the only entry of a .zip, without their end and without empty ones, in
 * portions of what was unpacked at once. A packed file's own length and CRC-32 are checked. Throws `TapeError`.
 */
export async function* linesOf(file: string): AsyncGenerator<readonly string[]> {
  let stream: Readable | undefined
  try {
    stream = open(file)
    const ended = finished(stream)
    ended.catch(() => undefined) // told to whoever reads to the end
    yield* splitLines(stream)
    await ended
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new TapeError('corrupt', `${file} cannot be read: ${why}`, { cause: error })
  } finally {
    stream?.destroy()
  }
}

async function* splitLines(stream: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > UNPACKED_MAX) throw new Error(`it unpacks to more than ${UNPACKED_MAX} bytes`)
    const lines = (rest + decoder.write(chunk)).split(/\r?\n/)
    rest = lines.pop() ?? ''
    if (rest.length > LINE_MAX) throw new Error(`a line is longer than ${LINE_MAX} characters`)
    yield lines.filter(isFull)
  }
  rest += decoder.end()
  if (isFull(rest)) yield [rest]
}

function isFull(line: string): boolean {
  return line.trim() !== ''
}

function open(file: string): Readable {
  const extension = path.extname(file).toLowerCase()
  if (extension === '.gz') return joined(createReadStream(file), createGunzip())
  if (extension !== '.zip') return createReadStream(file)
  const entry = zipEntry(file)
  const packed = createReadStream(file, { start: entry.start, end: entry.end - 1 })
  return joined(entry.isStored ? packed : joined(packed, createInflateRaw()), checked(entry))
}

function joined(source: Readable, next: Transform): Readable {
  source.once('error', (error) => next.destroy(error))
  return source.pipe(next)
}

interface ZipEntry {
  readonly start: number
  readonly end: number
  readonly isStored: boolean
  /** Unpacked. */
  readonly size: number
  readonly crc: number
}

/** Passes on what an entry holds; an error where it is not what the zip's directory says. */
function checked({ size, crc }: ZipEntry): Transform {
  let bytes = 0
  let sum = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      sum = crc32(chunk, sum)
      done(null, chunk)
    },
    flush(done) {
      const isWhole = bytes % 2 ** 32 === size && sum === crc
      done(isWhole ? null : new Error('its length or CRC-32 is not what its directory says'))
    },
  })
}

const END_BYTES_MAX = 66_000
const END_MARK = 0x06054b50
const ENTRY_MARK = 0x02014b50

/** Where the bytes of a zip file's only entry lie, by its directory (the local header may not know the size). */
function zipEntry(file: string): ZipEntry {
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    const tail = readAt(handle, Math.max(0, size - END_BYTES_MAX), Math.min(size, END_BYTES_MAX))
    let at = tail.length - 22
    while (at >= 0 && tail.readUInt32LE(at) !== END_MARK) at -= 1
    if (at < 0) throw new TapeError('corrupt', `${file} is no zip file`)
    if (tail.readUInt16LE(at + 10) !== 1) throw new TapeError('corrupt', `${file} holds more than one file`)
    const entry = readAt(handle, tail.readUInt32LE(at + 16), 46)
    const method = entry.readUInt16LE(10)
    if (entry.readUInt32LE(0) !== ENTRY_MARK || (method !== 8 && method !== 0))
      throw new TapeError('corrupt', `${file}: its entry cannot be read (method ${method})`)
    const local = entry.readUInt32LE(42)
    const header = readAt(handle, local, 30)
    const start = local + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
    const [crc, packed, unpacked] = [entry.readUInt32LE(16), entry.readUInt32LE(20), entry.readUInt32LE(24)]
    return { start, end: start + packed, isStored: method === 0, size: unpacked, crc }
  } finally {
    closeSync(handle)
  }
}

function readAt(handle: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length)
  readSync(handle, buffer, 0, length, position)
  return buffer
}
