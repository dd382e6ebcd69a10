import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const LOOK_EVERY_MS = 5
const STOPPED_WITHIN_MS = 30_000

/**
 * Stops a process until it gets SIGCONT; resolves when none of its threads runs any more. The signal alone is not enough:
 * while the one thread that takes it waits for a core, the others go on. Where there is no /proc it is not looked.
 */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  const threads = `/proc/${pid}/task`
  if (!existsSync(threads)) return
  const deadline = Date.now() + STOPPED_WITHIN_MS
  while (!readdirSync(threads).every((thread) => isStopped(`${threads}/${thread}/stat`))) {
    if (Date.now() > deadline) throw new Error(`process ${pid} was not stopped within ${STOPPED_WITHIN_MS} ms`)
    await delay(LOOK_EVERY_MS)
  }
}

/** The state is the first word behind the program's name, which may hold anything. */
function isStopped(file: string): boolean {
  const stat = readFileSync(file, 'utf8')
  return /^\s*[Tt]/.test(stat.slice(stat.lastIndexOf(')') + 1))
}
