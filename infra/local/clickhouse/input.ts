import type { Body } from './request.ts'
import type { Connection, Done } from './engine.ts'
import { code, QueryError } from './errors.ts'
import { drained, type InPipe, type Pipes } from './pipes.ts'
import { type InsertSource, literal } from './statement.ts'

/**
 * Bodies up to this size are inserted from memory. Larger ones go through a pipe, which must never carry less than its
 * own 64 KiB: only what does not fit proves that the engine has opened it.
 */
const IN_MEMORY_BYTES_MAX = 256 * 1024

export interface Insert {
  readonly connection: Connection
  readonly preamble: string
  readonly sql: string
  readonly source: Exclude<InsertSource, { from: 'select' }>
  /** Used where the statement names none. */
  readonly format: string
  readonly data: Body
  /** Ends the running statement, so that what came so far is not taken for all. */
  readonly kill: () => Promise<void>
}

/** Inserts a body of any format and size; a body that is cut off inserts nothing of its last block. */
export async function insert(job: Insert, pipes: Pipes): Promise<Done> {
  const format = job.source.from === 'data' ? job.source.format : job.format
  const { head, ended } = await job.data.peek((bytes) => bytes.length > IN_MEMORY_BYTES_MAX)
  if (!ended) return insertStream(job, format, pipes)
  await job.connection.run(`${job.preamble}SELECT 1`)
  if (head.length === 0) return nothing
  const values = format.toUpperCase() === 'VALUES'
  const into = `${headOf(job).trimEnd()} ${values ? 'VALUES' : `FORMAT ${format}`} `
  return job.connection.insert(into, head)
}

const nothing: Done = {
  bytes: new Uint8Array(),
  elapsedNs: 0,
  readRows: 0,
  readBytes: 0,
  writtenRows: 0,
  writtenBytes: 0,
}

/** The statement up to where its format is named. */
function headOf({ sql, source }: Insert): string {
  return source.from === 'data' ? sql.slice(0, source.headEnd) : sql.replace(/[\s;]+$/, '')
}

async function insertStream(job: Insert, format: string, pipes: Pipes): Promise<Done> {
  const pipe = pipes.in()
  try {
    const head = headOf(job)
    const at = job.source.from === 'data' ? job.source.settingsStart : undefined
    const infile = ` FROM INFILE ${literal(pipe.path)} COMPRESSION 'none' `
    const from = at === undefined ? `${head}${infile}` : `${head.slice(0, at)}${infile}${head.slice(at)}`
    const query = job.connection.run(`${job.preamble}${from} FORMAT ${format}`)
    const done = await feed(job, pipe, query)
    return { ...done, writtenRows: done.readRows, writtenBytes: done.readBytes }
  } finally {
    pipe.release()
  }
}

/** Writes the body into the pipe until it ends, or until the statement does. */
async function feed(job: Insert, { sink }: InPipe, query: Promise<Done>): Promise<Done> {
  const state = { over: false }
  const mark = (): void => void (state.over = true)
  const end = query.then(mark, mark)
  try {
    const chunks = job.data.rest()
    while (!state.over) {
      const next = await Promise.race([chunks.next(), end])
      if (next === undefined || next.done === true) break
      if (!sink.write(next.value)) await Promise.race([drained(sink), end])
    }
  } catch (error) {
    await job.kill()
    sink.destroy()
    await end
    throw new QueryError(code.aborted, `the body was cut off: ${String(error)}. (ABORTED)`, { cause: error })
  }
  // The last write is in the pipe before our end closes; the engine reads on to the end.
  if (!state.over) await Promise.race([new Promise<void>((resolve) => sink.end(resolve)), end])
  sink.destroy()
  return query
}
