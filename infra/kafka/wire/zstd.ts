import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'

/** The fastest level: what more would save is less than a tenth. */
const LEVEL = 1
/** What is written into at a time, bytes. */
const PIECE_BYTES = 64 * 1024

/** What the streams of node:zlib work with. */
interface Engine {
  readonly _handle: {
    /** Its `onerror` is told of a frame that is broken. */
    writeSync(flush: number, input: Buffer, at: number, bytes: number, piece: Buffer, from: number, room: number): void
  }
  /** Left after a write: room in the piece, bytes of the input. */
  readonly _writeState: Uint32Array
}

/**
 * Frames of zstd, one after the other by one context that is kept. The synchronous functions of node:zlib make a stream
 * and a context for each frame and drop them: of a batch of 320 bytes 20 us to pack and 12 to unpack, 6 and 0.5 so.
 * The streams have no public way to go on with the next frame, so this is the one file that knows their inner parts.
 */
class Frames {
  readonly #make: () => object
  readonly #piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
  #engine: Engine | undefined
  #failure: Error | undefined

  constructor(make: () => object) {
    this.#make = make
  }

  /** Throws on what is no whole frame; that touches no other. */
  run(input: Buffer): Buffer {
    const engine = (this.#engine ??= this.#open())
    const { _handle: handle, _writeState: state } = engine
    const pieces: Buffer[] = []
    for (let at = 0, isFull = true; isFull;) {
      handle.writeSync(constants.ZSTD_e_end, input, at, input.length - at, this.#piece, 0, PIECE_BYTES)
      if (this.#failure !== undefined) return this.#fail(this.#failure)
      const [room = 0, left = 0] = state
      pieces.push(Buffer.from(this.#piece.subarray(0, PIECE_BYTES - room)))
      at = input.length - left
      isFull = room === 0
    }
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
  }

  #open(): Engine {
    const engine = this.#make() as Engine
    if (typeof engine._handle?.writeSync !== 'function' || !(engine._writeState instanceof Uint32Array))
      throw new Error(`Node ${process.version} does not pack by zstd as Node 24 does: run the version of package.json`)
    const onerror = (message: string, _errno: number, code: string): void => {
      this.#failure = Object.assign(new Error(message), { code })
    }
    Object.assign(engine._handle, { onerror })
    return engine
  }

  /** What a broken frame has left in the context must not reach the next. */
  #fail(failure: Error): never {
    this.#engine = undefined
    this.#failure = undefined
    throw failure
  }
}

const packing = new Frames(() => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } }))
const unpacking = new Frames(() => createZstdDecompress())

export function packZstd(bytes: Buffer): Buffer {
  return packing.run(bytes)
}

export function unpackZstd(frame: Buffer): Buffer {
  return unpacking.run(frame)
}
