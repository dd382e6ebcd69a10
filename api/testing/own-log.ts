import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { dropDatabase } from '../../infra/clickhouse/testing/database.ts'
import { clickhouseEnv } from '../../infra/config/clickhouse.ts'
import { loadCodec, type RegistryCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import type { Log } from '../../infra/kafka/seam.ts'
import type { Child } from '../../infra/local/child.ts'
import { startService } from './real-calls.ts'

/** Topics and tables of one test file, on the parts that all of them share. */
export interface OwnLog {
  readonly folder: string
  readonly log: Log
  readonly codec: RegistryCodec
  /** Starts one of our services; its log goes to `folder`. */
  start(name: string, main: 'api' | 'processors'): Promise<Child>
  /** Stops what runs on it, and takes all of it away. */
  close(...services: readonly (Child | undefined)[]): Promise<void>
}

export const PARTITIONS = 2

const mains = { api: '../main.ts', processors: '../../processors/main.ts' }

/** Prepares them, with these processors to be started. */
export async function ownLog(name: string, processors: string): Promise<OwnLog> {
  const { brokers, registryUrl, clickhouse } = inject('parts')
  const id = randomUUID().slice(0, 8)
  const [namespace, database] = [`${name}-${id}.`, `${name}_${id}`]
  const folder = mkdtempSync(path.join(tmpdir(), `api-${name}-`))
  const env = {
    MODE: 'live',
    NAMESPACE: namespace,
    PARTITIONS: String(PARTITIONS),
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    ...clickhouseEnv(clickhouse),
    CLICKHOUSE_DATABASE: database,
    PROCESSORS: processors,
    OPS_PORT: '0',
    API_PORT: '0',
    RATE_LIMIT_PER_SECOND: '0',
    SERVICE_SECRET: 'a-secret-of-the-tests-that-is-long-enough',
    LOG_FORMAT: 'json',
  }
  const prepare = fileURLToPath(new URL('../../infra/prepare.ts', import.meta.url))
  await promisify(execFile)(process.execPath, [prepare], { env: { ...process.env, ...env } })
  const log = await connectLog({ brokers, namespace, clientId: `${name}-test` })
  return {
    folder,
    log,
    codec: await loadCodec(registryUrl),
    start: (service, main) => startService({ folder, env }, service, mains[main]),
    async close(...services) {
      await Promise.all(services.map(async (child) => child?.stop()))
      await dropDatabase(clickhouse, database)
      await log.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
