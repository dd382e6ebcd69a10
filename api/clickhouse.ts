import { createClient, ClickHouseError, type ClickHouseClient } from '@clickhouse/client'
import type { Metrics } from './metrics.ts'
import { DatabaseError, type Database } from './views/database.ts'

export interface DatabaseOptions {
  readonly url: string
  readonly user: string
  readonly password: string
  readonly database: string
}

/** A view that takes longer is given up, milliseconds. */
const DEADLINE_MS = 5_000
/** Queries that are run at once; more wait. */
const CONNECTIONS_MAX = 8

/** The view port over ClickHouse, with a deadline here and on the server. */
export function openDatabase(options: DatabaseOptions, metrics: Metrics): Database & { close(): Promise<void> } {
  const client = createClient({
    url: options.url,
    username: options.user,
    password: options.password,
    database: options.database,
    application: 'market-data-alerts-api',
    request_timeout: DEADLINE_MS,
    max_open_connections: CONNECTIONS_MAX,
  })
  return {
    async query(sql, params) {
      const done = metrics.querySeconds.startTimer()
      try {
        return await rowsOf(client, sql, params)
      } catch (error) {
        throw new DatabaseError(reasonOf(error), error)
      } finally {
        done()
      }
    },
    close: () => client.close(),
  }
}

async function rowsOf(
  client: ClickHouseClient,
  sql: string,
  params: Readonly<Record<string, unknown>>,
): Promise<unknown[]> {
  const result = await client.query({
    query: sql,
    query_params: { ...params },
    format: 'JSONEachRow',
    clickhouse_settings: { max_execution_time: DEADLINE_MS / 1000 },
  })
  return result.json()
}

/** 159: the server's own deadline; 202, 203: too many queries at once. */
function reasonOf(error: unknown): DatabaseError['code'] {
  if (error instanceof ClickHouseError) return ['159', '202', '203'].includes(error.code) ? 'late' : 'refused'
  return error instanceof Error && /timeout/i.test(error.message) ? 'late' : 'unreachable'
}
