import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const POLL_EVERY_MS = 50
/** From SIGTERM to SIGKILL for a process that an earlier start left behind. */
const STALE_STOP_MS = 10_000
/** Niceness of a lowered share: a third of the weight that the others have. */
const NICENESS = 5

/** A process as a file remembers it: numbers are used again, so the start time belongs to it. */
export interface ProcessId {
  readonly name: string
  readonly pid: number
  readonly started: string
}

/** When the process began, as an opaque text; undefined where none of that number runs. */
function startOf(pid: number): string | undefined {
  if (!existsSync('/proc/self/stat')) return startByPs(pid)
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program's name may hold blanks and parentheses; the fields behind the last one are safe: state is the third.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined // no such process: reading its folder fails
  }
}

function startByPs(pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
  } catch {
    return undefined // ps ends with 1 where there is no such process
  }
}

export function identify(name: string, pid: number): ProcessId {
  return { name, pid, started: startOf(pid) ?? '' }
}

/** Whether exactly that process still runs. */
export function isRunning({ pid, started }: ProcessId): boolean {
  return started !== '' && startOf(pid) === started
}

/** The process in `file`; undefined where the file is absent or was cut short by a crash. */
export function readProcessId(file: string): ProcessId | undefined {
  try {
    const { name, pid, started } = JSON.parse(readFileSync(file, 'utf8')) as Partial<ProcessId>
    return name === undefined || pid === undefined || started === undefined ? undefined : { name, pid, started }
  } catch {
    return undefined
  }
}

/** Remembers a child beside its log, so that a later start finds it should we be killed. Returns how to forget it. */
export function rememberChild(logFile: string, name: string, pid: number): () => void {
  const file = logFile.replace(/(\.log)?$/, '.pid')
  writeFileSync(file, JSON.stringify(identify(name, pid)))
  return () => {
    if (readProcessId(file)?.pid === pid) rmSync(file, { force: true })
  }
}

/** Ends every remembered child of `folder` that still runs, and says which those were. */
export async function endLeftovers(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter((file) => file.endsWith('.pid'))
  const ended = await Promise.all(files.map((file) => endLeftover(path.join(folder, file))))
  return ended.flatMap((name) => name ?? [])
}

async function endLeftover(file: string): Promise<string | undefined> {
  const id = readProcessId(file)
  const alive = id !== undefined && isRunning(id)
  if (alive) await endProcess(id)
  rmSync(file, { force: true })
  return alive ? id.name : undefined
}

async function endProcess(id: ProcessId): Promise<void> {
  const deadline = performance.now() + STALE_STOP_MS
  signal(id, 'SIGTERM')
  while (isRunning(id) && performance.now() < deadline) await delay(POLL_EVERY_MS)
  signal(id, 'SIGKILL')
  while (isRunning(id)) await delay(POLL_EVERY_MS)
}

function signal(id: ProcessId, name: NodeJS.Signals): void {
  if (!isRunning(id)) return
  process.kill(id.pid, name)
}

/**
 * Lets a part of the local system have less of the cores than the others wherever there are too few for all: what it
 * does in bursts then delays nobody who has a trade in hand. A child is a session, and the kernel shares by sessions
 * before it looks at the niceness of processes; where it does not, or lets nobody write that, nothing changes.
 */
export function lowerCpuShare(pid: number, warn: (line: string) => void): void {
  const file = `/proc/${pid}/autogroup`
  if (!existsSync(file)) return
  try {
    writeFileSync(file, String(NICENESS))
  } catch (error) {
    warn(`keeps its full share of the cores: ${String(error)}`)
  }
}
