import { ClickHouseError, type ResponseJSON } from '@clickhouse/client'
import { connectClickhouse, type Clickhouse } from '../../infra/clickhouse/client.ts'
import type { Metrics } from '../metrics.ts'
import { DatabaseError, type Database } from './database.ts'

export interface DatabaseOptions {
  readonly url: string
  readonly user: string
  readonly password: string
  readonly database: string
}

/** A view that takes longer is given up, here and by the server. */
const DEADLINE_MS = 5_000
/** Of thousands of rows each: to compile what they compute takes longer than it saves. */
const UNCOMPILED = 'compile_expressions = 0, compile_aggregate_expressions = 0, compile_sort_description = 0'
const SETTINGS = `SETTINGS max_execution_time = ${DEADLINE_MS / 1000}, ${UNCOMPILED}`

/** The view port over ClickHouse. */
export function openDatabase(options: DatabaseOptions, metrics: Metrics): Database & { close(): Promise<void> } {
  const clickhouse = connectClickhouse({ ...options, deadlineMs: DEADLINE_MS })
  return {
    async query(sql, params) {
      const done = metrics.querySeconds.startTimer()
      try {
        return await read(clickhouse, metrics, `${sql} ${SETTINGS}`, params)
      } catch (error) {
        throw new DatabaseError(reasonOf(error), error)
      } finally {
        done()
      }
    },
    close: () => clickhouse.close(),
  }
}

/** Rows in a document that says what was read for them: the same on a server and on one machine. */
async function read(
  { client }: Clickhouse,
  metrics: Metrics,
  query: string,
  params: Parameters<Database['query']>[1],
): Promise<readonly unknown[]> {
  const abort_signal = AbortSignal.timeout(DEADLINE_MS)
  const result = await client.query({ query, query_params: params, format: 'JSON', abort_signal })
  const { data, statistics }: ResponseJSON = await result.json()
  metrics.queryRows.inc(statistics?.rows_read ?? 0)
  metrics.queryBytes.inc(statistics?.bytes_read ?? 0)
  return data
}

/** 159: the server's own deadline; 202, 203: too many queries at once. */
function reasonOf(error: unknown): DatabaseError['code'] {
  if (error instanceof ClickHouseError) return ['159', '202', '203'].includes(error.code) ? 'late' : 'refused'
  return error instanceof Error && /timeout|abort/i.test(`${error.name} ${error.message}`) ? 'late' : 'unreachable'
}
