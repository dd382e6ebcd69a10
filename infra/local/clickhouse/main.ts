import { resolve } from 'node:path'
import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { clickhousePassword, clickhousePasswordSettings } from '../../config/clickhouse.ts'
import { ConfigError, readConfig, type Config } from '../../config/config.ts'
import { listen } from '../../http/ops.ts'
import { runService, sayReady } from '../../lifecycle.ts'
import type { Logger } from '../../log.ts'
import { Admission } from './admission.ts'
import { checkVersion, writeConfig, writeVersion } from './config-files.ts'
import { watchDisk } from './disk.ts'
import { engineVersion, openEngine } from './engine.ts'
import { createMetrics, createHttp } from './server.ts'
import { Pipes } from './pipes.ts'
import type { Parts } from './run.ts'
import { Sessions } from './sessions.ts'
import { reachingCalls, type User } from './users.ts'

const RUNNING_MAX = 16
const WAITING_MAX = 200
const WAIT_MS_MAX = 30_000
const DISK = { lowBytes: 256 << 20, ballastBytes: 32 << 20, everyMs: 5000 }
/** Running statements may end by themselves for so long, then they are told to. */
const DRAIN_MS = 4000
const KILL_MS = 4000
const PURGE_EVERY_MS = 60_000

/** Loopback only: the server trusts whoever knows a password and has no TLS. */
const HOST = '127.0.0.1'

const names = ['DATA_DIR', 'CLICKHOUSE_PORT', ...clickhousePasswordSettings, 'CLICKHOUSE_ANALYST_PASSWORD'] as const

await runService({
  name: 'clickhouse',
  description: 'ClickHouse’s engine behind its HTTP interface, on loopback, over one data folder.',
  settings: [...names, 'LOG_LEVEL', 'LOG_FORMAT'],
  async start(log) {
    const config = readConfig(process.env, names)
    const users = usersOf(config)
    const dataDir = resolve(config.DATA_DIR)
    checkVersion(dataDir, engineVersion())
    const configFile = writeConfig(dataDir)
    const engine = await openEngine(resolve(dataDir, 'engine'), configFile)
    writeVersion(dataDir, engine.version)
    const admission = new Admission({ running: RUNNING_MAX, waiting: WAITING_MAX, waitMs: WAIT_MS_MAX })
    const parts: Parts = {
      engine,
      users,
      reaching: reachingCalls(engine.tableFunctions),
      admission,
      sessions: new Sessions(() => engine.connect()),
      pipes: new Pipes(RUNNING_MAX * 2),
      disk: await watchDisk(dataDir, DISK, log),
    }
    const server = createHttp(parts, createMetrics(admission, parts.sessions, parts.disk), log)
    const port = await listen(server, HOST, config.CLICKHOUSE_PORT)
    const purge = setInterval(() => void giveMemoryBack(parts, log), PURGE_EVERY_MS)
    log.info({ port, engine: engine.version, dataDir }, 'serving')
    sayReady(`http://${HOST}:${port}`)
    return () => stop(server, parts, purge, log)
  },
})

/** `default` may write, so nobody guesses its password; `analyst` may only read. */
function usersOf(config: Config<(typeof names)[number]>): User[] {
  const password = clickhousePassword(config)
  if (password === '') throw new ConfigError('CLICKHOUSE_PASSWORD is not set: give it or CLICKHOUSE_PASSWORD_FILE')
  const analyst = config.CLICKHOUSE_ANALYST_PASSWORD
  return [
    { name: 'default', password },
    { name: 'analyst', password: analyst },
  ]
}

/** When nothing runs, freed memory goes back to the system. */
async function giveMemoryBack({ engine, admission }: Parts, log: Logger): Promise<void> {
  if (admission.running > 0) return
  const connection = engine.connect()
  await connection
    .run('SYSTEM JEMALLOC PURGE')
    .catch((error: unknown) => log.warn({ err: error }, 'memory was not given back'))
  connection.close()
}

/**
 * Closing the engine while a statement runs would hang for ever, so: no new requests, a time to finish, then every
 * statement is told to end. What does not end even then is cut off hard, which the data folder survives.
 */
async function stop(server: Server, parts: Parts, purge: NodeJS.Timeout, log: Logger): Promise<void> {
  clearInterval(purge)
  parts.disk.stop()
  server.close()
  server.closeIdleConnections()
  if (!(await idle(parts, DRAIN_MS))) {
    await parts.engine.killAll()
    if (!(await idle(parts, KILL_MS))) {
      log.error({ running: parts.admission.running }, 'statements do not end, exiting hard')
      process.kill(process.pid, 'SIGKILL')
    }
  }
  server.closeAllConnections()
  parts.sessions.close()
  parts.engine.close()
  parts.pipes.close()
}

async function idle({ admission }: Parts, withinMs: number): Promise<boolean> {
  const deadline = AbortSignal.timeout(withinMs)
  while (admission.running > 0 && !deadline.aborted) await delay(20)
  return admission.running === 0
}
