import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { code, QueryError } from './errors.ts'
import { insertSource, literal, quoted, type InsertSource } from './statement.ts'
import { authenticate, isReader, readerSettings, type User } from './users.ts'
import { lz4Decoder } from './lz4.ts'

/** Encodings that an answer may have, the first that the client takes is used. */
const ENCODINGS = ['zstd', 'gzip', 'br', 'lz4'] as const
/** Longest text of a statement, without an INSERT's data. */
const STATEMENT_BYTES_MAX = 4 << 20

export type Encoding = (typeof ENCODINGS)[number]

/** What the URL and the headers of one request say. */
export interface Ask {
  readonly queryId: string
  /** The query id with something nobody can guess: by this a statement is told to end, and no other one. */
  readonly tag: string
  readonly user: User
  readonly database: string | undefined
  /** Used where the statement names no format. */
  readonly format: string
  /** Settings and `param_*`, as sent. */
  readonly settings: ReadonlyMap<string, string>
  readonly session: { readonly id: string; readonly timeoutSeconds: number } | undefined
  readonly waitForEnd: boolean
  readonly encoding: Encoding | undefined
  /** The statement, or its beginning, as far as it stands in the URL. */
  readonly urlQuery: string
}

const SESSION_SECONDS = 60

/** Parameters of the HTTP interface that are no settings. */
const ownParameters = new Set(
  (
    'query query_id database default_format user password quota_key role stacktrace session_id session_timeout ' +
    'session_check close_session client_protocol_version compress decompress wait_end_of_query buffer_size'
  ).split(' '),
)

/** Reads everything but the body. Throws `QueryError`: who asks is not let in, or asks for what is not served. */
export function readAsk(request: IncomingMessage, users: readonly User[]): Ask {
  const { headers } = request
  const url = new URL(request.url ?? '/', 'http://localhost').searchParams
  const user = authenticate(users, headers, url)
  if (url.get('compress') === '1' || url.get('decompress') === '1')
    unserved('native block compression (compress=1, decompress=1)')
  if (headers['content-type']?.startsWith('multipart/form-data') === true) unserved('multipart/form-data')
  const sessionId = url.get('session_id')
  const queryId = url.get('query_id') ?? randomUUID()
  return {
    queryId,
    tag: `${queryId} ${randomUUID()}`,
    user,
    database: header(headers['x-clickhouse-database']) ?? url.get('database') ?? undefined,
    format: header(headers['x-clickhouse-format']) ?? url.get('default_format') ?? 'TabSeparated',
    settings: settingsOf(url, request.method === 'GET' || request.method === 'HEAD'),
    session:
      sessionId === null
        ? undefined
        : { id: sessionId, timeoutSeconds: Number(url.get('session_timeout') ?? SESSION_SECONDS) || SESSION_SECONDS },
    waitForEnd: url.get('wait_end_of_query') === '1',
    encoding: url.get('enable_http_compression') === '1' ? accepted(headers['accept-encoding']) : undefined,
    urlQuery: url.get('query') ?? '',
  }
}

/** A GET changes nothing, as on the server. */
function settingsOf(url: URLSearchParams, readsOnly: boolean): Map<string, string> {
  const settings = new Map<string, string>()
  for (const [name, value] of url) {
    if (ownParameters.has(name)) continue
    if (!/^[A-Za-z_]\w*$/.test(name))
      throw new QueryError(code.unknownSetting, `Unknown setting ${JSON.stringify(name)}. (UNKNOWN_SETTING)`)
    settings.set(name, value)
  }
  if (readsOnly && !(Number(settings.get('readonly')) > 0)) settings.set('readonly', '2')
  return settings
}

function accepted(header: string | string[] | undefined): Encoding | undefined {
  const names = new Set(
    String(header ?? '')
      .split(',')
      .map((item) => item.trim().split(';')[0]),
  )
  return ENCODINGS.find((name) => names.has(name))
}

function header(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

function unserved(what: string): never {
  throw new QueryError(code.notImplemented, `${what} is not served here. (NOT_IMPLEMENTED)`)
}

/**
 * Statements that give a connection its database, settings and parameters; the tag by which it can be killed comes
 * last, so that nobody can ask for another one.
 */
export function preamble(ask: Ask): string {
  const settings = new Map(isReader(ask.user) ? readerSettings(ask.settings) : ask.settings)
  const readonly = isReader(ask.user) ? '1' : settings.get('readonly')
  settings.delete('readonly')
  settings.set('implicit_select', '0').set('log_comment', ask.tag)
  const assignments = [...settings].map(([name, value]) => `${name} = ${literal(value)}`)
  const use = ask.database === undefined ? '' : `USE ${quoted(ask.database)};`
  // In a statement of its own: under readonly nothing can be set any more.
  return `${use}SET ${assignments.join(', ')};${readonly === undefined ? '' : `SET readonly = ${literal(readonly)};`}`
}

/** One statement with the data that follow it. */
export interface Statement {
  readonly sql: string
  /** Undefined: no INSERT. */
  readonly source: InsertSource | undefined
  /** Rows of an INSERT. */
  readonly data: Body
}

/** Finds where the statement ends and an INSERT's data begin, in the URL or in the body. */
export async function readStatement(urlQuery: string, body: Body): Promise<Statement> {
  if (urlQuery.trim() === '') return fromBody(body)
  const source = insertSource(urlQuery)
  if (source === undefined || source.from === 'select') {
    const more = await readText(body)
    return { sql: more === '' ? urlQuery : `${urlQuery}\n${more}`, source, data: body }
  }
  if (source.from === 'data' && urlQuery.slice(source.dataStart).trim() !== '')
    return { sql: urlQuery, source, data: prefixed(urlQuery.slice(source.dataStart), body) }
  return { sql: urlQuery, source, data: body }
}

async function fromBody(body: Body): Promise<Statement> {
  let found: InsertSource | undefined
  const { head } = await body.peek((bytes) => {
    const text = bytes.toString('latin1')
    found = mayInsert.test(text) ? insertSource(text) : undefined
    return found?.from === 'data' && bytes.length > found.dataStart
  })
  if (found?.from !== 'data') {
    const sql = await readText(body)
    if (sql.trim() === '') throw new QueryError(code.syntaxError, 'Empty query. (SYNTAX_ERROR)')
    return { sql, source: insertSource(sql), data: body }
  }
  const end = found.dataStart
  body.skip(end + (/^[ \t]*\r?\n|^ /.exec(head.toString('latin1', end, end + 64))?.[0].length ?? 0))
  // Byte offsets are those of the latin1 text; the statement's own text is UTF-8.
  const sql = head.toString('utf8', 0, end)
  return { sql, source: insertSource(sql), data: body }
}

const mayInsert = /^(\s|--.*\n|\/\*[^]*?\*\/)*insert\s/i

function prefixed(text: string, body: Body): Body {
  const head = Buffer.from(text.replace(/^[ \t]*\r?\n|^ /, ''))
  return {
    ...body,
    peek: async (enough) => {
      const more = await body.peek((bytes) => enough(Buffer.concat([head, bytes])))
      return { head: Buffer.concat([head, more.head]), ended: more.ended }
    },
    async *rest() {
      yield head
      yield* body.rest()
    },
  }
}

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
async function readText(body: Body): Promise<string> {
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
