import type { ClickhouseAccess } from '../../config/clickhouse.ts'
import { connectClickhouse } from '../client.ts'

/** A drop waits for the consumers of the database's Kafka tables to leave. */
const DEADLINE_MS = 150_000

/** Ends a test's database, so that its Kafka tables do not go on reading beside the tests that come after. */
export async function dropDatabase(access: ClickhouseAccess, name: string): Promise<void> {
  const server = connectClickhouse({ ...access, deadlineMs: DEADLINE_MS })
  await server.run(`DROP DATABASE IF EXISTS ${name}`)
  await server.close()
}
