import { ClickHouseLogLevel, createClient, type ResponseJSON } from '@clickhouse/client'
import type { ClickhouseAccess } from '../config/clickhouse.ts'

export interface ClickhouseOptions extends ClickhouseAccess {
  /** Left out: the server's default one. */
  readonly database?: string
  /** Of each request, its answer included. */
  readonly deadlineMs?: number
}

export type Parameters = Readonly<Record<string, string | number | boolean | readonly string[] | readonly number[]>>

/** It has not answered, to the last byte, within the deadline. */
export class LateError extends Error {
  readonly code = 'late'
}

/** ClickHouse for our own services: rows in, rows out, each request with a deadline: `LateError`. Other errors are the client's own. */
export interface Clickhouse {
  /** All rows of a query; times come as ISO texts, 64-bit integers as numbers. Bind values with `{name:Type}`. */
  rows<Row>(query: string, parameters?: Parameters): Promise<Row[]>
  /** As `rows`, in a document that says what was read for them: the same on a server and on one machine. */
  document<Row>(query: string, parameters?: Parameters): Promise<ResponseJSON<Row>>
  /** Runs a statement that gives no rows. */
  run(statement: string, parameters?: Parameters): Promise<void>
  insert(table: string, rows: readonly object[]): Promise<void>
  /** Whether it answers; never throws. */
  ping(): Promise<boolean>
  close(): Promise<void>
}

const DEADLINE_MS = 30_000
/** Of a statement that an error names, characters. */
const NAMED_MAX = 120
const CONNECTIONS_MAX = 16
/** The client's own timeout counts silence only, and does not say what was asked: it comes behind the deadline. */
const SILENCE_MS = 1_000

export function connectClickhouse(options: ClickhouseOptions): Clickhouse {
  const { url, user, password, database, deadlineMs = DEADLINE_MS } = options
  const client = createClient({
    url,
    username: user,
    password,
    ...(database === undefined ? {} : { database }),
    request_timeout: deadlineMs + SILENCE_MS,
    max_open_connections: CONNECTIONS_MAX,
    // The socket of an idle connection is given up before the server does (30 s), so that no request meets a closed one.
    keep_alive: { enabled: true, idle_socket_ttl: 2500 },
    clickhouse_settings: { date_time_output_format: 'iso' },
    // Its errors reach the caller, who logs them; on its own it writes to the console.
    log: { level: ClickHouseLogLevel.OFF },
  })
  const within = async <Answer>(what: string, ask: (abort_signal: AbortSignal) => Promise<Answer>): Promise<Answer> => {
    const deadline = AbortSignal.timeout(deadlineMs)
    try {
      return await ask(deadline)
    } catch (error) {
      if (!deadline.aborted) throw error
      throw new LateError(`ClickHouse did not answer in ${deadlineMs} ms: ${shortened(what)}`, { cause: error })
    }
  }
  const rows = <Row>(query: string, query_params: Parameters = {}): Promise<Row[]> =>
    within(query, async (abort_signal) => {
      const result = await client.query({ query, query_params, format: 'JSONEachRow', abort_signal })
      return whole(result, () => result.json<Row>(), abort_signal)
    })
  return {
    rows,
    document<Row>(query: string, query_params: Parameters = {}) {
      return within(query, async (abort_signal) => {
        const result = await client.query({ query, query_params, format: 'JSON', abort_signal })
        return whole(result, () => result.json<Row>(), abort_signal)
      })
    },
    async run(query, parameters = {}) {
      await within(query, (abort_signal) => client.command({ query, query_params: parameters, abort_signal }))
    },
    async insert(table, rows) {
      const format = 'JSONEachRow'
      await within(`INSERT INTO ${table}`, (abort_signal) =>
        client.insert({ table, values: rows, format, abort_signal }),
      )
    },
    ping: () =>
      rows('SELECT 1').then(
        () => true,
        () => false,
      ),
    close: () => client.close(),
  }
}

/** Reads an answer to its end within the deadline, which the client itself looks at until the answer's head has come. */
async function whole<Answer>(
  result: { close(): void },
  read: () => Promise<Answer>,
  deadline: AbortSignal,
): Promise<Answer> {
  const close = (): void => result.close()
  deadline.addEventListener('abort', close)
  try {
    return await read()
  } finally {
    deadline.removeEventListener('abort', close)
  }
}

function shortened(statement: string): string {
  const line = statement.replace(/\s+/g, ' ').trim()
  return line.length > NAMED_MAX ? `${line.slice(0, NAMED_MAX)} ...` : line
}
