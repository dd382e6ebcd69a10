import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { clickhouseEnv } from '../../../infra/config/clickhouse.ts'
import { startChild, type Child } from '../../../infra/local/child.ts'
import type { BenchParts } from '../../figure.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The command that runs a program of this checkout. */
export const program = (file: string): [string, string] => [process.execPath, path.join(root, file)]

/** Where a bench's own API reads: topics and tables that are made and empty. */
export interface BenchEnvironment {
  readonly namespace: string
  readonly database: string
  /** Settings of the services that work on it. */
  readonly env: Readonly<Record<string, string>>
}

/** Makes topics and a database of their own for an API with these symbols, which limits nobody. */
export async function prepareApi(
  { brokers, registryUrl, clickhouse }: BenchParts,
  { name, partitions, symbols }: { name: string; partitions: number; symbols: readonly string[] },
): Promise<BenchEnvironment> {
  const id = randomUUID().slice(0, 8)
  const namespace = `bench-${name}-${id}.`
  const database = `bench_${name}_${id}`
  const env = {
    MODE: 'demo',
    NAMESPACE: namespace,
    PARTITIONS: String(partitions),
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    ...clickhouseEnv(clickhouse),
    CLICKHOUSE_DATABASE: database,
    API_PORT: '0',
    SERVICE_SECRET: 'the-secret-of-a-bench-that-is-long-enough',
    SYMBOLS: symbols.join(','),
    // In the path, as in service, but out of the way.
    RATE_LIMIT_PER_SECOND: '1000000000',
    RATE_LIMIT_BURST: '1000000000',
  }
  await promisify(execFile)(...prepareCommand(), { env: { ...process.env, ...env } })
  return { namespace, database, env }
}

function prepareCommand(): [string, string[]] {
  const [node, file] = program('infra/prepare.ts')
  return [node, [file]]
}

/** Starts a server of ours; its log goes to `folder`. */
export function startServer(
  name: string,
  command: [string, ...string[]],
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<Child> {
  return startChild({
    name,
    command,
    env: { LOG_FORMAT: 'json', ...env },
    logFile: path.join(folder, `${name}.log`),
    ready: 'message',
    readyWithinMs: 15_000,
    stopWithinMs: 5_000,
  })
}
