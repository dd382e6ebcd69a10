import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { nodeProgram, startChild, type Child } from '../child.ts'

export interface ClickhouseOptions {
  /** Made when missing; one process owns it. */
  readonly dataDir: string
  /** 0: any free one. */
  readonly port: number
  readonly logFile: string
  /** CLICKHOUSE_PASSWORD or CLICKHOUSE_PASSWORD_FILE, without which it does not start, and further settings. */
  readonly env: Readonly<Record<string, string>>
}

/** Starts the local ClickHouse; its `url` is the HTTP interface on loopback. */
export function startClickhouse({ dataDir, port, logFile, env }: ClickhouseOptions): Promise<Child> {
  mkdirSync(dataDir, { recursive: true })
  return startChild({
    name: 'clickhouse',
    command: nodeProgram(fileURLToPath(new URL('main.ts', import.meta.url))),
    env: {
      LOG_FORMAT: 'json',
      ...env,
      DATA_DIR: dataDir,
      CLICKHOUSE_PORT: String(port),
      // Each statement holds a thread of Node's pool, so does each compression; the default of 4 would starve them.
      UV_THREADPOOL_SIZE: '64',
      // Each of its 100 threads keeps what it has freed, by itself blocks of up to 32 KB.
      JE_MALLOC_CONF: 'tcache_max:1024',
    },
    logFile,
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 12_000,
  })
}
