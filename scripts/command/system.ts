import path from 'node:path'
import { readConfig } from '../../infra/config/config.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import { LogError, type Log } from '../../infra/kafka/seam.ts'
import { readLayout } from '../../infra/kafka/setup.ts'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import type { Layout } from '../../schemas/records.ts'
import { runOf, UsageError } from './command.ts'

/** Who looks for a system that may not be there waits for no longer. */
const LOOK_MS = 10_000
const modes = ['demo', 'live', 'tape'] as const

interface Elsewhere {
  /** What else can be done where nothing runs. */
  readonly otherwise: string
  /** It matters whether its market is real: MODE must be given. */
  readonly byMode: boolean
}

/**
 * What runs on a data folder; where nothing does, what the settings name, as beside `docker compose` and on a cluster: log,
 * registry and ClickHouse. Throws `UsageError` where there is neither.
 */
export async function systemOf(data: string, { otherwise, byMode }: Elsewhere): Promise<RunFile> {
  const run = runOf(data)
  if (run !== undefined) return run
  const nothing = `nothing runs on ${data}: start it first, ${otherwise}`
  const mode = modes.find((name) => name === process.env['MODE'])
  if (byMode && mode === undefined) throw new UsageError(nothing)
  const config = readConfig(process.env, ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'CLICKHOUSE_URL'])
  const parts = [
    { name: 'broker', url: config.KAFKA_BROKERS.join(',') },
    { name: 'registry', url: config.SCHEMA_REGISTRY_URL },
    { name: 'clickhouse', url: config.CLICKHOUSE_URL },
  ]
  const found = { mode: mode ?? 'demo', data: path.resolve(data), partitions: 0, parts }
  try {
    return { ...found, partitions: (await layoutOf(found, LOOK_MS)).partitions }
  } catch (error) {
    if (!(error instanceof LogError)) throw error
    throw new UsageError(`${nothing}; of KAFKA_BROKERS: ${error.message}`)
  }
}

/** Of its log. Throws `UsageError` where nothing was prepared on it. */
export async function layoutOf(run: RunFile, connectMs?: number): Promise<Layout> {
  const log = await openLog(run, 'layout', connectMs)
  try {
    const layout = await readLayout({ log, codec: await loadCodec(urlOf(run, 'registry')) })
    if (layout !== undefined) return layout
  } finally {
    await log.close()
  }
  throw new UsageError(`nothing was prepared at ${urlOf(run, 'broker').replaceAll(',', ', ')}: start the system first`)
}

/** Its log, under NAMESPACE. */
export function openLog(run: RunFile, clientId: string, connectMs?: number): Promise<Log> {
  const { NAMESPACE: namespace } = readConfig(process.env, ['NAMESPACE'])
  return connectLog({ brokers: urlOf(run, 'broker').split(','), namespace, clientId, connectMs })
}
