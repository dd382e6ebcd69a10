import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogRecord } from '../../kafka/seam.ts'
import { boundsOf, decodeBatches } from '../../kafka/wire/record-batch.ts'

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

/** Offsets that a partition had and has no more: `from` up to, not with, `to`. */
export interface Lost {
  readonly from: number
  readonly to: number
  /** Behind the last record that is left, as far as the segment tells: between it and `from` lies what nobody reads. */
  readonly behind: number
  /** What lay there, but for what nobody reads. */
  readonly records: readonly LogRecord[]
}

/**
 * Takes the last records of a partition (full topic name) off the data folder of a broker that does not run, as a power
 * cut does that comes before the disk has them: whole batches of its newest segment, at least `records` where it has
 * them. Undefined: there is nothing in it.
 */
export async function cutTail(
  dataDir: string,
  topic: string,
  partition: number,
  records: number,
): Promise<Lost | undefined> {
  const folder = join(dataDir, 'log', `${topic}-${partition}`)
  const segments = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort()
  const newest = segments.at(-1)
  if (newest === undefined) return undefined
  const file = await open(join(folder, newest), 'r+')
  try {
    const bytes = await file.readFile()
    const batches = boundsOf(bytes)
    const to = batches.at(-1)?.next
    if (to === undefined) return undefined
    const first = batches.find(({ next }) => next > to - records) ?? batches.at(-1)
    const { at, base: from } = first ?? { at: 0, base: to }
    const [left, lost]: [LogRecord[], LogRecord[]] = [[], []]
    decodeBatches(bytes.subarray(0, at), 0, left)
    decodeBatches(bytes.subarray(at), from, lost)
    const behind = (left.at(-1)?.offset ?? (batches[0]?.base ?? from) - 1) + 1
    await file.truncate(at)
    await file.sync()
    return { from, to, behind, records: lost }
  } finally {
    await file.close()
  }
}
