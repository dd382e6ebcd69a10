import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { QueryError } from './errors.ts'
import { literal } from './statement.ts'

type Handle = object | number

interface RawResult {
  readonly bytes: Uint8Array
  /** Seconds. */
  readonly elapsed: number
  readonly rowsRead: number
  readonly bytesRead: number
}

/** The addon's own functions: the package's public API can neither insert every format nor classify a statement. */
interface Native {
  EngineVersion(): string
  CreateConnection(path: string, args?: readonly string[]): Handle | null
  CloseConnection(handle: Handle): void
  QueryAsyncConnection(handle: Handle, sql: string, format: string): Promise<RawResult>
  InsertRawAsyncConnection(
    handle: Handle,
    sql: string,
    data: Buffer,
    countLines: boolean,
  ): Promise<{ rowsWritten: number; bytesWritten: number; elapsed: number }>
  DurableClassifyAsync(handle: Handle, sql: string, database: string): Promise<Classified>
}

/** What the engine's parser says of a text, without running it. */
export interface Classified {
  readonly statementCount: number
  /** 0 reads only, 1 and 2 change data, 3 controls (SET, USE, KILL, SYSTEM, OUTFILE), 4 not known. */
  readonly queryClass: number
}

/** What a finished statement did. */
export interface Done {
  readonly bytes: Uint8Array
  readonly elapsedNs: number
  readonly readRows: number
  readonly readBytes: number
  readonly writtenRows: number
  readonly writtenBytes: number
}

/** One connection of the engine: one statement at a time, with its own settings, session and parameters. */
export interface Connection {
  /** Runs one or more statements; rows come as bytes of `format` (`Null`: none). Throws `QueryError`. */
  run(sql: string, format?: string): Promise<Done>
  /** Inserts `data` whole; `sql` ends with the format's name. */
  insert(sql: string, data: Buffer): Promise<Done>
  classify(sql: string, database: string): Promise<Classified>
  close(): void
}

export interface Engine {
  readonly version: string
  readonly timezone: string
  /** Names of all its table functions. */
  readonly tableFunctions: readonly string[]
  connect(): Connection
  /** Asks the engine to end the statement that runs under `log_comment` = `tag`; resolves when it is told. */
  kill(tag: string): Promise<void>
  /** Tells every running statement to end. */
  killAll(): Promise<void>
  close(): void
}

/** The engine's release, without opening any data. */
export function engineVersion(): string {
  return loadNative().EngineVersion()
}

/** Opens the data folder; one process owns it. Throws an error that says what stands in the way. */
export async function openEngine(dataDir: string, configFile: string): Promise<Engine> {
  const native = loadNative()
  const root = open(native, dataDir, [`--config-file=${configFile}`])
  const connect = (): Connection => connection(native, open(native, dataDir))
  const main = connection(native, root)
  const answer = await main.run('SELECT version(), timezone()', 'TabSeparated')
  const [version = '', timezone = ''] = Buffer.from(answer.bytes).toString().trim().split('\t')
  const names = await main.run('SELECT name FROM system.table_functions', 'TabSeparated')
  const once = async (sql: string): Promise<void> => {
    const own = connect()
    await own.run(sql).finally(() => own.close())
  }
  return {
    version,
    timezone,
    tableFunctions: Buffer.from(names.bytes).toString().trim().split('\n'),
    connect,
    // Never SYNC: the engine keeps an ended query in its list until its connection closes, so SYNC never returns.
    kill: (tag) => once(`KILL QUERY WHERE Settings['log_comment'] = ${literal(tag)} ASYNC`),
    killAll: () => once('KILL QUERY WHERE query_id != queryID() ASYNC'),
    close: () => main.close(),
  }
}

function connection(native: Native, handle: Handle): Connection {
  let closed = false
  return {
    run: (sql, format = 'Null') => native.QueryAsyncConnection(handle, sql, format).then(read, refuse),
    insert: (sql, data) =>
      native.InsertRawAsyncConnection(handle, sql, data, false).then(
        (raw) => ({
          bytes: new Uint8Array(),
          elapsedNs: Math.round(raw.elapsed * 1e9),
          readRows: 0,
          readBytes: 0,
          writtenRows: raw.rowsWritten,
          writtenBytes: raw.bytesWritten,
        }),
        refuse,
      ),
    classify: (sql, database) => native.DurableClassifyAsync(handle, sql, database).catch(refuse),
    close: () => {
      if (!closed) native.CloseConnection(handle)
      closed = true
    },
  }
}

function read(raw: RawResult): Done {
  const { bytes, elapsed, rowsRead, bytesRead } = raw
  return {
    bytes,
    elapsedNs: Math.round(elapsed * 1e9),
    readRows: rowsRead,
    readBytes: bytesRead,
    writtenRows: 0,
    writtenBytes: 0,
  }
}

function refuse(error: unknown): never {
  throw QueryError.from(error)
}

function open(native: Native, dataDir: string, args?: readonly string[]): Handle {
  try {
    const handle = args === undefined ? native.CreateConnection(dataDir) : native.CreateConnection(dataDir, args)
    if (handle !== null) return handle
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot open the ClickHouse data folder ${dataDir}; the engine’s reason stands above: ${text}`, {
      cause: error,
    })
  }
  throw new Error(`cannot open the ClickHouse data folder ${dataDir}: the engine gave no connection`)
}

function loadNative(): Native {
  const require = createRequire(import.meta.url)
  const loader = require(join(dirname(require.resolve('chdb/package.json')), 'dist/loader.js')) as {
    loadNative(): Native
  }
  return loader.loadNative()
}
