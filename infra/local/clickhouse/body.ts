import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { code, QueryError } from './errors.ts'
import { lz4Decoder } from './lz4.ts'

/** Longest text of a statement, without an INSERT's data. */
const STATEMENT_BYTES_MAX = 4 << 20

/** A request's body, decompressed: a head that can be looked at, then the rest as it comes. */
export interface Body {
  /** Reads on until `enough` says so or the body ends; gives what is there. */
  peek(enough: (head: Buffer) => boolean): Promise<{ head: Buffer; ended: boolean }>
  /** Drops the first bytes of the head. */
  skip(bytes: number): void
  /** All that is left, in order; throws `QueryError` when the body is cut off or cannot be decompressed. */
  rest(): AsyncGenerator<Buffer>
}

export function bodyOf(request: IncomingMessage): Body {
  const chunks = decompressed(request).iterator({ destroyOnReturn: false })
  let head: Buffer = Buffer.alloc(0)
  const state = { ended: false }
  const next = async (): Promise<Buffer | undefined> => {
    try {
      const { done, value } = (await chunks.next()) as IteratorResult<Buffer, undefined>
      if (done !== true) return value
    } catch (error) {
      throw new QueryError(code.cannotDecompress, `cannot read the request’s body: ${String(error)}`, { cause: error })
    }
    state.ended = true
    return undefined
  }
  return {
    async peek(enough) {
      while (!state.ended && !enough(head)) head = Buffer.concat([head, (await next()) ?? Buffer.alloc(0)])
      return { head, ended: state.ended }
    },
    skip(bytes) {
      head = head.subarray(bytes)
    },
    async *rest() {
      if (head.length > 0) yield head
      head = Buffer.alloc(0)
      for (let chunk = await next(); chunk !== undefined; chunk = await next()) yield chunk
    },
  }
}

/** Reads a statement's text to its end, within the limit. */
export async function readText(body: Body): Promise<string> {
  const { head } = await body.peek((bytes) => bytes.length > STATEMENT_BYTES_MAX)
  if (head.length > STATEMENT_BYTES_MAX)
    throw new QueryError(code.tooManyBytes, `the query is longer than ${STATEMENT_BYTES_MAX} bytes. (TOO_MANY_BYTES)`)
  body.skip(head.length)
  return head.toString()
}

function decompressed(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return request
  const make = decoders[encoding]
  if (make === undefined)
    throw new QueryError(code.notImplemented, `Content-Encoding ${encoding} is not served. (NOT_IMPLEMENTED)`)
  // An error reaches whoever reads the decoder; the callback only keeps it from being thrown a second time.
  return pipeline(request, make(), () => undefined)
}

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
  lz4: lz4Decoder,
}
