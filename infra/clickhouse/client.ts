import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client'
import type { ClickhouseAccess } from '../config/clickhouse.ts'

export interface ClickhouseOptions extends ClickhouseAccess {
  /** Left out: the server's default one. */
  readonly database?: string
  /** Of each request, its answer included. */
  readonly deadlineMs?: number
}

export type Parameters = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** ClickHouse for our own services: rows in, rows out, each request with a deadline. Errors are the client's own. */
export interface Clickhouse {
  /** All rows of a query; times come as ISO texts, 64-bit integers as numbers. Bind values with `{name:Type}`. */
  rows<Row>(query: string, parameters?: Parameters): Promise<Row[]>
  /** Runs a statement that gives no rows. */
  run(statement: string, parameters?: Parameters): Promise<void>
  insert(table: string, rows: readonly object[]): Promise<void>
  /** Whether it answers; never throws. */
  ping(): Promise<boolean>
  /** The client itself, for streams. */
  readonly client: ClickHouseClient
  close(): Promise<void>
}

const DEADLINE_MS = 30_000
const CONNECTIONS_MAX = 16

export function connectClickhouse(options: ClickhouseOptions): Clickhouse {
  const { url, user, password, database, deadlineMs = DEADLINE_MS } = options
  const client = createClient({
    url,
    username: user,
    password,
    ...(database === undefined ? {} : { database }),
    request_timeout: deadlineMs,
    max_open_connections: CONNECTIONS_MAX,
    // The socket of an idle connection is given up before the server does (30 s), so that no request meets a closed one.
    keep_alive: { enabled: true, idle_socket_ttl: 2500 },
    clickhouse_settings: { date_time_output_format: 'iso' },
    // Its errors reach the caller, who logs them; on its own it writes to the console.
    log: { level: ClickHouseLogLevel.OFF },
  })
  /** The client's own timeout counts silence only; this one counts from the start. */
  const deadline = (): AbortSignal => AbortSignal.timeout(deadlineMs)
  return {
    client,
    async rows<Row>(query: string, parameters: Parameters = {}) {
      const result = await client.query({
        query,
        query_params: parameters,
        format: 'JSONEachRow',
        abort_signal: deadline(),
      })
      return result.json<Row>()
    },
    async run(query, parameters = {}) {
      await client.command({ query, query_params: parameters, abort_signal: deadline() })
    },
    async insert(table, rows) {
      await client.insert({ table, values: rows, format: 'JSONEachRow', abort_signal: deadline() })
    },
    async ping() {
      const answer = await client.ping({ select: true, abort_signal: deadline() })
      return answer.success
    },
    close: () => client.close(),
  }
}
