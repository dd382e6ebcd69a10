import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import type { ClickhouseAccess } from '../../config/clickhouse.ts'
import { startBroker } from '../broker.ts'
import type { Child } from '../child.ts'
import { startClickhouse } from '../clickhouse/start.ts'
import { startRegistry } from '../registry.ts'

const PASSWORD = 'of-the-tests'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The real parts that tests share; each test isolates itself by namespace, subjects and database. */
    readonly parts: {
      readonly brokers: readonly string[]
      readonly registryUrl: string
      /** As the user that may write. */
      readonly clickhouse: ClickhouseAccess
    }
  }
}

/** In life it is 7 days: what outlives this outlives that. */
const FORGETS_AFTER_MS = 10_000

/** The topics of all tests are there at once: some thousand partitions, which fill 230 MB at the end of a run. */
const HEAP_MB = 768

/** Starts broker, registry and ClickHouse once per test run, on free ports in a folder that goes with the run. */
export default async function startParts(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'test-parts-'))
  const common = (name: string) => ({
    dataDir: join(dataDir, name),
    port: 0,
    logFile: join(dataDir, `${name}.log`),
    onProgress: (line: string) => console.log(line),
  })
  const started = await Promise.allSettled([
    startBroker({ ...common('kafka'), forgetsAfterMs: FORGETS_AFTER_MS, heapMb: HEAP_MB }),
    startRegistry(common('registry')),
    startClickhouse({ ...common('clickhouse'), env: { CLICKHOUSE_PASSWORD: PASSWORD } }),
  ])
  const children = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const stop = async (): Promise<void> => {
    await Promise.all(children.map((child) => child.stop()))
    await rm(dataDir, { recursive: true, force: true })
  }
  const failed = started.find((result) => result.status === 'rejected')
  if (failed !== undefined) {
    await Promise.all(children.map((child) => child.stop())) // the logs stay: the error names one
    throw failed.reason
  }
  const [broker, registry, clickhouse] = children as [Child, Child, Child]
  const access = { url: clickhouse.url, user: 'default', password: PASSWORD }
  project.provide('parts', { brokers: [broker.url], registryUrl: registry.url, clickhouse: access })
  return stop
}
