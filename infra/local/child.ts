import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'

/** One process of the local system. */
export interface ChildSpec {
  readonly name: string
  /** Program and arguments; `process.execPath` for our own services. */
  readonly command: readonly [string, ...string[]]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Standard output and error are appended here. */
  readonly logFile: string
  /**
   * `message`: it sends `{ ready: url }` over IPC. Otherwise a probe that is called until it gives the URL; undefined:
   * not yet.
   */
  readonly ready: 'message' | (() => Promise<string | undefined>)
  readonly readyWithinMs: number
  /** From SIGTERM to SIGKILL. */
  readonly stopWithinMs: number
}

export interface Child {
  readonly name: string
  readonly pid: number
  readonly url: string
  readonly exited: Promise<void>
  stop(): Promise<void>
}

const PROBE_EVERY_MS = 50

/** Starts a process and resolves when it is ready; rejects with the log file's name when it is not. */
export async function startChild(spec: ChildSpec): Promise<Child> {
  const log = openSync(spec.logFile, 'a')
  const [program, ...args] = spec.command
  const stdio = spec.ready === 'message' ? (['ignore', log, log, 'ipc'] as const) : (['ignore', log, log] as const)
  const child = spawn(program, args, { stdio: [...stdio], env: { ...process.env, ...spec.env }, cwd: spec.cwd })
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  const stop = (): Promise<void> => end(child, exited, spec.stopWithinMs)
  const gone = exited.then(() => {
    throw new Error(
      `${spec.name} ended before it was ready (exit ${child.exitCode ?? child.signalCode}); see ${spec.logFile}`,
    )
  })
  try {
    const url = await Promise.race([gone, whenReady(child, spec)])
    if (child.pid === undefined) throw new Error(`${spec.name} has no process id`)
    gone.catch(() => undefined) // from here on `exited` tells; the race's loser must not count as unhandled
    return { name: spec.name, pid: child.pid, url, exited, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function whenReady(child: ChildProcess, spec: ChildSpec): Promise<string> {
  const deadline = AbortSignal.timeout(spec.readyWithinMs)
  const late = new Error(`${spec.name} was not ready within ${spec.readyWithinMs} ms; see ${spec.logFile}`)
  if (spec.ready === 'message') {
    const [message] = await once(child, 'message', { signal: deadline }).catch(() => {
      throw late
    })
    return (message as { ready: string }).ready
  }
  while (!deadline.aborted) {
    const url = await spec.ready()
    if (url !== undefined) return url
    await new Promise((resolve) => {
      setTimeout(resolve, PROBE_EVERY_MS)
    })
  }
  throw late
}

async function end(child: ChildProcess, exited: Promise<void>, withinMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), withinMs)
  await exited
  clearTimeout(timer)
}
