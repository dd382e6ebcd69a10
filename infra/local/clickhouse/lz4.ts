import { Transform, type TransformCallback } from 'node:stream'

/**
 * LZ4 frames as a stream (lz4_Frame_format 1.6.1, lz4_Block_format): what Python's clickhouse-connect sends unless told
 * otherwise. Node has no LZ4, and the packages that do take whole buffers only. Checksums are not compared: the frame's
 * length and its end mark are, and the bytes come over loopback.
 */
export function lz4Decoder(): Transform {
  let held: Buffer = Buffer.alloc(0)
  let frame: Frame | undefined
  /** The last 64 KiB of the frame's output, which linked blocks refer to. */
  let history: Buffer = Buffer.alloc(0)
  const step = (out: (chunk: Buffer) => void): boolean => {
    if (frame === undefined) {
      const header = readHeader(held)
      if (header === undefined) return false
      frame = header.frame
      history = Buffer.alloc(0)
      held = held.subarray(header.bytes)
      return true
    }
    if (held.length < 4) return false
    const word = held.readUInt32LE(0)
    const size = word & 0x7fffffff
    if (size === 0) {
      if (held.length < 4 + frame.endBytes) return false
      held = held.subarray(4 + frame.endBytes)
      frame = undefined
      return true
    }
    if (size > frame.blockBytes) throw new Error('LZ4 block is larger than its frame allows')
    if (held.length < 4 + size + frame.blockEndBytes) return false
    const body = held.subarray(4, 4 + size)
    held = held.subarray(4 + size + frame.blockEndBytes)
    const plain = word >>> 31 === 1 ? Buffer.from(body) : decodeBlock(body, history, frame.blockBytes)
    if (frame.linked) history = Buffer.concat([history, plain]).subarray(-HISTORY_BYTES)
    out(plain)
    return true
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      attempt(() => {
        while (held.length > 0 && step((plain) => this.push(plain)));
      }, done)
    },
    flush(done: TransformCallback) {
      done(frame === undefined && held.length === 0 ? null : new Error('LZ4 frame is cut off'))
    },
  })
}

const MAGIC = 0x184d2204
const HISTORY_BYTES = 64 * 1024
const BLOCK_BYTES: Readonly<Record<number, number>> = { 4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22 }

interface Frame {
  readonly linked: boolean
  readonly blockBytes: number
  /** Bytes of a checksum after each block and after the end mark. */
  readonly blockEndBytes: number
  readonly endBytes: number
}

function readHeader(bytes: Buffer): { frame: Frame; bytes: number } | undefined {
  if (bytes.length < 6) return undefined
  if (bytes.readUInt32LE(0) !== MAGIC) throw new Error('not an LZ4 frame')
  const flags = bytes.readUInt8(4)
  const blockBytes = BLOCK_BYTES[(bytes.readUInt8(5) >> 4) & 7]
  if (flags >> 6 !== 1 || blockBytes === undefined) throw new Error('unknown kind of LZ4 frame')
  const has = (bit: number, size: number): number => (((flags >> bit) & 1) === 1 ? size : 0)
  const length = 6 + has(3, 8) + has(0, 4) + 1
  if (bytes.length < length) return undefined
  return {
    frame: { linked: has(5, 1) === 0, blockBytes, blockEndBytes: has(4, 4), endBytes: has(2, 4) },
    bytes: length,
  }
}

/** One compressed block: literals and copies of what came up to 64 KiB before. */
function decodeBlock(block: Buffer, history: Buffer, maxBytes: number): Buffer {
  const out = Buffer.allocUnsafe(history.length + maxBytes)
  history.copy(out)
  let to = history.length
  let at = 0
  const length = (nibble: number): number => {
    let total = nibble
    let byte = nibble === 15 ? 255 : 0
    while (byte === 255) {
      byte = block.readUInt8(at)
      at += 1
      total += byte
    }
    return total
  }
  while (at < block.length) {
    const token = block.readUInt8(at)
    at += 1
    const literals = length(token >> 4)
    if (at + literals > block.length || to + literals > out.length) throw new Error('LZ4 block is damaged')
    block.copy(out, to, at, at + literals)
    to += literals
    at += literals
    if (at === block.length) break
    const back = block.readUInt16LE(at)
    at += 2
    const match = length(token & 15) + 4
    if (back === 0 || back > to || to + match > out.length) throw new Error('LZ4 block is damaged')
    copyBack(out, to, back, match)
    to += match
  }
  return out.subarray(history.length, to)
}

/** Copies `match` bytes from `back` bytes before `to`; the two may overlap, then the pattern repeats. */
function copyBack(out: Buffer, to: number, back: number, match: number): void {
  if (back >= match) out.copyWithin(to, to - back, to - back + match)
  else for (let done = 0; done < match; done += 1) out[to + done] = out[to + done - back] ?? 0
}

function attempt(work: () => void, done: TransformCallback): void {
  try {
    work()
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)))
    return
  }
  done()
}
