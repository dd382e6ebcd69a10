import type { ServerResponse } from 'node:http'
import { createBrotliCompress, createGzip, createZstdCompress, constants, type BrotliCompress } from 'node:zlib'
import type { Connection, Done } from './engine.ts'
import { exceptionBlock, QueryError } from './errors.ts'
import { drained, type Pipes } from './pipes.ts'
import type { Encoding } from './request.ts'
import { literal, type Split } from './statement.ts'

/** Held back before the first byte is sent, so that an early error still gets its own status. */
const HOLD_BYTES = 64 * 1024
/** The same with wait_end_of_query=1; a larger result is streamed all the same. */
const HOLD_ALL_BYTES = 64 * 1024 * 1024

export interface Query {
  readonly connection: Connection
  readonly preamble: string
  readonly split: Split
  readonly format: string
  readonly encoding: Encoding | undefined
  readonly waitForEnd: boolean
  /** Marks an error that comes after the first rows. */
  readonly tag: string
  readonly version: string
}

/**
 * Runs a reading statement and sends its rows as they come, in any format, with back-pressure: the engine writes into
 * a pipe and waits when the client does. Throws `QueryError` while nothing was sent yet.
 */
export async function sendRows(query: Query, response: ServerResponse, pipes: Pipes): Promise<Done | undefined> {
  const pipe = pipes.out()
  const onGone = (): void => void pipe.rows.destroy()
  response.once('close', onGone)
  try {
    const run = query.connection.run(sqlFor(query, pipe.path))
    const settled = run.then(
      (done) => ({ done }),
      (error: unknown) => ({ error: QueryError.from(error) }),
    )
    void settled.then(() => pipe.finish())
    const outlet = new Outlet(query, response)
    try {
      for await (const chunk of pipe.rows) await outlet.write(chunk as Buffer)
    } catch (error) {
      if (!response.destroyed) throw error // else the client is gone: the statement was told to end
    }
    const outcome = await settled
    if ('done' in outcome) outlet.end(outcome.done)
    else outlet.fail(outcome.error)
    return 'done' in outcome ? outcome.done : undefined
  } finally {
    response.off('close', onGone)
    pipe.release()
  }
}

function sqlFor({ preamble, split, format, encoding }: Query, path: string): string {
  // LZ4 frames are the engine's work: Node has none.
  const compression = encoding === 'lz4' ? "COMPRESSION 'lz4' " : ''
  return `${preamble}${split.body}\nINTO OUTFILE ${literal(path)} TRUNCATE ${compression}FORMAT ${format} ${split.tail}`
}

type Compressor = BrotliCompress | ReturnType<typeof createGzip>

const compressors: Readonly<Record<Exclude<Encoding, 'lz4'>, () => Compressor>> = {
  zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  gzip: () => createGzip({ level: 3 }),
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
}

/** The response: holds the first bytes, then compresses and passes on. */
class Outlet {
  readonly #query: Query
  readonly #response: ServerResponse
  readonly #hold: number
  #held: Buffer[] = []
  #heldBytes = 0
  #target: ServerResponse | Compressor | undefined

  constructor(query: Query, response: ServerResponse) {
    this.#query = query
    this.#response = response
    this.#hold = query.waitForEnd ? HOLD_ALL_BYTES : HOLD_BYTES
  }

  async write(chunk: Buffer): Promise<void> {
    if (this.#target === undefined) {
      this.#held.push(chunk)
      this.#heldBytes += chunk.length
      if (this.#heldBytes < this.#hold) return
      this.#target = this.#open()
      chunk = this.#release()
    }
    if (!this.#target.write(chunk)) await drained(this.#target, this.#response)
  }

  end(done: Done): void {
    if (this.#target !== undefined) this.#target.end()
    else {
      this.#response.setHeader('X-ClickHouse-Summary', summary(done))
      this.#open().end(this.#release())
    }
  }

  /** After the first rows: the marked block, then a cut where nothing else would show that rows are missing. */
  fail(error: QueryError): void {
    if (this.#target === undefined) throw error
    const { tag, version, encoding } = this.#query
    const block = exceptionBlock(tag, error.text(version))
    const cut = (): void => this.#response.socket?.destroySoon()
    if (encoding === 'lz4') this.#response.destroy()
    else if (!('unpipe' in this.#target)) this.#response.write(block, cut)
    else {
      this.#target.unpipe(this.#response)
      this.#target.on('data', (chunk: Buffer) => this.#response.write(chunk)).on('end', cut)
      this.#target.resume().end(block)
    }
  }

  #release(): Buffer {
    const bytes = Buffer.concat(this.#held)
    this.#held = []
    return bytes
  }

  #open(): ServerResponse | Compressor {
    const { format, encoding, tag } = this.#query
    const response = this.#response
    response.statusCode = 200
    response.setHeader('Content-Type', contentTypes[format] ?? 'text/plain; charset=UTF-8')
    response.setHeader('X-ClickHouse-Format', format)
    response.setHeader('X-ClickHouse-Exception-Tag', tag)
    if (encoding === undefined) return response
    response.setHeader('Content-Encoding', encoding)
    if (encoding === 'lz4') return response
    const compressor = compressors[encoding]()
    compressor.pipe(response)
    return compressor
  }
}

/** The header in which the server counts a statement's work. */
export function summary(done: Done): string {
  return JSON.stringify({
    read_rows: String(done.readRows),
    read_bytes: String(done.readBytes),
    written_rows: String(done.writtenRows),
    written_bytes: String(done.writtenBytes),
    total_rows_to_read: '0',
    result_rows: String(done.writtenRows || done.readRows),
    result_bytes: '0',
    elapsed_ns: String(done.elapsedNs),
  })
}

const json = 'application/json; charset=UTF-8'
const lines = 'application/x-ndjson; charset=UTF-8'
const tabs = 'text/tab-separated-values; charset=UTF-8'
const bytes = 'application/octet-stream'
export const contentTypes: Readonly<Record<string, string>> = {
  JSON: json,
  JSONCompact: json,
  JSONStrings: json,
  JSONEachRow: lines,
  JSONCompactEachRow: lines,
  CSV: 'text/csv; charset=UTF-8; header=absent',
  CSVWithNames: 'text/csv; charset=UTF-8; header=present',
  TabSeparated: tabs,
  TSV: tabs,
  TabSeparatedWithNames: tabs,
  TSVWithNames: tabs,
  Native: bytes,
  RowBinary: bytes,
  RowBinaryWithNamesAndTypes: bytes,
  Parquet: bytes,
  Arrow: bytes,
  ArrowStream: bytes,
}
