import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startChild, type Child } from '../infra/local/child.ts'
import { readRunFile, type RunFile } from '../infra/local/run-file.ts'
import { programFile } from '../infra/local/system.ts'

/** Long enough for the first download of the broker and the registry on a slow line. */
const READY_MS = 20 * 60_000
/** Its parts end one after the other, each with a limit of its own. */
const STOP_MS = 180_000

/** For `startOwnSystem`: nothing of the past is read back, which takes minutes of a core. */
export const withoutPast = { BACKFILL_DAYS: '0', BACKFILL_MINUTE_DAYS: '0' } as const

/** A whole system of our own on free ports, in a folder that goes when it is disposed of. */
export interface OwnSystem {
  readonly data: string
  readonly logFile: string
  /** What runs now; a part that was restarted has another pid. */
  run(): RunFile
  /** Stops it cleanly and keeps the folder: `again` starts it on the same data. */
  stop(): Promise<void>
  again(): Promise<void>
  dispose(): Promise<void>
}

/** Starts `npm start`'s program with `flags`, and with `env` beside our own, as a process of its own; on `data` where it is given. */
export async function startOwnSystem(
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
  data = mkdtempSync(path.join(tmpdir(), 'system-')),
): Promise<OwnSystem> {
  const logFile = path.join(data, 'start.log')
  const start = (): Promise<Child> =>
    startChild({
      name: 'system',
      command: [process.execPath, programFile('scripts/start.ts'), '--ports', 'auto', '--data', data, ...flags],
      env,
      logFile,
      ready: 'message',
      readyWithinMs: READY_MS,
      stopWithinMs: STOP_MS,
    })
  let child: Child | undefined = await start()
  const stop = async (): Promise<void> => {
    await child?.stop()
    child = undefined
  }
  return {
    data,
    logFile,
    run: () => {
      const run = readRunFile(data)
      if (run === undefined) throw new Error(`nothing runs on ${data}; see ${logFile}`)
      return run
    },
    stop,
    again: async () => {
      child = await start()
    },
    dispose: async () => {
      await stop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}
