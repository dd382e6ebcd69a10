import { ClickHouseError } from '@clickhouse/client'
import { connectClickhouse, LateError } from '../../infra/clickhouse/client.ts'
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
        const { data, statistics } = await clickhouse.document(`${sql} ${SETTINGS}`, params)
        metrics.queryRows.inc(statistics?.rows_read ?? 0)
        metrics.queryBytes.inc(statistics?.bytes_read ?? 0)
        return data
      } catch (error) {
        throw new DatabaseError(reasonOf(error), error)
      } finally {
        done()
      }
    },
    close: () => clickhouse.close(),
  }
}

/** 159: the server's own deadline; 202, 203: too many queries at once. */
function reasonOf(error: unknown): DatabaseError['code'] {
  if (error instanceof ClickHouseError) return ['159', '202', '203'].includes(error.code) ? 'late' : 'refused'
  return error instanceof LateError ? 'late' : 'unreachable'
}
