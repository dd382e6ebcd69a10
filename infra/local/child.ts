import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { rememberChild } from './process-id.ts'

/** One process of the local system. */
export interface ChildSpec {
  readonly name: string
  /** Program and arguments; `nodeProgram` for our own services. */
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

/**
 * Of the C library, for programs that allocate in a few threads: by itself it keeps what each of them has ever freed apart,
 * 8 to 19 MB a process.
 */
const oneArena = { MALLOC_ARENA_MAX: '1' }

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Where our programs keep their sources as they were compiled: a process that need not strip types takes 22 MB and 0.2 s
 * of CPU less.
 */
const compiled = { NODE_COMPILE_CACHE: path.join(ROOT, 'node_modules/.cache/compile') }

/** What is written when all programs were compiled: sources that are newer are not. */
const COMPILED_AT = path.join(compiled.NODE_COMPILE_CACHE, 'complete')
const SOURCES = ['api', 'infra', 'processors', 'schemas', 'scripts']
const COMPILE_MS = 240_000

/**
 * Compiles our programs where a source has changed since it was last done, so that none of them has to while it runs: a
 * process that has stripped types once holds what it takes to for as long as it lives. `preload` is compiled with each.
 */
export async function compilePrograms(files: readonly string[], preload: string): Promise<void> {
  const compiledAt = statSync(COMPILED_AT, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (newestSource() < compiledAt) return
  mkdirSync(compiled.NODE_COMPILE_CACHE, { recursive: true })
  const begun = new Date()
  const compile = async (file: string): Promise<void> => {
    const [node, ...args] = nodeProgram(file)
    const options = { env: { ...process.env, ...compiled }, timeout: COMPILE_MS }
    await promisify(execFile)(node, ['--import', preload, ...args, '--help'], options) // written as it ends
  }
  await Promise.all(files.map(compile))
  writeFileSync(COMPILED_AT, begun.toISOString())
}

/** When the newest of our sources was written, milliseconds. */
function newestSource(): number {
  const written = SOURCES.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => statSync(path.join(ROOT, folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0),
  )
  return Math.max(...written)
}

/** Those that make much: through their hands every trade goes. */
const busy = /(?:processors|processors\/feeds|infra\/simulator)\/main\.ts$/
/** How much such a one may make before what it has dropped is collected; it takes up to three times as much. */
const YOUNG_MB = 2

/**
 * One of our own programs, to be started, whose heap grows by little between two collections. `--optimize-for-size` collects
 * at each megabyte, whatever else is said: 12 to 40 MB less of each program, and a tenth more CPU of one that makes much.
 */
export function nodeProgram(file: string): [string, ...string[]] {
  const young = [`--min-semi-space-size=${YOUNG_MB}`, `--max-semi-space-size=${YOUNG_MB}`]
  return [
    process.execPath,
    ...(busy.test(file) ? [...young, '--heap-growing-percent=20'] : ['--optimize-for-size']),
    file,
  ]
}

/** What stops each child that has not ended. */
const running = new Set<() => Promise<void>>()

/** Stops every child of this process, also those that are not ready yet: for a command that is told to end. */
export async function stopChildren(): Promise<void> {
  await Promise.all([...running].map((stop) => stop()))
}

/**
 * Starts a process and resolves when it is ready; rejects with the log file's name when it is not. It is cut when we
 * exit before it, and remembered in a `.pid` file beside its log for the case that we are killed.
 */
export async function startChild(spec: ChildSpec): Promise<Child> {
  const log = openSync(spec.logFile, 'a')
  const [program, ...args] = spec.command
  const stdio = spec.ready === 'message' ? (['ignore', log, log, 'ipc'] as const) : (['ignore', log, log] as const)
  // A process group of its own: Ctrl-C on the terminal reaches only us, and we stop the parts in their order.
  const options = {
    stdio: [...stdio],
    env: { ...compiled, ...oneArena, ...process.env, ...spec.env },
    cwd: spec.cwd,
    detached: true,
  }
  const child = spawn(program, args, options)
  closeSync(log)
  const orphan = (): void => void child.kill('SIGKILL')
  process.once('exit', orphan)
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  const forget = child.pid === undefined ? undefined : rememberChild(spec.logFile, spec.name, child.pid)
  const stop = (): Promise<void> => end(child, exited, spec.stopWithinMs)
  running.add(stop)
  const forgotten = (): void => {
    process.off('exit', orphan)
    running.delete(stop)
    forget?.()
  }
  void exited.then(forgotten)
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
